//! The outcomes of conditions, as sentences without a full stop.

use bakeoff_model::plan::baseline::{Condition, ConditionMetric};
use bakeoff_stats::Estimate;

use super::{Change, HeadAndBase, Outcome};
use crate::data::number::{counted, significant};

/// Returns the words for a metric: the verb, and the words for a head with more and with less than
/// the base.
fn words(figure: ConditionMetric) -> (&'static str, &'static str, &'static str) {
    match figure {
        ConditionMetric::Slower => ("is", "faster", "slower"),
        ConditionMetric::Cpu => ("takes", "more CPU per request", "less CPU per request"),
        ConditionMetric::Memory => ("takes", "more memory", "less memory"),
        ConditionMetric::P50 => ("has a", "higher p50", "lower p50"),
        ConditionMetric::P99 => ("has a", "higher p99", "lower p99"),
        ConditionMetric::Errors => ("has", "more errors", "fewer errors"),
    }
}

/// Returns a ratio of a metric as words: `takes 5.1 % more CPU per request than good (95 %: 4.6 to
/// 5.6 % more CPU per request, 8 sets)`; `None` for a ratio without an interval.
#[must_use]
pub fn changed(figure: ConditionMetric, ratio: &Estimate, than: &str) -> Option<String> {
    let (verb, more, less) = words(figure);
    let (point, range) = (side(ratio.point, more, less), range(ratio, more, less)?);
    let runs = counted(ratio.runs, "set");
    Some(format!(
        "{verb} {point} than {than} (95 %: {range}, {runs})"
    ))
}

/// Words a condition on a ratio. `among` is the size of the family if the ratio would be
/// significantly beyond the bound without the correction.
pub(super) fn judged(
    case: &HeadAndBase,
    change: &Change,
    condition: &Condition,
    outcome: Outcome,
    among: Option<usize>,
) -> String {
    let ratio = &change.ratio;
    let label = &case.label;
    let Some(changed) = changed(change.figure, ratio, "its base") else {
        let runs = counted(ratio.runs, "set");
        let why = match ratio.runs {
            1 => "only 1 set can be used, and an interval takes 2".to_owned(),
            _ => format!("{runs} that do not differ, or contradict each other, have no interval"),
        };
        return format!("{label}: {why}");
    };
    let found = format!("{label} {changed}");
    let percent = condition.percent;
    match (outcome, among) {
        (Outcome::Holds, _) => format!("{found}, significantly more than {percent} %"),
        (Outcome::DoesNotHold, _) => format!("{found}, significantly not {condition}"),
        (Outcome::Undecided, Some(family)) => format!(
            "{found}: alone that would be significantly more than {percent} %, among {family} \
             conditions it may be chance"
        ),
        (Outcome::Undecided, None) => {
            let from = significant(sure_from(change, condition));
            format!(
                "{found}: {condition} is undecided; this session would detect it from about \
                 {from} % on, one with more sets (--runs) from less"
            )
        }
    }
}

/// Returns from how many percent on the condition would hold with an interval of the same width.
fn sure_from(change: &Change, condition: &Condition) -> f64 {
    let Some(interval) = change.ratio.interval else {
        return f64::NAN;
    };
    // On a logarithmic scale the interval extends equally to both sides of its point.
    let reach = (interval.high / interval.low).sqrt();
    let worse = condition.bound() * reach;
    match condition.figure {
        ConditionMetric::Slower => 100.0 * (1.0 - 1.0 / worse),
        _ => 100.0 * (worse - 1.0),
    }
}

/// Words a condition on failed requests.
pub(super) fn errors(case: &HeadAndBase, share: f64, condition: &Condition) -> String {
    let (label, percent) = (&case.label, condition.percent);
    let found = significant(share * 100.0);
    match share > condition.bound() {
        true => format!("{label}: {found} % of its requests failed, more than {percent} %"),
        false => format!("{label}: {found} % of its requests failed, not more than {percent} %"),
    }
}

/// Words a condition on a missing metric.
pub(super) fn not_judged(case: &HeadAndBase, condition: &Condition) -> String {
    let why = case.incomparable.as_deref();
    let why = why.unwrap_or("the metric was not measured");
    format!("{}: {condition} is not judged: {why}", case.label)
}

/// Returns a ratio as words: `9.1 % slower`.
fn side(ratio: f64, more: &str, less: &str) -> String {
    let (percent, word) = parts(ratio, more, less);
    format!("{percent} % {word}")
}

fn parts<'w>(ratio: f64, more: &'w str, less: &'w str) -> (String, &'w str) {
    let word = if ratio < 1.0 { less } else { more };
    (format!("{:.1}", 100.0 * (ratio - 1.0).abs()), word)
}

/// Returns an interval as words: `8.2 to 10.0 % slower`, `1.3 % faster to 9.3 % slower`; `None`
/// without an interval.
fn range(ratio: &Estimate, more: &str, less: &str) -> Option<String> {
    let interval = ratio.interval?;
    let (low, high) = (
        parts(interval.low, more, less),
        parts(interval.high, more, less),
    );
    Some(if low.1 != high.1 {
        format!("{} % {} to {} % {}", low.0, low.1, high.0, high.1)
    } else if low.1 == less {
        format!("{} to {} % {}", high.0, low.0, less)
    } else {
        format!("{} to {} % {}", low.0, high.0, more)
    })
}
