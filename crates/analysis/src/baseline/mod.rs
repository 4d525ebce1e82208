//! The current version of contenders (head) compared with an earlier one (base), and the conditions
//! that hold.
//!
//! A contender's head and base are two cases of the session, so their numbers are those in the
//! tables; ratios are over the same sets.

pub mod sentence;

use bakeoff_model::plan::baseline::{self, Baseline, Condition, ConditionMetric};
use bakeoff_model::plan::case_label;
use bakeoff_model::record::Results;
use bakeoff_model::record::totals::Totals;
use bakeoff_model::validity::FairnessVerdict;
use bakeoff_stats::{
    Better, BoundSide, Bounded, Budget, Criteria, Decision, Estimate, Sample, Sequential, SetPairs,
    against_bounds, compare, log_ratios,
};

use crate::benchmarks::load::LoadAnalysis;
use crate::data::benchmark::CaseData;
use crate::data::metric::Metric;
use crate::data::row::Row;
use crate::data::validity;
use crate::tables::condition_metrics;

/// Metrics of head over base, in the order of tables.
const COMPARED: [ConditionMetric; 5] = [
    ConditionMetric::Slower,
    ConditionMetric::Cpu,
    ConditionMetric::P50,
    ConditionMetric::P99,
    ConditionMetric::Memory,
];

/// The results of all heads and bases.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstBase {
    /// The baseline.
    pub baseline: Baseline,
    /// The cases, one for each contender with parameters and benchmark.
    pub cases: Vec<HeadAndBase>,
    /// The outcome of every condition on every case, in the same order.
    pub judged: Vec<JudgedCondition>,
    /// Contenders and benchmarks that were skipped, a line each.
    pub left_out: Vec<String>,
}

/// The head and the base of a contender on a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadAndBase {
    /// The benchmark.
    pub benchmark: String,
    /// Contender and parameters.
    pub label: String,
    /// The changes, for the metrics that both have.
    pub changes: Vec<Change>,
    /// Share of the head's requests that failed; `None` if it was not loaded.
    pub error_share: Option<f64>,
    /// Why the head has failed regardless of the conditions: it responds wrongly, or could not be
    /// measured.
    pub failure: Option<String>,
    /// Why the two cannot be compared.
    pub incomparable: Option<String>,
    /// Reasons why their numbers are not fair, a fragment each.
    pub caveats: Vec<String>,
}

impl HeadAndBase {
    /// Returns the change of a metric, if both have it.
    #[must_use]
    pub fn change(&self, figure: ConditionMetric) -> Option<&Change> {
        self.changes.iter().find(|change| change.figure == figure)
    }
}

/// A metric of head and base.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The metric.
    pub figure: ConditionMetric,
    /// Mean over the sets of the base.
    pub base: f64,
    /// Mean over the sets of the head.
    pub head: Estimate,
    /// Ratio of head to base.
    pub ratio: Estimate,
    samples: (Sample, Sample),
}

/// The outcome of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The whole interval is beyond the bound: the session has failed.
    Holds,
    /// The whole interval is on the other side of the bound.
    DoesNotHold,
    /// The session cannot decide the condition, or lacks the data for it.
    Undecided,
}

/// A condition on a contender and a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedCondition {
    /// Index into [`AgainstBase::cases`].
    pub case: usize,
    /// The condition.
    pub condition: Condition,
    /// The outcome.
    pub outcome: Outcome,
    /// The outcome as a sentence without a full stop.
    pub sentence: String,
}

/// The conclusion of a session with a baseline, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conclusion {
    /// No condition holds, and no head has failed.
    Passed,
    /// A condition is undecided, which counts as failed.
    Undecided,
    /// A condition holds.
    ConditionHolds,
    /// A head responds wrongly or could not be measured.
    HeadFailed,
}

impl AgainstBase {
    /// Returns the conclusion.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        let any = |outcome: Outcome| self.judged.iter().any(|one| one.outcome == outcome);
        if self.cases.iter().any(|case| case.failure.is_some()) {
            Conclusion::HeadFailed
        } else if any(Outcome::Holds) {
            Conclusion::ConditionHolds
        } else if self.baseline.undecided_fails && any(Outcome::Undecided) {
            Conclusion::Undecided
        } else {
            Conclusion::Passed
        }
    }

    /// Whether further sets cannot change the outcome: every condition on every case is decided, or
    /// without conditions every head is significantly different from its base, or equivalent. A
    /// head that has failed is decided, and so is a condition on a metric that neither side has. A
    /// case that cannot be compared yet is not.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let is_compared =
            |case: &HeadAndBase| case.failure.is_some() || case.incomparable.is_none();
        let decided = match self.baseline.fail_if.is_empty() {
            true => self.throughputs_are_decided(),
            false => self.judged.iter().all(|judged| self.is_settled(judged)),
        };
        decided && !self.cases.is_empty() && self.cases.iter().all(is_compared)
    }

    fn is_settled(&self, judged: &JudgedCondition) -> bool {
        let case = &self.cases[judged.case];
        let is_measured = case.change(judged.condition.figure).is_some();
        judged.outcome != Outcome::Undecided || case.failure.is_some() || !is_measured
    }

    fn throughputs_are_decided(&self) -> bool {
        let well = self.cases.iter().filter(|case| case.failure.is_none());
        let changes = well.filter_map(|case| case.change(ConditionMetric::Slower));
        let pairs = changes.map(|change| log_ratios(&change.samples.0, &change.samples.1));
        let pairs: Vec<SetPairs> = pairs.collect();
        let looks = Sequential::default().look_family(&pairs, Budget::Left);
        looks.iter().all(|look| look.decision != Decision::GoOn)
    }

    /// Returns the conditions on the case with that index.
    pub fn judged_of(&self, case: usize) -> impl Iterator<Item = &JudgedCondition> {
        self.judged.iter().filter(move |judged| judged.case == case)
    }
}

/// Compares head and base of every contender that has both; `None` without a baseline.
pub(super) fn against_base(results: &Results, loads: &[LoadAnalysis<'_>]) -> Option<AgainstBase> {
    let baseline = results.baseline.clone()?;
    let cases = loads.iter().flat_map(of_benchmark);
    let cases: Vec<HeadAndBase> = cases.collect();
    let judged = judged(&cases, &baseline.fail_if);
    Some(AgainstBase {
        baseline,
        cases,
        judged,
        left_out: results.skipped.clone(),
    })
}

fn of_benchmark<'l>(load: &'l LoadAnalysis<'_>) -> impl Iterator<Item = HeadAndBase> + 'l {
    let cases = load.data.cases.iter().enumerate();
    cases.filter_map(|(index, head)| {
        let base_label = base_label(head)?;
        let mut all = load.data.cases.iter();
        let base = all.position(|case| case.label == base_label)?;
        Some(head_and_base(load, index, base))
    })
}

/// Returns the label of the base of a case; `None` for a case that is a base.
fn base_label(case: &CaseData<'_>) -> Option<String> {
    let run = &case.runs.first()?.records.begin.run;
    let is_head = baseline::head_name(&run.contender).is_none();
    is_head.then(|| case_label(&baseline::base_name(&run.contender), &run.parameters))
}

fn head_and_base(load: &LoadAnalysis<'_>, head: usize, base: usize) -> HeadAndBase {
    let summary = &load.summary;
    let (head_case, base_case) = (&load.data.cases[head], &load.data.cases[base]);
    let rows = (summary.row(&head_case.label)).zip(summary.row(&base_case.label));
    let base_reason = unranked(load, &base_case.label);
    let failure = failure(load, head, base_reason.is_none());
    let reasons = [
        (head_case, unranked(load, &head_case.label)),
        (base_case, base_reason),
    ];
    let reasons = reasons.into_iter();
    let reasons: Vec<String> = reasons
        .filter_map(|(case, why)| Some(format!("{}: {}", case.label, why?)))
        .collect();
    let incomparable = (!reasons.is_empty()).then(|| reasons.join("; "));
    let changes = match (&incomparable, rows) {
        (None, Some((of_head, of_base))) => changes((head_case, of_head), (base_case, of_base)),
        _ => Vec::new(),
    };
    HeadAndBase {
        benchmark: summary.name.clone(),
        label: head_case.label.clone(),
        changes,
        error_share: error_share(head_case),
        failure,
        incomparable,
        caveats: rows.map_or_else(Vec::new, |(of_head, of_base)| caveats(of_head, of_base)),
    }
}

/// Returns why a case has no comparable number.
fn unranked(load: &LoadAnalysis<'_>, label: &str) -> Option<String> {
    let mut unranked = load.summary.unranked.iter();
    let found = unranked.find(|one| one.label == label);
    found.map(|one| one.reason.clone())
}

/// Returns why the head has failed by itself. An invalid number is its own fault only if the base
/// has a valid one; otherwise it is the session's.
fn failure(load: &LoadAnalysis<'_>, head: usize, base_is_valid: bool) -> Option<String> {
    let case = &load.data.cases[head];
    if let Some(reason) = load.checks.reason_unranked(head) {
        return Some(reason);
    }
    let mut failures = load.summary.failures.iter();
    if let Some(failed) = failures.find(|failed| failed.label == case.label) {
        let (runs, stage, message) = (failed.runs_text(), &failed.stage, &failed.message);
        return Some(format!("{runs} failed at {stage}: {message}"));
    }
    let row = load.summary.row(&case.label)?;
    let invalid = row.validity().verdict() == FairnessVerdict::Invalid && base_is_valid;
    validity::unranked(row.validity()).filter(|_| invalid)
}

/// Returns the share of failed requests in the measured ones, including blocks that do not count.
fn error_share(case: &CaseData<'_>) -> Option<f64> {
    let completed = case.runs.iter().filter(|run| run.completed());
    let steps = completed.flat_map(|run| run.measured_and_open());
    steps.map(|step| &step.totals).sum::<Totals>().error_share()
}

fn caveats(head: &Row, base: &Row) -> Vec<String> {
    let caveat = |row: &Row| {
        let validity = row.validity();
        let text = || format!("{} is {validity}", row.label);
        (!validity.is_fair()).then(text)
    };
    [head, base].into_iter().filter_map(caveat).collect()
}

/// Returns the changes of all metrics that both have.
fn changes(head: (&CaseData<'_>, &Row), base: (&CaseData<'_>, &Row)) -> Vec<Change> {
    let changes = COMPARED.iter().filter_map(|figure| {
        let of = |(case, row)| condition_metrics::metric(*figure, case, row);
        Some(change(*figure, (of(head)?, of(base)?)))
    });
    changes.collect()
}

fn change(figure: ConditionMetric, (head, base): (Metric, Metric)) -> Change {
    // Only the ratio is used, which is the same whichever is better.
    let found = compare(&head.sample, &base.sample, &Criteria::new(Better::Lower));
    Change {
        figure,
        base: base.mean(),
        head: head.estimate,
        ratio: found.ratio,
        samples: (head.sample, base.sample),
    }
}

/// Worse over better, and the bound to compare it with.
type Test<'s> = (&'s Sample, &'s Sample, f64);

/// Judges every condition on every case. All ratios are one family.
fn judged(cases: &[HeadAndBase], conditions: &[Condition]) -> Vec<JudgedCondition> {
    let mut all: Vec<(usize, Condition, Option<Test<'_>>)> = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let each = conditions.iter();
        all.extend(each.map(|condition| (index, *condition, test(case, condition))));
    }
    let tests: Vec<Test<'_>> = all.iter().filter_map(|one| one.2).collect();
    let family = tests.len();
    let mut found = against_bounds(&tests).into_iter();
    let judged = all.into_iter().map(|(index, condition, test)| {
        let found = test.and_then(|_| found.next());
        let (outcome, sentence) = judge(&cases[index], &condition, found.as_ref(), family);
        JudgedCondition {
            case: index,
            condition,
            outcome,
            sentence,
        }
    });
    judged.collect()
}

fn test<'c>(case: &'c HeadAndBase, condition: &Condition) -> Option<Test<'c>> {
    let change = case.change(condition.figure)?;
    let (head, base) = (&change.samples.0, &change.samples.1);
    let bound = condition.bound();
    Some(match condition.figure {
        ConditionMetric::Slower => (base, head, bound),
        _ => (head, base, bound),
    })
}

fn judge(
    case: &HeadAndBase,
    condition: &Condition,
    found: Option<&Bounded>,
    family: usize,
) -> (Outcome, String) {
    if condition.figure == ConditionMetric::Errors {
        return match case.error_share {
            Some(share) if share > condition.bound() => {
                (Outcome::Holds, sentence::errors(case, share, condition))
            }
            Some(share) => (
                Outcome::DoesNotHold,
                sentence::errors(case, share, condition),
            ),
            None => (Outcome::Undecided, sentence::not_judged(case, condition)),
        };
    }
    let (Some(found), Some(change)) = (found, case.change(condition.figure)) else {
        return (Outcome::Undecided, sentence::not_judged(case, condition));
    };
    let outcome = match found.side {
        BoundSide::Above => Outcome::Holds,
        BoundSide::Below => Outcome::DoesNotHold,
        BoundSide::Undecided => Outcome::Undecided,
    };
    let among = found.alone_above.then_some(family);
    (
        outcome,
        sentence::judged(case, change, condition, outcome, among),
    )
}
