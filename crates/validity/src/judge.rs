//! Applies the rules to evidence for any stretch of time, or for a step and its slices.

use std::collections::BTreeMap;
use std::mem::discriminant;

use bakeoff_model::validity::{FairnessVerdict, Finding, Reason, RequiredReading, Validity};

use crate::evidence::Evidence;
use crate::reading::Reading;
use crate::rising::RiseInTurns;
use crate::rules::{RULES, UNFAIR_TIME_MAX};
use bakeoff_base::number::as_f64;

/// A slice with its verdict.
#[derive(Debug, Clone)]
pub struct JudgedSlice {
    /// Evidence of the slice.
    pub evidence: Evidence,
    /// The verdict on the slice alone.
    pub validity: Validity,
}

impl JudgedSlice {
    /// Judges a slice by its evidence.
    #[must_use]
    pub fn new(evidence: Evidence) -> Self {
        let validity = judge(&evidence);
        Self { evidence, validity }
    }
}

/// Judges a stretch of time by its sums.
#[must_use]
pub fn judge(evidence: &Evidence) -> Validity {
    let mut reasons: Vec<Reason> = RULES
        .iter()
        .filter_map(|rule| {
            let (value, finding) = (rule.measure)(evidence)?;
            let verdict = rule.grade(value)?;
            Some(Reason { verdict, finding })
        })
        .collect();
    // If another part was full, the contender could not be.
    if reasons
        .iter()
        .any(|reason| reason.verdict >= FairnessVerdict::HostBound)
    {
        reasons.retain(|reason| !matches!(reason.finding, Finding::NobodyFull { .. }));
    }
    reasons.extend(missing(evidence));
    Validity::of(reasons)
}

/// Judges a step, slice by slice.
#[derive(Debug, Default)]
pub struct StepJudge {
    sum: Option<Evidence>,
    /// Total time of the slices with each verdict, ns, and the worst finding of the first one.
    slices: BTreeMap<FairnessVerdict, (u64, Finding)>,
}

impl StepJudge {
    /// Adds a slice.
    pub fn add(&mut self, slice: &JudgedSlice) {
        let JudgedSlice { evidence, validity } = slice;
        if let Some(worst) = validity.reasons().first() {
            let new = || (0, worst.finding.clone());
            self.slices.entry(worst.verdict).or_insert_with(new).0 += evidence.stretch.wall_ns;
        }
        match &mut self.sum {
            Some(sum) => *sum += evidence,
            None => self.sum = Some(evidence.clone()),
        }
    }

    /// Adds how the contender got faster over the turns of the step; requires slices.
    pub fn rose(&mut self, rise: Option<RiseInTurns>) {
        if let Some(sum) = &mut self.sum {
            sum.turns.rise = rise;
        }
    }

    /// Returns the verdict by the sums, and by the share of the time that was unfair by slice: a
    /// single bad slice out of many does not void a step. Fair without slices.
    #[must_use]
    pub fn validity(&self) -> Validity {
        let Some(sum) = &self.sum else {
            return Validity::fair();
        };
        let validity = judge(sum);
        match self.part_of_time(sum.stretch.wall_ns, &validity) {
            Some(part) => Validity::of(validity.reasons().iter().cloned().chain([part]).collect()),
            None => validity,
        }
    }

    /// Returns the verdict of the slices if it is worse than that of the sums, or as bad for
    /// another reason: the worst verdict that more than a tenth of the time has, or a diagnostic
    /// for less.
    fn part_of_time(&self, wall_ns: u64, by_sums: &Validity) -> Option<Reason> {
        let known: Vec<_> = by_sums
            .reasons()
            .iter()
            .map(|reason| discriminant(&reason.finding))
            .collect();
        let beyond = |(verdict, (_, finding)): &(&FairnessVerdict, &(u64, Finding))| {
            let (verdict, by_sums) = (**verdict, by_sums.verdict());
            let other = verdict == by_sums && !known.contains(&discriminant(finding));
            verdict > by_sums || (other && by_sums > FairnessVerdict::Fair)
        };
        let mut worse = self.slices.iter().filter(beyond);
        let share = |verdict: FairnessVerdict| {
            let such = self.slices.range(verdict..);
            as_f64(such.map(|(_, (wall_ns, _))| wall_ns).sum()) / as_f64(wall_ns.max(1))
        };
        let decisive = worse
            .clone()
            .rfind(|(verdict, _)| share(**verdict) > UNFAIR_TIME_MAX);
        let (verdict, (slices, (_, example))) = match decisive {
            Some(slices) => (*slices.0, slices),
            None => (FairnessVerdict::Fair, worse.next()?),
        };
        Some(Reason {
            verdict,
            finding: Finding::PartOfTime {
                slices: *slices,
                share: share(*slices),
                example: example.to_string(),
                failing: example.is_of_failures(),
            },
        })
    }
}

/// Returns the readings that rules would have needed, by the reason why they are missing.
fn missing(evidence: &Evidence) -> Vec<Reason> {
    let mut figures: [Vec<RequiredReading>; 3] = Default::default();
    let [unreadable, unrecorded, unmetered] = &mut figures;
    let mut note = |figure: RequiredReading, why: Reading<()>| match why {
        Reading::Known(()) | Reading::NotApplicable => {}
        Reading::Unreadable => unreadable.push(figure),
        Reading::NotRecorded => unrecorded.push(figure),
        Reading::NotMetered => unmetered.push(figure),
    };
    let contender = &evidence.contender;
    note(RequiredReading::ContenderCpu, contender.cpu.state());
    note(
        RequiredReading::MemoryPressure,
        contender.memory_wait.state(),
    );
    note(RequiredReading::QuotaStalls, contender.throttling.state());
    let backend = &evidence.backend;
    note(RequiredReading::BackendCpu, backend.cpu.state());
    note(RequiredReading::BackendRequests, backend.requests.state());
    let host = &evidence.host;
    note(RequiredReading::CoreTimes, host.core_times.state());
    note(RequiredReading::TcpCounters, host.tcp.state());
    let connections = &evidence.connections;
    note(
        RequiredReading::Turnaround,
        connections.turnaround_ns.state(),
    );
    note(
        RequiredReading::Connecting,
        connections.connecting_ns.state(),
    );
    let [unreadable, unrecorded, unmetered] = figures;
    let reason = |verdict: FairnessVerdict, finding: Finding, some: bool| {
        some.then_some(Reason { verdict, finding })
    };
    let has = [&unreadable, &unrecorded, &unmetered].map(|figures| !figures.is_empty());
    let unreadable = Finding::Unreadable {
        figures: unreadable,
    };
    let unrecorded = Finding::NotRecorded {
        figures: unrecorded,
    };
    let unmetered = Finding::NotMetered { figures: unmetered };
    [
        reason(FairnessVerdict::Unknown, unreadable, has[0]),
        reason(FairnessVerdict::Fair, unrecorded, has[1]),
        reason(FairnessVerdict::Fair, unmetered, has[2]),
    ]
    .into_iter()
    .flatten()
    .collect()
}
