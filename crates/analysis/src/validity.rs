//! Whether the numbers of a step are fair: the only module that judges recorded time slices, and
//! that turns the verdicts on steps into the verdict on a metric.

use bakeoff_model::record::{Begin, IntervalRecord};
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_validity::{RiseInTurns, StepJudge, judged_record};

/// The verdict on a step of a run by its records, and how many of its slices are unfair alone.
/// `rise` is how the contender got faster over the turns of the step, where that is known.
pub(crate) fn of_step(
    begin: &Begin,
    slices: &[&IntervalRecord],
    rise: Option<RiseInTurns>,
) -> (Validity, usize) {
    let mut step = StepJudge::default();
    let mut unfair = 0;
    for slice in slices {
        let judged = judged_record(begin, slice);
        unfair += usize::from(!judged.validity.is_fair());
        step.add(&judged);
    }
    step.rose(rise);
    (step.validity(), unfair)
}

/// The worst of several verdicts, the last of equals; fair when there are none.
pub(crate) fn worst<'v>(validities: impl Iterator<Item = &'v Validity>) -> Validity {
    validities
        .max_by_key(|validity| validity.verdict())
        .cloned()
        .unwrap_or_default()
}

/// Why a number of that validity has no rank, if it has none.
pub(crate) fn unranked(validity: &Validity) -> Option<String> {
    match validity.verdict() {
        FairnessVerdict::Invalid => Some(format!("no valid number: {}", validity.evidence())),
        FairnessVerdict::Unknown => Some(format!("not to be judged: {}", validity.evidence())),
        _ => None,
    }
}
