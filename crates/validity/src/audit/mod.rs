//! Audits of published values and of our own records for what cannot be.

mod published;
mod results;

pub use published::published;
pub use results::results;

/// A finding of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    /// Its meaning.
    pub kind: FoundKind,
    /// The subject: a case, or what a source calls it.
    pub subject: String,
    /// The finding with its numbers: a lower-case fragment.
    pub sentence: String,
}

/// The meaning of a finding of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// Slices have another verdict by today's rules than when they were recorded.
    Differs,
    /// It was ranked by what was recorded, and today's rules do not let it be.
    UnfairButRanked,
    /// The values cannot be what they are called.
    Impossible,
}

impl FoundKind {
    /// Whether a reader who trusts the values is misled.
    #[must_use]
    pub fn misleads(self) -> bool {
        self != Self::Differs
    }
}
