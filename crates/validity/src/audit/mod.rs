//! Audits of published values and of our own records for impossible values.

mod published;
mod results;

pub use published::published;
pub use results::results;

/// A finding of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    /// The meaning of the finding.
    pub kind: FoundKind,
    /// The subject: a case, or the name that a source gives it.
    pub subject: String,
    /// The finding with its numbers: a lower-case fragment.
    pub sentence: String,
}

/// The meaning of an audit finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// Slices have another verdict by today's rules than when they were recorded.
    Differs,
    /// A number was ranked when it was recorded, but today's rules do not allow it.
    UnfairButRanked,
    /// The values are impossible under their labels.
    Impossible,
}

impl FoundKind {
    /// Whether the finding misleads a reader who trusts the values.
    #[must_use]
    pub fn misleads(self) -> bool {
        self != Self::Differs
    }
}
