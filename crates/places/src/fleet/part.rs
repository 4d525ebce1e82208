//! The state of one load generator of a fleet.

use bakeoff_model::load::{ClockOffset, Connections, LoadInterval, LostGenerator, PartReceipt};

/// How far a load generator is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberStage {
    /// The load generator opens connections.
    Opening,
    /// The load generator waits for the window to be opened.
    Ready,
    /// The window is open, or will be.
    Running,
    /// The load generator waits for the command to go on.
    StepDone,
    /// The last step is over.
    Ending,
    /// The load generator has exited.
    Ended,
}

/// The instant set for the opening of all windows of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Barrier {
    /// By the session's wall clock, ns since the Unix epoch.
    pub(super) unix_ns: u64,
    /// How far that clock was ahead of the session's monotonic one, ns.
    pub(super) ahead_ns: u64,
}

/// One load generator, and what it did in the step.
#[derive(Debug)]
pub(super) struct FleetMember {
    pub(super) name: String,
    pub(super) clock: Option<ClockOffset>,
    pub(super) stage: MemberStage,
    /// Why the load generator is lost.
    pub(super) lost: Option<String>,
    /// The connections of the load generator when the step started.
    pub(super) connections: Connections,
    pub(super) receipt: PartReceipt,
    /// When its first slice of the step started, ns of its own monotonic clock.
    pub(super) first_ns: Option<u64>,
    /// The difference from its monotonic clock to the session's, ns.
    pub(super) shift_ns: i64,
    /// When the window opened, by the session's clocks.
    pub(super) began: Option<Began>,
}

/// When a window opened, in the order in which they are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Began {
    /// Wall clock, ns since the Unix epoch.
    pub(super) unix_ns: u64,
    /// Monotonic clock, ns.
    pub(super) at_ns: u64,
    /// How late that was, ns.
    pub(super) late_ns: u64,
}

impl FleetMember {
    /// Returns a member that has been started.
    pub(super) fn new(name: String, clock: Option<ClockOffset>) -> Self {
        Self {
            name,
            clock,
            stage: MemberStage::Opening,
            lost: None,
            connections: Connections::default(),
            receipt: PartReceipt::default(),
            first_ns: None,
            shift_ns: 0,
            began: None,
        }
    }

    /// Whether the load generator is expected to deliver anything more.
    pub(super) fn lives(&self) -> bool {
        self.lost.is_none()
    }

    /// Whether the load generator has delivered all slices of the step.
    pub(super) fn is_through(&self) -> bool {
        matches!(
            self.stage,
            MemberStage::StepDone | MemberStage::Ending | MemberStage::Ended
        )
    }

    /// A step starts.
    pub(super) fn begin_step(&mut self) {
        self.receipt = PartReceipt::default();
        self.first_ns = None;
        self.began = None;
    }

    /// Notes when the window opened, as the load generator says itself.
    pub(super) fn begin(&mut self, said: Began, barrier: Barrier) {
        let ahead_ns = self.clock.map_or(0, |clock| clock.ahead_ns);
        let unix_ns = said.unix_ns.saturating_add_signed(-ahead_ns);
        // Load generators on the session's machine have its monotonic clock.
        if self.clock.is_some() {
            let session_ns = unix_ns.saturating_sub(barrier.ahead_ns);
            self.shift_ns = between(session_ns, said.at_ns);
        }
        self.receipt.began_after_ns = Some(between(unix_ns, barrier.unix_ns));
        self.began = Some(Began {
            unix_ns,
            at_ns: said.at_ns.saturating_add_signed(self.shift_ns),
            late_ns: said.late_ns,
        });
    }

    /// Notes a slice.
    pub(super) fn count(&mut self, interval: &LoadInterval) {
        let receipt = &mut self.receipt;
        receipt.slices += 1;
        receipt.requests += interval.requests;
        receipt.failed += interval.failed();
        receipt.generator_cpu += interval.generator_cpu;
        receipt.connections.reconnects += interval.connections.reconnects;
        self.first_ns.get_or_insert(interval.start_ns);
    }

    /// Returns the load generator's receipt for the step.
    pub(super) fn receipt(&self, part: u32) -> PartReceipt {
        let reconnects = self.receipt.connections.reconnects;
        PartReceipt {
            part,
            name: self.name.clone(),
            connections: Connections {
                reconnects,
                ..self.connections
            },
            clock: self.clock,
            lost: self.lost.clone(),
            ..self.receipt.clone()
        }
    }

    /// A note that it is missing from a slice, if it is; `connections` are those of its part.
    pub(super) fn missing(&self, part: u32, slice: u32, connections: u32) -> Option<LostGenerator> {
        let why = self.lost.clone()?;
        let delivered = self.is_through() || self.receipt.slices > slice;
        (!delivered).then(|| LostGenerator {
            part,
            name: self.name.clone(),
            why,
            connections,
        })
    }
}

/// How much later one time is than another, ns.
pub(super) fn between(later_ns: u64, earlier_ns: u64) -> i64 {
    i64::try_from(i128::from(later_ns) - i128::from(earlier_ns)).unwrap_or(i64::MAX)
}
