//! The control: cases with two processes in a repetition. The two differ only by the moment and the
//! process, so if a session finds a significant difference between them, its other differences are
//! in doubt, too: its verdicts are void.
//!
//! Controls are a separate family of comparisons: they would cost every table power, and their
//! question is about the session and not about a contender.

use bakeoff_stats::{Better, Comparison, Criteria, Pairs, Sample, Verdict, compare_family};

use super::comparison::detail;
use crate::data::benchmark::{BenchmarkData, CaseData, RunData};
use crate::data::metric::Metric;
use crate::data::number::{enumerated, ratio_text};
use crate::data::row;
use crate::data::stated_step::{self, StatedStep};
use crate::data::validity;

/// The comparison of the two processes of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The case.
    pub label: String,
    /// Peak throughput, the second process compared with the first; `None` unless both have a valid
    /// number.
    pub throughput: Option<Comparison>,
    /// CPU per request at the stated step, compared in the same way as throughput.
    pub cpu: Option<Comparison>,
    /// The stated step in words.
    at: String,
    /// The unit of repetition: `run`, or `set`.
    unit: &'static str,
}

impl Control {
    /// Whether the session found a difference that does not exist.
    #[must_use]
    pub fn is_void(&self) -> bool {
        let both = self.throughput.iter().chain(&self.cpu);
        let mut verdicts = both.map(|found| found.verdict);
        verdicts.any(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
    }

    /// Returns the outcome as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { label, unit, .. } = self;
        let each = if *unit == "set" { unit } else { "repetition" };
        let Some(throughput) = &self.throughput else {
            return format!(
                "Control: {label} had two processes in each {each}, but not both have valid \
                 numbers."
            );
        };
        let cpu = self.cpu.as_ref().map_or_else(String::new, |cpu| {
            let (ratio, detail) = (ratio_text(cpu.ratio.point), detail(cpu, unit));
            format!(" at {ratio} times the CPU per request {} {detail}", self.at)
        });
        let (ratio, detail) = (ratio_text(throughput.ratio.point), detail(throughput, unit));
        let found = match (self.is_void(), throughput.ratio.interval) {
            (true, _) => "false positive, identical contenders differ significantly",
            (false, Some(_)) => "not significantly different, as it should be",
            (false, None) => "too little data to detect a difference",
        };
        format!(
            "Control: {label} had two processes in each {each}. One serves {ratio} times the \
             requests per second of the other {detail}{cpu}: {found}."
        )
    }
}

/// The meaning of all controls of a session for its verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlVerdict {
    /// No control found a difference, or the session has none: verdicts count.
    Passed,
    /// A control found a difference between equal contenders: no verdict counts.
    Void,
}

impl ControlVerdict {
    /// Returns the verdict of a session's controls.
    pub(crate) fn of<'c>(mut controls: impl Iterator<Item = &'c Control>) -> Self {
        match controls.any(Control::is_void) {
            true => Self::Void,
            false => Self::Passed,
        }
    }

    /// Whether no verdict of the session counts.
    #[must_use]
    pub fn is_void(self) -> bool {
        self == Self::Void
    }

    /// Returns comparisons with the verdicts that count.
    pub(super) fn apply(self, pairs: Pairs) -> Pairs {
        match self {
            Self::Passed => pairs,
            Self::Void => pairs.void(),
        }
    }
}

/// Returns a line about all controls, `control: a serves 0.98 and b 1.00 times as much as itself`;
/// `None` without two processes of a case that have valid numbers.
#[must_use]
pub fn line(controls: &[Control]) -> Option<String> {
    if ControlVerdict::of(controls.iter()).is_void() {
        return Some(VOID.to_owned());
    }
    let mut serves = " serves";
    let twins = controls.iter().filter_map(|control| {
        let ratio = ratio_text(control.throughput.as_ref()?.ratio.point);
        let serves = std::mem::take(&mut serves);
        Some(format!("{}{serves} {ratio}", control.label))
    });
    let twins: Vec<String> = twins.collect();
    (!twins.is_empty()).then(|| format!("control: {} times as much as itself", enumerated(&twins)))
}

/// The sentence of a session whose control differs.
pub const VOID: &str =
    "void: the control of this session found a difference between equal contenders";

/// The metrics of a case for each of its two processes.
struct Both<'d> {
    label: &'d str,
    throughput: Option<[Sample; 2]>,
    cpu: Option<[Sample; 2]>,
    at: String,
}

/// Returns the controls of each benchmark. All of them by both metrics are one family: by chance at
/// most 5 % of the sessions are void.
pub(crate) fn controls(benchmarks: &[BenchmarkData<'_>]) -> Vec<Vec<Control>> {
    let all: Vec<Vec<Both<'_>>> = benchmarks.iter().map(of_benchmark).collect();
    let mut pairs = Vec::new();
    for both in all.iter().flatten() {
        let metrics = [
            (&both.throughput, Better::Higher),
            (&both.cpu, Better::Lower),
        ];
        for (metric, better) in metrics {
            if let Some([first, second]) = metric {
                pairs.push((second, first, Criteria::new(better)));
            }
        }
    }
    let mut found = compare_family(&pairs).into_iter();
    let mut control = |both: &Both<'_>| {
        let throughput = both.throughput.as_ref();
        let in_turns = throughput.is_some_and(|[first, _]| first.is_of_sets());
        Control {
            label: both.label.to_owned(),
            throughput: throughput.and_then(|_| found.next()),
            cpu: both.cpu.as_ref().and_then(|_| found.next()),
            at: both.at.clone(),
            unit: if in_turns { "set" } else { "run" },
        }
    };
    let controls = all.iter();
    controls
        .map(|of_benchmark| of_benchmark.iter().map(&mut control).collect())
        .collect()
}

fn of_benchmark<'d>(benchmark: &'d BenchmarkData<'_>) -> Vec<Both<'d>> {
    let stated = stated_step::stated(benchmark);
    let has_twins = |case: &&CaseData<'_>| case.runs.iter().any(|run| run.process().is_twin);
    let both = |case: &'d CaseData<'_>| {
        let runs: Vec<&RunData<'_>> = case.completed().collect();
        let throughput = row::peak(benchmark, &runs).map(|peak| peak.throughput);
        let throughput = throughput.filter(|metric| validity::unranked(&metric.validity).is_none());
        let cpu = stated_step::at_stated(&runs, stated.as_ref()).cpu_us;
        let processes = |metric: Option<Metric>| metric?.sample.processes();
        Both {
            label: &case.label,
            throughput: processes(throughput),
            cpu: processes(cpu),
            at: stated
                .as_ref()
                .map_or_else(String::new, StatedStep::describe),
        }
    };
    benchmark.cases.iter().filter(has_twins).map(both).collect()
}
