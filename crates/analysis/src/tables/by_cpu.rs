//! Comparison by CPU per request of two contenders whose throughput cannot be compared: other work
//! on the host reduces requests per second, but hardly affects CPU time per request.

use bakeoff_model::validity::{FairnessVerdict, Finding, Validity};
use bakeoff_stats::{Better, Comparison, Criteria, Verdict, compare};

use super::comparison::detail;
use crate::data::checks::CheckTable;
use crate::data::number::{ratio_text, significant};
use crate::data::row::Row;

/// The contender that takes more CPU per request, compared with the other one.
#[derive(Debug, Clone, PartialEq)]
pub struct ByCpu {
    /// The contender that takes more, or as much.
    pub dearer: String,
    /// The other one.
    pub cheaper: String,
    /// The CPU per request of the dearer one against the cheaper one.
    pub comparison: Comparison,
    /// CPU per request of both, us: dearer, cheaper.
    pub cpu_us: [f64; 2],
    /// The unit of repetition: `run`, or `set`.
    pub unit: &'static str,
}

impl ByCpu {
    /// Returns the comparison as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (dearer, cheaper) = (&self.dearer, &self.cheaper);
        let [more, less] = self.cpu_us.map(significant);
        let detail = detail(&self.comparison, self.unit);
        let both = format!("{detail}, {more} against {less} µs");
        let ratio = ratio_text(self.comparison.ratio.point);
        match self.comparison.verdict {
            Verdict::Faster | Verdict::Slower => {
                format!("{dearer} takes {ratio} times the CPU per request of {cheaper} {both}.")
            }
            Verdict::Equivalent => {
                format!(
                    "{dearer} and {cheaper} take as much CPU per request, {ratio} times {both}."
                )
            }
            Verdict::Inconclusive | Verdict::Void => format!(
                "{dearer} and {cheaper} do not differ significantly in CPU per request: {ratio} \
                 times {both}."
            ),
        }
    }
}

/// Compares two contenders, whether they are ranked or not. `None` for another number of
/// contenders, if CPU time was not metered, and if one of them failed its checks or requests.
pub(super) fn of(rows: &[Option<Row>], checks: &CheckTable) -> Option<ByCpu> {
    let [Some(one), Some(other)] = rows else {
        return None;
    };
    let passed = (0..rows.len()).all(|case| checks.reason_unranked(case).is_none());
    let do_serve = [one, other].iter().all(|row| does_serve(row.validity()));
    let costs = one.stated.cpu_us.as_ref().zip(other.stated.cpu_us.as_ref());
    let (first, second) = costs.filter(|_| passed && do_serve)?;
    let mut both = [(one, first), (other, second)];
    both.sort_by(|one, other| other.1.mean().total_cmp(&one.1.mean()));
    let [(dearer, more), (cheaper, less)] = both;
    let criteria = Criteria::new(Better::Lower);
    Some(ByCpu {
        dearer: dearer.label.clone(),
        cheaper: cheaper.label.clone(),
        comparison: compare(&more.sample, &less.sample, &criteria),
        cpu_us: [more.mean(), less.mean()],
        unit: dearer.unit(),
    })
}

/// Whether neither the contender's responses nor its CPU time make its number invalid, if it is.
fn does_serve(validity: &Validity) -> bool {
    let reasons = validity.reasons().iter();
    let mut invalid = reasons.filter(|reason| reason.verdict >= FairnessVerdict::Invalid);
    !invalid.any(|reason| {
        matches!(
            reason.finding,
            Finding::NoSuccess { .. }
                | Finding::Errors { .. }
                | Finding::WrongBodies { .. }
                | Finding::BackendRequests { .. }
                | Finding::CpuMissing { .. }
                | Finding::PartOfTime { .. }
                | Finding::Recorded { .. }
        )
    })
}
