//! The A/A control: a case that was measured twice, under two labels. Nothing can be different
//! about it but the moment and the process, so where a session finds a significant difference, its
//! other differences are in doubt, too: its verdicts are void.
//!
//! It is in no table, and in no family of comparisons but its own: it would cost every
//! table power, and it asks about the session and not about a contender.

use bakeoff_stats::{Better, Comparison, Criteria, Verdict, compare_family};

use super::benchmark::{BenchmarkData, CaseData, RunData};
use super::comparison::detail;
use super::metric::Metric;
use super::row;
use super::stated_step::{self, StatedStep};
use super::validity;
use crate::number::ratio_text;

/// How the control of a benchmark came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// Label of the second one.
    pub label: String,
    /// The other label of the same case.
    pub twin: String,
    /// Peak throughput, the second against the first; `None` where one of them has no valid number.
    pub throughput: Option<Comparison>,
    /// CPU per request at the stated step, likewise.
    pub cpu: Option<Comparison>,
    /// That step in words.
    at: String,
    /// The unit of repetition: `run`, or `set`.
    unit: &'static str,
}

impl Control {
    /// Whether a difference was found where there is none.
    #[must_use]
    pub fn is_void(&self) -> bool {
        let both = self.throughput.iter().chain(&self.cpu);
        let mut verdicts = both.map(|found| found.verdict);
        verdicts.any(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
    }

    /// The outcome, a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { label, twin, .. } = self;
        let Some(throughput) = &self.throughput else {
            return format!("Control: {twin} was measured twice, but not both have valid numbers.");
        };
        let cpu = self.cpu.as_ref().map_or_else(String::new, |cpu| {
            let (ratio, detail) = (ratio_text(cpu.ratio.point), detail(cpu, self.unit));
            format!(" at {ratio} times the CPU per request {} {detail}", self.at)
        });
        let (ratio, detail) = (
            ratio_text(throughput.ratio.point),
            detail(throughput, self.unit),
        );
        let found = match (self.is_void(), throughput.ratio.interval) {
            (true, _) => "false positive, identical contenders differ significantly",
            (false, Some(_)) => "not significantly different, as it should be",
            (false, None) => "too little data to detect a difference",
        };
        format!(
            "Control: {twin} was measured twice. {label} serves {ratio} times the requests per \
             second {detail}{cpu}: {found}."
        )
    }
}

/// The sentence of a session whose control differs.
pub const VOID: &str =
    "void: the control of this session found a difference between equal contenders";

/// Takes the control out of the cases that are compared with each other.
pub(super) fn set_apart(benchmark: &mut BenchmarkData<'_>) {
    let is_control = |case: &CaseData<'_>| {
        let mut runs = case.runs.iter();
        runs.any(|run| run.records.begin.run.control)
    };
    let place = benchmark.cases.iter().position(is_control);
    benchmark.control = place.map(|place| benchmark.cases.remove(place));
}

/// The metrics of a case, and of its twin.
struct Both<'d> {
    label: &'d str,
    twin: &'d str,
    throughput: Option<[Metric; 2]>,
    cpu: Option<[Metric; 2]>,
    at: String,
}

/// The control of each benchmark. All of them by both metrics are one family: by chance at most 5 %
/// of the sessions are void.
pub(super) fn controls(benchmarks: &[BenchmarkData<'_>]) -> Vec<Option<Control>> {
    let all: Vec<Option<Both<'_>>> = benchmarks.iter().map(both).collect();
    let mut pairs = Vec::new();
    for both in all.iter().flatten() {
        let metrics = [
            (&both.throughput, Better::Higher),
            (&both.cpu, Better::Lower),
        ];
        for (metric, better) in metrics {
            if let Some([first, second]) = metric {
                pairs.push((&second.sample, &first.sample, Criteria::new(better)));
            }
        }
    }
    let mut found = compare_family(&pairs).into_iter();
    let mut control = |both: &Both<'_>| {
        let throughput = both.throughput.as_ref();
        let in_turns = throughput.is_some_and(|[first, _]| first.sample.is_of_sets());
        Control {
            label: both.label.to_owned(),
            twin: both.twin.to_owned(),
            throughput: throughput.and_then(|_| found.next()),
            cpu: both.cpu.as_ref().and_then(|_| found.next()),
            at: both.at.clone(),
            unit: if in_turns { "set" } else { "run" },
        }
    };
    let controls = all.iter().map(|both| both.as_ref().map(&mut control));
    controls.collect()
}

fn both<'d>(benchmark: &'d BenchmarkData<'_>) -> Option<Both<'d>> {
    let control = benchmark.control.as_ref()?;
    let planned = &control.runs.first()?.records.begin.run;
    let is_twin = |case: &&CaseData<'_>| {
        let run = case.runs.first().map(|run| &run.records.begin.run);
        run.is_some_and(|run| {
            run.contender == planned.contender && run.parameters == planned.parameters
        })
    };
    let twin = benchmark.cases.iter().find(is_twin)?;
    let first: Vec<&RunData<'_>> = twin.completed().collect();
    let second: Vec<&RunData<'_>> = control.completed().collect();
    let stated = stated_step::stated(benchmark);
    let throughput = |runs: &[&RunData<'_>]| {
        let (metric, _) = row::peak_throughput(benchmark, runs)?;
        validity::unranked(&metric.validity)
            .is_none()
            .then_some(metric)
    };
    let cpu = |runs: &[&RunData<'_>]| stated_step::at_stated(runs, stated.as_ref()).cpu_us;
    Some(Both {
        label: &control.label,
        twin: &twin.label,
        throughput: throughput(&first)
            .zip(throughput(&second))
            .map(<[Metric; 2]>::from),
        cpu: cpu(&first).zip(cpu(&second)).map(<[Metric; 2]>::from),
        at: stated
            .as_ref()
            .map_or_else(String::new, StatedStep::describe),
    })
}
