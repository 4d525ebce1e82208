//! Schedules: when requests are due and which of them may be sent now. Closed load has no schedule:
//! a free slot gets its next request at once. Open load has one: requests that are due wait for a
//! free slot, and their waiting is part of their response time, without which there would be
//! coordinated omission. The users of a scenario have think times.

pub(crate) mod arrivals;
pub(crate) mod users;

use std::collections::VecDeque;
use std::sync::Arc;

use bakeoff_model::load::ErrorClass;

use crate::shared::Allowance;
use crate::tally::{Failure, Tally};
use arrivals::{Due, ThreadArrivals};
use users::Users;

/// Maximum number of open-load requests that wait for a slot in one thread; more are dropped.
const WAITING_MAX: usize = 1 << 20;

/// Room for waiting requests that is allocated before the window.
const WAITING_RESERVED: usize = 1 << 14;

/// The position of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Within the running slice.
    InSlice,
    /// After the running slice, which must be ended at this time, monotonic ns.
    AfterSlice(u64),
    /// Outside any window.
    Outside,
}

/// The window of the running step.
#[derive(Debug)]
struct Window {
    start_ns: u64,
    end_ns: u64,
    /// When the slice ends, never after the window.
    slice_end_ns: u64,
    /// When the last request of closed load may be sent.
    send_until_ns: u64,
    /// The due times of open load.
    arrivals: Option<ThreadArrivals>,
    /// Whether the last slice has been emitted; responses no longer count.
    closed: bool,
}

/// The schedule of a thread.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// Requests that may still be sent in closed load, by all threads together.
    allowance: Arc<Allowance>,
    window: Option<Window>,
    /// Open-load requests that wait for a slot, with monotonic times.
    waiting: VecDeque<Due>,
    /// Which request was claimed last, if it is recorded.
    recorded: Option<u32>,
    /// Slots without a request in open load, longest idle first.
    free: VecDeque<usize>,
    /// Whether each slot is in that queue.
    is_free: Vec<bool>,
    /// The users of a scenario, one for each slot.
    pub(crate) users: Option<Users>,
}

impl Schedule {
    /// A schedule before the first step.
    pub(crate) fn new(allowance: Arc<Allowance>, users: Option<Users>) -> Self {
        Self {
            allowance,
            window: None,
            waiting: VecDeque::new(),
            recorded: None,
            free: VecDeque::new(),
            is_free: Vec::new(),
            users,
        }
    }

    /// Allocates memory for the window of a step with this many slots.
    pub(crate) fn reserve(&mut self, slots: usize, open_load: bool) {
        self.free.clear();
        self.free.reserve(slots);
        self.is_free.clear();
        self.is_free.resize(slots, false);
        self.waiting.clear();
        if open_load {
            self.waiting.reserve(WAITING_RESERVED);
        }
    }

    /// Opens the window from `start_ns` to `end_ns` (monotonic), with these arrivals if the load is
    /// open.
    pub(crate) fn open(&mut self, start_ns: u64, end_ns: u64, arrivals: Option<ThreadArrivals>) {
        self.window = Some(Window {
            start_ns,
            end_ns,
            slice_end_ns: start_ns,
            send_until_ns: u64::MAX,
            arrivals,
            closed: false,
        });
        self.recorded = None;
        self.is_free.fill(false);
        self.free.clear();
    }

    /// Allows requests of closed load until then, monotonic ns.
    pub(crate) fn send_until(&mut self, until_ns: u64) {
        if let Some(window) = &mut self.window {
            window.send_until_ns = until_ns;
        }
    }

    /// Starts a slice; `length_ns` 0 = to the end of the window.
    pub(crate) fn begin_slice(&mut self, start_ns: u64, length_ns: u64) {
        let length_ns = match length_ns {
            0 => u64::MAX,
            length_ns => length_ns,
        };
        if let Some(window) = &mut self.window {
            window.slice_end_ns = start_ns.saturating_add(length_ns).min(window.end_ns);
        }
    }

    /// Returns the position of `now`.
    #[inline]
    pub(crate) fn position(&self, now: u64) -> Position {
        match &self.window {
            None => Position::Outside,
            Some(window) if window.closed => Position::Outside,
            Some(window) if now < window.slice_end_ns => Position::InSlice,
            Some(window) => Position::AfterSlice(window.slice_end_ns),
        }
    }

    /// Whether the window ends with the running slice.
    pub(crate) fn is_last_slice(&self) -> bool {
        let window = self.window.as_ref();
        window.is_none_or(|window| window.slice_end_ns >= window.end_ns)
    }

    /// Whether requests are due by a schedule.
    #[inline]
    pub(crate) fn is_open_load(&self) -> bool {
        let window = self.window.as_ref();
        window.is_some_and(|window| window.arrivals.is_some())
    }

    /// Whether response times are counted besides service times.
    #[inline]
    pub(crate) fn has_intended_times(&self) -> bool {
        self.users.is_some() || self.is_open_load()
    }

    /// Takes one of the requests that may still be sent in closed load; `false` if there is none.
    pub(crate) fn take_request(&mut self) -> bool {
        let window = self.window.as_ref();
        window.is_some_and(|window| !window.closed) && self.allowance.take()
    }

    /// Whether there is nothing left to send at `now`. Arrivals last until the request after the
    /// last one would have been due: otherwise their rate would be too high.
    fn is_spent(&self, now: u64) -> bool {
        if self.is_open_load() {
            self.arrivals_end_ns().is_some_and(|end_ns| now >= end_ns)
        } else {
            self.allowance.is_spent()
        }
    }

    /// Returns when arrivals with nothing left are over, monotonic ns.
    fn arrivals_end_ns(&self) -> Option<u64> {
        let window = self.window.as_ref()?;
        Some(window.start_ns + window.arrivals.as_ref()?.over_ns()?)
    }

    /// Whether nothing is left to send and nothing waits.
    pub(crate) fn is_done(&self, now: u64) -> bool {
        let all_gone = self.users.as_ref().is_some_and(Users::all_gone);
        (self.is_spent(now) || all_gone) && self.waiting.is_empty()
    }

    /// Returns when the slice, or the remaining arrivals, end after `now`.
    pub(crate) fn next_end_ns(&self, now: u64) -> u64 {
        let slice_end_ns = self.window.as_ref().map_or(now, |one| one.slice_end_ns);
        let over_ns = self.arrivals_end_ns().filter(|over_ns| *over_ns > now);
        slice_end_ns.min(over_ns.unwrap_or(u64::MAX))
    }

    /// Returns the due time of the request that the slot with this index sends at `now`; `None` if
    /// none may be sent. In open load, a slot without a request is noted as free. A response freed
    /// the slot at `freed_ns`, monotonic; 0 if none did.
    #[inline]
    pub(crate) fn claim(
        &mut self,
        index: usize,
        (now, freed_ns): (u64, u64),
        tally: &mut Tally,
    ) -> Option<u64> {
        let window = self.window.as_ref().filter(|window| !window.closed)?;
        if window.arrivals.is_some() {
            return self.claim_waiting(index, (now, freed_ns), tally);
        }
        if now >= window.send_until_ns {
            return None;
        }
        match &mut self.users {
            None => self.allowance.take().then_some(now),
            Some(users) => {
                let intended_ns = users.claim(index, &self.allowance)?;
                tally.send_lag.record(now.saturating_sub(intended_ns));
                Some(intended_ns)
            }
        }
    }

    fn claim_waiting(
        &mut self,
        index: usize,
        (now, freed_ns): (u64, u64),
        tally: &mut Tally,
    ) -> Option<u64> {
        // A long batch of events may have passed since the arrivals were last checked.
        self.collect_due(now, tally);
        if let Some(due) = self.waiting.pop_front() {
            // While all connections are in use the service is late, and not the load generator.
            tally
                .send_lag
                .record(now.saturating_sub(due.at_ns.max(freed_ns)));
            self.recorded = due.request;
            return Some(due.at_ns);
        }
        if !std::mem::replace(&mut self.is_free[index], true) {
            self.free.push_back(index);
        }
        None
    }

    /// Returns the slot that has been free for the longest in open load, if a request waits.
    pub(crate) fn take_free(&mut self) -> Option<usize> {
        if self.waiting.is_empty() {
            return None;
        }
        let index = self.free.pop_front()?;
        self.is_free[index] = false;
        Some(index)
    }

    /// Returns which request was claimed last; `None` if it is the next one of its slot.
    #[inline]
    pub(crate) fn recorded(&self) -> Option<usize> {
        self.recorded.map(|request| request as usize)
    }

    /// Returns the open-load request that has waited the longest.
    pub(crate) fn take_waiting(&mut self) -> Option<Due> {
        self.waiting.pop_front()
    }

    /// Moves open-load requests that are due at `until_ns` (monotonic) to the waiting ones.
    pub(crate) fn collect_due(&mut self, until_ns: u64, tally: &mut Tally) {
        let Some(window) = &mut self.window else {
            return;
        };
        let Some(arrivals) = &mut window.arrivals else {
            return;
        };
        while let Some(due) = arrivals.due() {
            let at_ns = window.start_ns + due.at_ns;
            if at_ns > until_ns {
                return;
            }
            arrivals.advance();
            tally.offered += 1;
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(Due { at_ns, ..due });
            } else {
                tally.fail(&dropped(
                    0,
                    "more requests waited for a connection than are remembered",
                ));
            }
        }
    }

    /// Drops open-load requests that have waited longer than a response may take.
    pub(crate) fn drop_overdue(&mut self, now: u64, bound_ns: u64, tally: &mut Tally) {
        while let Some(due) = self.waiting.front() {
            let waited_ns = now.saturating_sub(due.at_ns);
            if waited_ns <= bound_ns {
                return;
            }
            self.waiting.pop_front();
            tally.fail(&dropped(
                waited_ns,
                "no connection became free within the response timeout",
            ));
        }
    }

    /// Returns when the next open-load request is due, monotonic ns.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        let window = self.window.as_ref()?;
        Some(window.start_ns + window.arrivals.as_ref()?.due()?.at_ns)
    }

    /// Ends the window: waiting requests become censored samples.
    pub(crate) fn close(&mut self, end_ns: u64, tally: &mut Tally) {
        // After the last request of a bounded step nothing waits, and arrivals count themselves.
        let waits = !self.is_open_load() && !self.is_spent(end_ns);
        if let Some(users) = self.users.as_ref().filter(|_| waits) {
            for age_ns in users.ready_ns(end_ns) {
                tally.censored.record(age_ns);
            }
        }
        for due in self.waiting.drain(..) {
            tally.censored.record(end_ns.saturating_sub(due.at_ns));
        }
        if let Some(window) = &mut self.window {
            window.closed = true;
        }
    }

    /// Ends the step.
    pub(crate) fn end(&mut self) {
        self.window = None;
        self.waiting.clear();
    }

    /// Returns the request for which the user of this slot wants a connection in this window.
    pub(crate) fn wanted(&self, index: usize) -> Option<usize> {
        let window = self.window.as_ref().filter(|window| !window.closed);
        window.and(self.users.as_ref())?.ready_request(index)
    }
}

/// Returns the failure of an open-load request that is never sent.
fn dropped(waited_ns: u64, message: &str) -> Failure<'_> {
    Failure {
        class: ErrorClass::Dropped,
        message,
        request: None,
        age_ns: waited_ns,
        response_ns: waited_ns,
    }
}
