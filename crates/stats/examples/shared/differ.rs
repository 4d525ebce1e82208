//! How fresh processes of one service differ, for the examples that simulate them.

use bakeoff_base::random::Random;

/// How the processes of a contender differ.
#[derive(Clone, Copy)]
pub(crate) enum Differ {
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
    /// Exponential: most a little below, a few far above.
    Skewed,
    /// One of two modes.
    TwoModes,
}

impl Differ {
    /// A process, from a distribution with a variance of 1.
    pub(crate) fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Normal => random.normal(),
            Self::HeavyTails => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                random.normal() / squares.sqrt()
            }
            Self::Skewed => random.exponential() - 1.0,
            Self::TwoModes => {
                let mode = if random.below(2) == 0 { -1.0 } else { 1.0 };
                0.995 * mode + 0.1 * random.normal()
            }
        }
    }

    /// Returns the name for tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::HeavyTails => "t, 3 df",
            Self::Skewed => "exponential",
            Self::TwoModes => "two modes",
        }
    }
}
