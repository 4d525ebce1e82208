//! Whether the numbers of a step are fair: the only module that turns the verdicts on time slices
//! into the verdict on a step, and those on steps into the verdict on a metric.

use bakeoff_model::record::{IntervalRecord, Validity};

/// The verdict on a step of a run: that on its worst slice.
pub(crate) fn of_step(slices: &[&IntervalRecord]) -> Validity {
    worst(slices.iter().map(|slice| &slice.validity))
}

/// The worst of several verdicts, the last of equals; fair when there are none.
pub(crate) fn worst<'v>(verdicts: impl Iterator<Item = &'v Validity>) -> Validity {
    verdicts
        .max_by_key(|verdict| severity(verdict))
        .cloned()
        .unwrap_or(Validity::Fair)
}

/// Worse is higher, in the order in which the session suspects.
pub(crate) fn severity(validity: &Validity) -> u8 {
    match validity {
        Validity::Fair => 0,
        Validity::HostBound { .. } => 1,
        Validity::BackendBound { .. } => 2,
        Validity::GeneratorBound { .. } => 3,
        Validity::Invalid { .. } => 4,
    }
}

pub(crate) fn is_fair(validity: &Validity) -> bool {
    *validity == Validity::Fair
}

pub(crate) fn is_invalid(validity: &Validity) -> bool {
    matches!(validity, Validity::Invalid { .. })
}
