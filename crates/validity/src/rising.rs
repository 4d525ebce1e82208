//! Whether a contender of a set still gets faster in the turns of a measured step: one that is not
//! warm, next to others that are.

use bakeoff_base::number::{as_f64, length_as_f64};
use bakeoff_model::load::LoadInterval;
use bakeoff_model::suite::warmth::Warmth;
use bakeoff_stats::rise_over;

/// Standard errors needed to say that the contender got faster. Fewer than in a warm-up, where the
/// question is asked every few seconds and one wrong decision ends it.
const ERRORS: f64 = 2.5;

/// How a contender got faster over the turns of a step. Shares: 0.01 = 1 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RiseInTurns {
    /// Growth of the requests per CPU second, relative to the others' median in the same blocks;
    /// the best guess.
    pub(crate) rise: f64,
    /// Growth relative to the load generator's CPU time for its requests.
    pub(crate) to_generator: f64,
    pub(crate) blocks: usize,
}

impl RiseInTurns {
    /// Growth relative to the median of the others, the best guess.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.rise
    }

    /// Estimates the rise from the requests per CPU second of a contender and the others, block by
    /// block, and from the contender's slices. `None` if the noise may explain the rise, which is
    /// always so for a few blocks; if the others became slower instead, by the load generator's CPU
    /// time; and without another contender.
    #[must_use]
    pub fn of(own: &[f64], others: &[&[f64]], slices: &[&LoadInterval]) -> Option<Self> {
        let found = rise_over(&to_others(own, others)?, ERRORS)?;
        let to_generator = to_generator(slices)?;
        let is_its_own = to_generator.ln_1p() > found.guess.ln_1p() / 2.0;
        (found.least > 0.0 && is_its_own).then_some(Self {
            rise: found.guess,
            to_generator,
            blocks: own.len(),
        })
    }
}

/// Returns a contender's values, block by block, relative to the others' median in the same blocks,
/// which cancels effects of the host on all of them. `None` without another contender.
pub(crate) fn to_others(own: &[f64], others: &[&[f64]]) -> Option<Vec<f64>> {
    let ratios = own.iter().enumerate().map(|(block, own)| {
        let others = others.iter().map(|other| other.get(block).copied());
        Some(own / median(others.collect::<Option<Vec<f64>>>()?)?)
    });
    ratios.collect()
}

/// Returns the best guess of the growth of a contender's values relative to the others' median in
/// the same blocks, from the first block to the last. `None` without another contender, and with
/// too few blocks.
#[must_use]
pub fn growth_beside(own: &[f64], others: &[&[f64]]) -> Option<f64> {
    Some(rise_over(&to_others(own, others)?, 0.0)?.guess)
}

/// Returns the growth of the load generator's CPU time for each second of the contender's: twice
/// the growth from the first half of the slices to the last. `None` with fewer than two slices, and
/// if CPU time was not read.
fn to_generator(slices: &[&LoadInterval]) -> Option<f64> {
    let log = |slice: &&LoadInterval| {
        let own_us: u64 = slice.turns.iter().map(|turn| turn.own_cpu_us).sum();
        let generator_ns = slice.generator_cpu.total_ns();
        (own_us > 0 && generator_ns > 0).then(|| (as_f64(generator_ns) / as_f64(own_us)).ln())
    };
    let logs: Vec<f64> = slices.iter().map(log).collect::<Option<_>>()?;
    let half = logs.len() / 2;
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / length_as_f64(logs.len());
    let (first, last) = (&logs[..half], &logs[logs.len() - half..]);
    (half > 0).then(|| (2.0 * (mean(last) - mean(first))).exp_m1())
}

/// Returns the median; `None` for an empty list.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2] * values[values.len() / 2]).sqrt())
}

/// Whether the noise cannot explain the rise.
pub(crate) fn surely_rose(warmth: &Warmth) -> bool {
    warmth.rise_least > 0.0
}
