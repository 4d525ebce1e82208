//! The measured window of a step: sending by the pace, slicing by the clock.
//!
//! There is one loop for every pace. Closed load has no schedule: a free connection gets its next
//! request at once. Open load has one: requests that are due wait for a free connection.

use std::cmp::Reverse;
use std::sync::Arc;

use bakeoff_model::load::{CpuTime, ErrorClass, LoadSpec, MinMax, Pace};
use rustix::io::Errno;

use super::users::Users;
use super::{Report, WAIT_NS_MAX, Worker, parts_of};
use crate::clock::{cpu_between, now_ns, thread_cpu};
use crate::connection::State;
use crate::link::{Stage, Wire};
use crate::pace::{Schedule, Share};
use crate::reactor::{Payload, Reactor};
use crate::received::Keep;
use crate::shared::Allowance;
use crate::tally::Tally;

/// Requests of open load that may wait for a connection in one thread; more are dropped.
const WAITING_MAX: usize = 1 << 20;

/// Room for waiting requests that is allocated before the window.
pub(super) const WAITING_RESERVED: usize = 1 << 14;

/// Time before a send during which the thread polls instead of sleeping, ns: waking up takes the
/// kernel longer than this is worth.
const SPIN_NS: u64 = 30_000;

/// The window of the running step.
#[derive(Debug)]
pub(super) struct Window {
    start_ns: u64,
    end_ns: u64,
    /// When the slice ends, never after the window.
    slice_end_ns: u64,
    /// The schedule of open load.
    share: Option<Share>,
    /// Closed load: requests that may still be begun, by all threads together.
    allowance: Arc<Allowance>,
    /// The last slice has been handed over; answers no longer count.
    closed: bool,
    /// Readings at the start of the slice.
    cpu: CpuTime,
    sent_bytes: u64,
}

impl Window {
    /// Whether the step has a schedule.
    pub(super) fn is_open_load(spec: &LoadSpec, step: usize) -> bool {
        !matches!(spec.steps[step].pace, Pace::Closed | Pace::Users { .. })
    }

    /// Whether there is a schedule of requests.
    pub(super) fn is_scheduled(&self) -> bool {
        self.share.is_some()
    }

    /// Takes one of the requests that may still be begun; `false` when there is none.
    pub(super) fn take_request(&mut self) -> bool {
        !self.closed && self.allowance.take()
    }

    /// Whether there is nothing left to begin at `now`. A schedule lasts until the request after
    /// its last one would have been due: otherwise its rate would be too high.
    fn is_spent(&self, now: u64) -> bool {
        match &self.share {
            Some(_) => self.schedule_end_ns().is_some_and(|end_ns| now >= end_ns),
            None => self.allowance.is_spent(),
        }
    }

    /// When a schedule of which nothing is left is over, monotonic ns.
    fn schedule_end_ns(&self) -> Option<u64> {
        Some(self.start_ns + self.share.as_ref()?.over_ns()?)
    }
}

impl<R: Reactor> Worker<'_, R> {
    /// Runs the window of a prepared step from `start_ns` on.
    pub(super) fn run_window(&mut self, step: usize, start_ns: u64) -> Result<(), Errno> {
        loop {
            let now = now_ns();
            if now >= start_ns {
                break;
            }
            self.turn((start_ns - now).min(WAIT_NS_MAX))?;
        }
        self.open_window(step, start_ns);
        loop {
            let now = now_ns();
            if !self.in_window(now) {
                break;
            }
            let window = self
                .window
                .as_ref()
                .expect("in_window says that there is one");
            let all_gone = self.users.as_ref().is_some_and(Users::all_gone);
            let done =
                (window.is_spent(now) || all_gone) && self.busy == 0 && self.waiting.is_empty();
            if done || self.lines.stop.is_stopped() {
                self.close_window(now);
                break;
            }
            let over_ns = window.schedule_end_ns().filter(|over_ns| *over_ns > now);
            let until_ns = window.slice_end_ns.min(over_ns.unwrap_or(u64::MAX));
            let until_ns = self.release(now).map_or(until_ns, |due| due.min(until_ns));
            let sleep_ns = until_ns.saturating_sub(now_ns());
            self.turn(if sleep_ns > SPIN_NS {
                sleep_ns - SPIN_NS / 2
            } else {
                0
            })?;
        }
        self.window = None;
        self.waiting.clear();
        Ok(())
    }

    /// Begins the first slice and the first requests.
    fn open_window(&mut self, step: usize, start_ns: u64) {
        let order = &self.spec.steps[step];
        let connections = order.connections as usize;
        let (thread, threads) = (self.place.thread as u64, self.place.threads as u64);
        let seed = self.spec.seed.wrapping_add(step as u64);
        let schedule = Schedule::new(order.pace, order.duration_ns, order.requests_max, seed);
        let end_ns = start_ns + order.duration_ns;
        let window = Window {
            start_ns,
            end_ns,
            slice_end_ns: start_ns,
            share: schedule.map(|s| Share::new(s, connections as u64, threads, thread)),
            allowance: self.lines.allowance.clone(),
            closed: false,
            cpu: thread_cpu(),
            sent_bytes: self.reactor.sent_bytes(),
        };
        self.window = Some(window);
        self.tally.clear();
        self.begin_slice(0, start_ns);
        self.users_arrive(step, start_ns);
        self.retries.clear();
        for connection in &mut self.connections {
            connection.answers = 0;
            connection.came_ns = 0;
            connection.queued = false;
        }
        for slot in 0..self.links.len() {
            self.links[slot].failures = 0;
            match self.links[slot].stage {
                Stage::Open => self.give_work_to_all(slot),
                Stage::Down => self.retries.push(Reverse((start_ns, slot * self.width))),
                _ => {}
            }
        }
    }

    /// Sets up the tally for the slice that begins now.
    fn begin_slice(&mut self, slice: u32, start_ns: u64) {
        let length_ns = match self.spec.slice_ns {
            0 => u64::MAX,
            length_ns => length_ns,
        };
        let Some(window) = &mut self.window else {
            return;
        };
        window.slice_end_ns = start_ns.saturating_add(length_ns).min(window.end_ns);
        self.tally.slice = slice;
        self.tally.start_ns = start_ns;
        self.tally.established = self.open;
        self.tally.in_flight_max = self.in_flight_max();
    }

    /// Requests that the established links may have in flight together.
    pub(super) fn in_flight_max(&self) -> u32 {
        let open = self.links.iter().filter(|link| link.is_up());
        let width = u32::try_from(self.width).unwrap_or(u32::MAX);
        open.map(|link| link.wire.streams().unwrap_or(width)).sum()
    }

    /// Whether the window is open at `now`; ends the slices that are over.
    #[inline]
    pub(super) fn in_window(&mut self, now: u64) -> bool {
        match &self.window {
            None => false,
            Some(window) if now < window.slice_end_ns => !window.closed,
            Some(window) if window.closed => false,
            Some(_) => self.end_slices(now),
        }
    }

    /// Ends all slices that are over at `now`; `false` when the window is over too.
    fn end_slices(&mut self, now: u64) -> bool {
        while let Some(window) = &self.window {
            let (end_ns, window_end_ns) = (window.slice_end_ns, window.end_ns);
            if now < end_ns {
                return true;
            }
            // Requests that were due in this slice belong to it even when nobody looked in time.
            self.collect_due(end_ns.saturating_sub(1));
            if end_ns >= window_end_ns {
                self.close_window(end_ns);
                return false;
            }
            let slice = self.tally.slice;
            self.hand_over(end_ns, false);
            self.begin_slice(slice + 1, end_ns);
        }
        false
    }

    /// Ends the window: what is in flight or still waits becomes a censored sample.
    fn close_window(&mut self, end_ns: u64) {
        for connection in &self.connections {
            // Of a message that carries its own time it is not known whether it was sent.
            if connection.state == State::Busy && self.stamp.is_none() {
                let age_ns = end_ns.saturating_sub(connection.intended_ns);
                self.tally.censored.record(age_ns);
            }
        }
        // Behind the last request of a bounded step nobody waits, and a schedule counts itself.
        let waits = |window: &Window| !window.is_scheduled() && !window.is_spent(end_ns);
        let waits = self.window.as_ref().is_some_and(waits);
        for users in self.users.iter().filter(|_| waits) {
            for age_ns in users.wanting_ns(end_ns) {
                self.tally.censored.record(age_ns);
            }
        }
        for due_ns in self.waiting.drain(..) {
            self.tally.censored.record(end_ns.saturating_sub(due_ns));
        }
        let links = || self.connections.chunks(self.width);
        let answers = || links().map(|link| link.iter().map(|c| c.answers).sum::<u64>());
        let range = answers().min().zip(answers().max());
        if let Some(window) = &mut self.window {
            window.closed = true;
            if window.share.is_none() {
                self.tally.per_connection = range.map(|(min, max)| MinMax { min, max });
            }
        }
        self.hand_over(end_ns, true);
    }

    /// Gives the tally to the conductor and takes an empty one.
    fn hand_over(&mut self, end_ns: u64, last: bool) {
        let Some(window) = &mut self.window else {
            return;
        };
        let (cpu, sent_bytes) = (thread_cpu(), self.reactor.sent_bytes());
        self.tally.cpu = cpu_between(window.cpu, cpu);
        self.tally.sent_bytes = sent_bytes - window.sent_bytes;
        (window.cpu, window.sent_bytes) = (cpu, sent_bytes);
        self.tally.end_ns = end_ns;
        self.tally.last = last;
        // The conductor lays out more spares than it keeps tallies; should it fall behind, one
        // allocation is better than a lost slice.
        let spare = self
            .lines
            .spares
            .try_recv()
            .unwrap_or_else(|_| Tally::boxed(parts_of(self.spec)));
        let tally = std::mem::replace(&mut self.tally, spare);
        self.report(Report::Slice(tally));
    }

    /// Gives each free connection of a link a request when there is one to send.
    pub(super) fn give_work_to_all(&mut self, slot: usize) {
        for index in self.connections_of(slot) {
            if self.connections[index].state == State::Idle {
                self.give_work(index, now_ns());
            }
        }
    }

    /// A free connection: gives it a request when there is one to send.
    #[inline]
    pub(super) fn give_work(&mut self, index: usize, now: u64) {
        let (slot, _) = self.link_of(index);
        let Some(window) = &mut self.window else {
            return;
        };
        let link = &mut self.links[slot];
        if window.closed || link.stage != Stage::Open || !link.wire.has_room() {
            return;
        }
        if self.users.is_some() && !window.is_scheduled() {
            self.user_turn(index, now);
            return;
        }
        if window.share.is_none() {
            if window.take_request() {
                self.start(index, now, now);
            }
            return;
        }
        // Between two looks at the schedule there may have been a long batch of events.
        self.collect_due(now);
        if let Some(due_ns) = self.waiting.pop_front() {
            self.tally.send_lag.record(now.saturating_sub(due_ns));
            self.start(index, due_ns, now);
        } else if !self.connections[index].queued {
            self.connections[index].queued = true;
            self.free.push_back(index);
        }
    }

    /// A request has come to its end, or the pause after it: another one may be sent. Where the
    /// service allows fewer at a time than there are connections, those that wait have their turn
    /// first. One request goes out at most, so that the pauses after failures remain.
    #[inline]
    pub(super) fn pass_on(&mut self, index: usize, now: u64) {
        let (slot, place) = self.link_of(index);
        if self.links[slot].wire.has_refused() {
            self.pass_around(slot, place, now);
        } else if self.connections[index].state == State::Idle {
            self.give_work(index, now);
        }
    }

    /// Gives a request to the first connection of a link, after the one at `place`, that has one
    /// to send.
    fn pass_around(&mut self, slot: usize, place: usize, now: u64) {
        if !self.links[slot].wire.has_room() {
            return;
        }
        let (busy, first) = (self.busy, slot * self.width);
        for step in 1..=self.width {
            let index = first + (place + step) % self.width;
            if self.connections[index].state == State::Idle {
                self.give_work(index, now);
            }
            if self.busy > busy {
                return;
            }
        }
        self.links[slot].wire.forget_refused();
    }

    /// Sends the next request of a free connection.
    #[inline]
    pub(super) fn start(&mut self, index: usize, intended_ns: u64, now: u64) {
        let sampled = self.next_is_sampled();
        let (slot, place) = self.link_of(index);
        let connection = &mut self.connections[index];
        let (asked, mut keep) = match &self.users {
            None => (self.requests.index_at(connection.turn), Keep::Nothing),
            Some(users) => users.request_of(index),
        };
        connection.request = asked;
        let request = self.requests.get(asked);
        connection.turn += 1;
        connection.state = State::Busy;
        connection.since_ns = now;
        connection.intended_ns = intended_ns;
        if connection.came_ns > 0 {
            self.tally.turnaround_ns += now.saturating_sub(connection.came_ns);
            connection.came_ns = 0;
        }
        self.busy += 1;
        if sampled && request.expect.is_some() {
            keep = Keep::All;
        }
        let link = &mut self.links[slot];
        let rendered = self.users.as_ref().map(|users| users.render(index));
        let asked = match &rendered {
            None => request.asked(),
            Some(rendered) => rendered.asked(request),
        };
        link.used = true;
        link.wire.begin(place, asked, keep);
        let payload = match rendered {
            None => Payload::Shared(request.bytes.clone()),
            Some(rendered) => Payload::Owned(rendered.bytes),
        };
        match (&link.wire, &mut link.session) {
            (Wire::Http1(_), None) => self.reactor.send(slot, payload),
            (Wire::Http1(_), Some(session)) => {
                session.write(payload.bytes());
                let payload = Payload::Owned(session.output());
                self.reactor.send(slot, payload);
            }
            _ if self.in_hand == Some(slot) => {}
            _ => self.flush(slot),
        }
    }

    /// Counts a right answer.
    #[inline]
    pub(super) fn count_answer(&mut self, request: usize, service_ns: u64, response_ns: u64) {
        self.tally.requests += 1;
        self.tally.service_time.record(service_ns);
        let scheduled = |window: &Window| window.share.is_some();
        let mut time_ns = service_ns;
        if self.users.is_some() || self.window.as_ref().is_some_and(scheduled) {
            self.tally.response_time.record(response_ns);
            time_ns = response_ns;
        }
        if let Some(part) = self.tally.by_request.get_mut(request) {
            part.requests += 1;
            part.times.record(time_ns);
        }
    }

    /// Open load: moves what is due at `until_ns` (monotonic) to the waiting requests.
    fn collect_due(&mut self, until_ns: u64) {
        let Some(window) = &mut self.window else {
            return;
        };
        let Some(share) = &mut window.share else {
            return;
        };
        while let Some(due_ns) = share.due_ns() {
            let due_ns = window.start_ns + due_ns;
            if due_ns > until_ns {
                return;
            }
            share.advance();
            self.tally.offered += 1;
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(due_ns);
            } else {
                let example = || format!("{WAITING_MAX} requests waited for a connection");
                self.tally.fail(ErrorClass::Dropped, 0, example);
            }
        }
    }

    /// Open load: sends what is due to free connections, drops what waited longer than an answer
    /// may take, and returns when the next request is due.
    fn release(&mut self, now: u64) -> Option<u64> {
        let scheduled = self.window.as_ref().is_some_and(Window::is_scheduled);
        if self.users.is_some() && !scheduled {
            return self.wake_users(now);
        }
        self.window.as_ref()?.share.as_ref()?;
        self.collect_due(now);
        let bound_ns = self.spec.timeout_answer_ns;
        while let Some(&due_ns) = self.waiting.front() {
            let waited_ns = now.saturating_sub(due_ns);
            if waited_ns <= bound_ns {
                break;
            }
            self.waiting.pop_front();
            let example = || "no connection became free within the answer timeout".to_owned();
            self.tally.fail(ErrorClass::Dropped, waited_ns, example);
        }
        while !self.waiting.is_empty() {
            let Some(index) = self.free.pop_front() else {
                break;
            };
            let connection = &mut self.connections[index];
            connection.queued = false;
            if connection.state == State::Idle {
                self.give_work(index, now_ns());
            }
        }
        let window = self.window.as_ref()?;
        let due_ns = window.share.as_ref()?.due_ns()?;
        Some(window.start_ns + due_ns)
    }
}
