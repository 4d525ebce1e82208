//! An audit: figures of others, and our own records, held against what can be.

mod published;
mod results;

pub use published::published;
pub use results::results;

/// Something that an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it means.
    pub kind: FoundKind,
    /// What it is about: a case, or what a source calls it.
    pub subject: String,
    /// What was found, with its figures: a lower-case fragment.
    pub sentence: String,
}

/// What a finding of an audit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    /// Slices have another verdict by today's rules than when they were recorded.
    Differs,
    /// It was ranked by what was recorded, and today's rules do not let it be.
    UnfairButRanked,
    /// The figures cannot be what they are called.
    Impossible,
}

impl FoundKind {
    /// Whether a reader who trusts the figures is misled.
    #[must_use]
    pub fn misleads(self) -> bool {
        self != Self::Differs
    }
}
