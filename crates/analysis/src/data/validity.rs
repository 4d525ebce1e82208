//! Whether the numbers of a step are fair: the only module that judges recorded time slices, and
//! that turns the verdicts on steps into the verdict on a metric.

use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::validity::{FairnessVerdict, Finding, Validity};
use bakeoff_validity::{JudgedSlice, RiseInTurns, StepJudge, judged_record};

/// Returns the verdict on a step of a run by its records, and the number of its slices that are
/// unfair by themselves. `rise` is how the contender got faster over the turns of the step, if
/// known.
///
/// Slices in turns that are invalid because of the load generator are excluded from all numbers of
/// the set. Up to half of them therefore do not mark the affected contender.
pub(crate) fn of_step(
    begin: &Begin,
    slices: &[&IntervalRecord],
    rise: Option<RiseInTurns>,
) -> (Validity, usize) {
    let judged = slices.iter().map(|slice| judged_record(begin, slice));
    let judged: Vec<JudgedSlice> = judged.collect();
    let is_left_out = |place: usize| {
        let is_turn = !slices[place].load.turns.is_empty();
        is_turn && is_of_generator(&judged[place].validity)
    };
    let left_out = (0..slices.len()).filter(|place| is_left_out(*place));
    let leave_out = left_out.count() * 2 <= slices.len();
    let mut step = StepJudge::default();
    for (place, slice) in judged.iter().enumerate() {
        if !(leave_out && is_left_out(place)) {
            step.add(slice);
        }
    }
    step.rose(rise);
    let unfair = judged.iter().filter(|slice| !slice.validity.is_fair());
    let unfair = unfair.count();
    (step.validity(), unfair)
}

/// Whether a slice by itself is invalid, or cannot be judged.
pub(crate) fn has_no_number(begin: &Begin, slice: &IntervalRecord) -> bool {
    unranked(&judged_record(begin, slice).validity).is_some()
}

/// Whether a number is invalid only because of the load generator: time in which it was not running
/// is missing from the concurrency.
fn is_of_generator(validity: &Validity) -> bool {
    let reasons = validity.reasons().iter();
    let mut invalid = reasons.filter(|reason| reason.verdict == FairnessVerdict::Invalid);
    let is_of_generator = |finding: &Finding| {
        matches!(
            finding,
            Finding::ConcurrencyMissing { .. }
                | Finding::GeneratorErrors { .. }
                | Finding::GeneratorLost { .. }
        )
    };
    validity.verdict() == FairnessVerdict::Invalid
        && invalid.all(|reason| is_of_generator(&reason.finding))
}

/// Returns the worst of several verdicts; ties go to the last one; fair if there are none.
pub(crate) fn worst<'v>(validities: impl Iterator<Item = &'v Validity>) -> Validity {
    validities
        .max_by_key(|validity| validity.verdict())
        .cloned()
        .unwrap_or_default()
}

/// Returns why a number of that validity has no rank, if so.
pub(crate) fn unranked(validity: &Validity) -> Option<String> {
    match validity.verdict() {
        FairnessVerdict::Invalid => Some(format!("no valid number: {}", validity.evidence())),
        FairnessVerdict::Unknown => Some(format!("not to be judged: {}", validity.evidence())),
        _ => None,
    }
}
