//! What came of a claim: for readers, and what one session has to say about it.

/// What came of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The whole interval lies where the claim says.
    Reproduced,
    /// The whole interval lies elsewhere.
    NotReproduced,
    /// The interval lies on both sides of a bound.
    Undecided,
    /// This session cannot show it.
    NotTestable,
}

impl ClaimVerdict {
    /// The verdict as people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::Undecided => "undecided",
            Self::NotTestable => "not testable here",
        }
    }
}

/// What one session says about one claim.
pub(super) struct Found {
    pub(super) measured: String,
    pub(super) verdict: ClaimVerdict,
    pub(super) why: String,
    /// How many cases were compared.
    pub(super) cases: usize,
}

impl Found {
    pub(super) fn not_testable(why: impl Into<String>) -> Self {
        Self {
            measured: String::new(),
            verdict: ClaimVerdict::NotTestable,
            why: why.into(),
            cases: 0,
        }
    }

    /// A verdict says more than none, and more cases say more than few.
    pub(super) fn weight(&self) -> (bool, usize) {
        (self.verdict != ClaimVerdict::NotTestable, self.cases)
    }
}
