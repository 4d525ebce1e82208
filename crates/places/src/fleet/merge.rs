//! The events of several load generators as those of one. Pure: the caller brings the events
//! and names those that are lost.
//!
//! Load generators go through the steps in lock step, and slices of the same index are added up. A
//! slice goes out as soon as every load generator that lives has delivered it, so what is held is
//! the slices by which the slowest of them is behind the fastest, whatever their number.

use std::collections::{BTreeSet, VecDeque};

use bakeoff_model::load::{
    ClockOffset, Connections, FleetReceipt, LoadEvent, LoadInterval, LoadPart, LoadSpec,
};

use crate::fleet::part::{Barrier, Began, FleetMember, MemberStage};
use crate::fleet::slice;

/// The message about load generators that do what they should not.
const DISORDER: &str = "its events are out of order";

/// Ends of the names of reactors whose times the kernel takes.
const RX_TIMESTAMPS: &str = "-rx-timestamps";

/// How far the fleet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Some are not ready.
    Opening,
    /// The windows of a step are open, or will be.
    Step,
    /// The step is over.
    Between,
    /// Nothing follows.
    Over,
}

/// A slice of which not every load generator has delivered its own yet.
#[derive(Debug)]
struct Pending {
    sum: LoadInterval,
    /// When the first of them started it, monotonic ns of the session.
    begin_ns: u64,
    /// How long after the start of the step that was, ns, of each by its own clock.
    offset_ns: u64,
    /// How long the longest is, ns.
    length_ns: u64,
}

/// Several streams of events on their way to be one.
#[derive(Debug)]
pub struct Merge {
    spec: LoadSpec,
    members: Vec<FleetMember>,
    phase: Phase,
    step: usize,
    /// The reactors of the load generators, reported when they were ready.
    reactors: BTreeSet<String>,
    nofile: u64,
    streams: Option<u32>,
    /// Why a member could open no connection.
    failure: Option<String>,
    barrier: Option<Barrier>,
    /// The caller has given the instant and has not got the report of the actual one yet.
    announce: bool,
    /// Slices from the earliest that has not gone out.
    pending: VecDeque<Pending>,
    /// Slices of the step that have gone out.
    emitted: u32,
    /// When the step started, monotonic ns of the session.
    begin_ns: u64,
    ready: VecDeque<LoadEvent>,
}

impl Merge {
    /// The merge of a load that these load generators make, in the order of their parts: the name
    /// of each, and its clock if that is not the session's.
    #[must_use]
    pub fn new(spec: &LoadSpec, members: Vec<(String, Option<ClockOffset>)>) -> Self {
        let members = members.into_iter();
        Self {
            spec: spec.clone(),
            members: members
                .map(|(name, clock)| FleetMember::new(name, clock))
                .collect(),
            phase: Phase::Opening,
            step: 0,
            reactors: BTreeSet::new(),
            nofile: u64::MAX,
            streams: None,
            failure: None,
            barrier: None,
            announce: false,
            pending: VecDeque::new(),
            emitted: 0,
            begin_ns: 0,
            ready: VecDeque::new(),
        }
    }

    /// The next event of the whole load, as far as there is one.
    pub fn next_event(&mut self) -> Option<LoadEvent> {
        self.ready.pop_front()
    }

    /// Whether the last event has been made.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// Whether the last step is over, so that none waits for a command to go on.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.step + 1 >= self.spec.steps.len()
    }

    /// Whether all wait for the window of their step to be opened.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let ready = |one: &FleetMember| !one.lives() || one.stage == MemberStage::Ready;
        self.phase == Phase::Step && self.members.iter().all(ready)
    }

    /// Whether this load generator is not lost.
    #[must_use]
    pub fn lives(&self, part: usize) -> bool {
        self.members.get(part).is_some_and(FleetMember::lives)
    }

    /// Whether this load generator has something to report before it gets the command to go on.
    #[must_use]
    pub fn awaits(&self, part: usize) -> bool {
        let waits = |one: &FleetMember| {
            matches!(
                one.stage,
                MemberStage::Ready | MemberStage::StepDone | MemberStage::Ended
            )
        };
        self.members
            .get(part)
            .is_some_and(|one| one.lives() && !waits(one))
    }

    /// Whether this load generator's window is open, or will be.
    #[must_use]
    pub fn is_running(&self, part: usize) -> bool {
        let member = self.members.get(part);
        member.is_some_and(|one| one.stage == MemberStage::Running)
    }

    /// All get the command to go on: from step to step, or to open their windows.
    pub fn go(&mut self) {
        for member in &mut self.members {
            member.stage = match member.stage {
                MemberStage::Ready => MemberStage::Running,
                MemberStage::StepDone => MemberStage::Opening,
                other => other,
            };
        }
    }

    /// All get the command to open their windows at an instant of the session's wall clock, ns
    /// since the Unix epoch, which is `ahead_ns` ahead of its monotonic one; `announce`: the caller
    /// wants the actual instant reported.
    pub fn go_at(&mut self, unix_ns: u64, ahead_ns: u64, announce: bool) {
        self.barrier = Some(Barrier { unix_ns, ahead_ns });
        self.announce = announce;
        self.go();
    }

    /// A load generator is lost; what it delivered stays counted. `why` is a lower-case fragment.
    pub fn lose(&mut self, part: usize, why: &str) {
        if let Some(member) = self.members.get_mut(part).filter(|one| one.lives()) {
            member.lost = Some(why.to_owned());
        }
        self.advance();
    }

    /// Takes an event of a load generator; one that should not come now makes it a lost one.
    pub fn take(&mut self, part: usize, event: LoadEvent) {
        let Some(member) = self.members.get(part).filter(|one| one.lives()) else {
            return;
        };
        let stage = member.stage;
        match (event, stage) {
            (LoadEvent::Failed { message }, _) => return self.lose(part, &message),
            (event @ LoadEvent::Ready { .. }, MemberStage::Opening) => self.take_ready(part, event),
            (
                LoadEvent::Began {
                    at_ns,
                    unix_ns,
                    late_ns,
                    ..
                },
                MemberStage::Running,
            ) => {
                let said = Began {
                    unix_ns,
                    at_ns,
                    late_ns,
                };
                if let Some(barrier) = self.barrier {
                    self.members[part].begin(said, barrier);
                }
            }
            (LoadEvent::Interval(interval), MemberStage::Running) => {
                if !self.take_slice(part, *interval) {
                    return self.lose(part, DISORDER);
                }
            }
            (LoadEvent::StepDone { step, .. }, MemberStage::Running) if step == self.step => {
                let is_last = step + 1 == self.spec.steps.len();
                self.members[part].stage = match is_last {
                    true => MemberStage::Ending,
                    false => MemberStage::StepDone,
                };
            }
            (LoadEvent::Done, MemberStage::Ending) => self.members[part].stage = MemberStage::Ended,
            (LoadEvent::Done, _) => return self.lose(part, "it ended before its load did"),
            _ => return self.lose(part, DISORDER),
        }
        self.advance();
    }

    fn take_ready(&mut self, part: usize, event: LoadEvent) {
        let LoadEvent::Ready {
            step,
            connections,
            reactor,
            nofile,
            streams,
            failure,
            ..
        } = event
        else {
            return;
        };
        // The first says which step it is: the one after the last, or that one again.
        if self.phase != Phase::Opening
            || self
                .members
                .iter()
                .all(|one| one.stage != MemberStage::Ready)
        {
            self.begin_step(step);
        }
        if step != self.step {
            return self.lose(part, DISORDER);
        }
        self.reactors.insert(reactor);
        self.nofile = self.nofile.min(nofile);
        self.failure = failure.or(self.failure.take());
        if streams > 0 {
            self.streams = Some(self.streams.map_or(streams, |fewest| fewest.min(streams)));
        }
        let member = &mut self.members[part];
        member.connections = connections;
        member.stage = MemberStage::Ready;
    }

    fn begin_step(&mut self, step: usize) {
        self.phase = Phase::Opening;
        self.step = step;
        self.emitted = 0;
        self.pending.clear();
        self.barrier = None;
        for member in &mut self.members {
            member.begin_step();
        }
    }

    /// Adds a slice to those of the same index; `false` when it is not the next one.
    fn take_slice(&mut self, part: usize, interval: LoadInterval) -> bool {
        let member = &mut self.members[part];
        let is_next = interval.slice == member.receipt.slices && interval.step == self.step;
        let Some(at) = interval.slice.checked_sub(self.emitted).filter(|_| is_next) else {
            return false;
        };
        member.count(&interval);
        let offset_ns = interval.start_ns - member.first_ns.unwrap_or(interval.start_ns);
        let begin_ns = interval.start_ns.saturating_add_signed(member.shift_ns);
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        match self.pending.get_mut(at as usize) {
            Some(pending) => {
                pending.begin_ns = pending.begin_ns.min(begin_ns);
                pending.offset_ns = pending.offset_ns.min(offset_ns);
                pending.length_ns = pending.length_ns.max(length_ns);
                slice::add(&mut pending.sum, interval);
            }
            None => self.pending.push_back(Pending {
                sum: interval,
                begin_ns,
                offset_ns,
                length_ns,
            }),
        }
        true
    }

    /// Makes the events for which nothing is missing any more.
    fn advance(&mut self) {
        if self.phase != Phase::Over && !self.members.iter().any(FleetMember::lives) {
            return self.give_up();
        }
        if self.phase == Phase::Opening && self.all(|one| one.stage == MemberStage::Ready) {
            self.phase = Phase::Step;
            self.make_ready();
        }
        if self.phase == Phase::Step {
            self.advance_step();
        }
        if self.phase == Phase::Between && self.all(|one| one.stage == MemberStage::Ended) {
            self.phase = Phase::Over;
            self.ready.push_back(LoadEvent::Done);
        }
    }

    /// Whether this holds for all that live.
    fn all(&self, holds: impl Fn(&FleetMember) -> bool) -> bool {
        self.members.iter().filter(|one| one.lives()).all(holds)
    }

    fn advance_step(&mut self) {
        let last = self.members.iter().filter_map(|one| one.began).max();
        if let Some(last) = last.filter(|_| self.announce && self.all(|one| one.began.is_some())) {
            self.announce = false;
            self.ready.push_back(LoadEvent::Began {
                step: self.step,
                at_ns: last.at_ns,
                unix_ns: last.unix_ns,
                late_ns: last.late_ns,
            });
        }
        let delivered =
            |one: &FleetMember, slice: u32| one.is_through() || one.receipt.slices > slice;
        while !self.pending.is_empty() && self.all(|one| delivered(one, self.emitted)) {
            self.make_slice();
        }
        if self.all(FleetMember::is_through) {
            self.phase = Phase::Between;
            self.make_step_done();
        }
    }

    /// Ends the load when no load generator is left: the delivered slices go out, and then the
    /// reason.
    fn give_up(&mut self) {
        while !self.pending.is_empty() {
            self.make_slice();
        }
        self.phase = Phase::Over;
        let reasons = self.members.iter().filter_map(|one| {
            let why = one.lost.as_deref()?;
            Some(format!("{}: {why}", one.name))
        });
        let first = reasons.take(3).collect::<Vec<_>>().join("; ");
        let message = match self.members.len() {
            1 => first,
            all => format!("all {all} load generators are lost: {first}"),
        };
        self.ready.push_back(LoadEvent::Failed { message });
    }

    fn make_ready(&mut self) {
        let mut connections = Connections {
            asked: self.connections_of(LoadPart::WHOLE),
            ..Connections::default()
        };
        for member in self.members.iter().filter(|one| one.lives()) {
            connections.established += member.connections.established;
            connections.on_arrival |= member.connections.on_arrival;
            connections.in_flight_max += member.connections.in_flight_max;
        }
        // Times are the kernel's if all take them from it: the end of the name says so.
        let mut reactors: Vec<String> = self.reactors.iter().cloned().collect();
        reactors.sort_by_key(|name| !name.ends_with(RX_TIMESTAMPS));
        self.ready.push_back(LoadEvent::Ready {
            step: self.step,
            connections,
            further: Vec::new(),
            reactor: reactors.join(", "),
            nofile: self.nofile,
            streams: self.streams.unwrap_or(0),
            failure: self.failure.take().filter(|_| connections.established == 0),
        });
    }

    /// Connections of the step that are in this part of the load.
    fn connections_of(&self, part: LoadPart) -> u32 {
        let step = self.spec.steps.get(self.step);
        let connections = step.map_or(0, |step| step.connections);
        let part = self.spec.own_part().part(part);
        part.connections_of(connections)
    }

    fn make_slice(&mut self) {
        let Some(pending) = self.pending.pop_front() else {
            return;
        };
        let slice = self.emitted;
        if slice == 0 {
            self.begin_ns = pending.begin_ns;
        }
        let mut sum = pending.sum;
        sum.start_ns = self.begin_ns + pending.offset_ns;
        sum.end_ns = sum.start_ns + pending.length_ns;
        sum.connections.asked = self.connections_of(LoadPart::WHOLE);
        let of = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let lost = self.numbered().filter_map(|(index, member)| {
            let connections = self.connections_of(LoadPart { index, of });
            member.missing(index, slice, connections)
        });
        sum.lost = lost.collect();
        self.emitted += 1;
        self.ready.push_back(LoadEvent::Interval(Box::new(sum)));
    }

    /// The load generators with the indices of their parts.
    fn numbered(&self) -> impl Iterator<Item = (u32, &FleetMember)> {
        (0_u32..).zip(&self.members)
    }

    fn make_step_done(&mut self) {
        let parts = self.numbered();
        let parts: Vec<_> = parts.map(|(part, member)| member.receipt(part)).collect();
        let with_load = parts.iter().filter(|part| part.connections.asked > 0);
        let began: Vec<i64> = with_load.filter_map(|part| part.began_after_ns).collect();
        let ends = began.iter().max().zip(began.iter().min());
        let skew_ns = ends
            .filter(|_| began.len() > 1)
            .map(|(last, first)| last.abs_diff(*first));
        self.ready.push_back(LoadEvent::StepDone {
            step: self.step,
            fleet: Some(Box::new(FleetReceipt {
                start_skew_ns: skew_ns,
                parts,
            })),
        });
    }
}
