//! A small random generator whose sequence is part of this crate's interface: the same seed gives
//! the same plan, schedule and intervals in every version and on every machine, which libraries
//! do not promise. Not for secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::number::as_f64;

/// The step of SplitMix64's Weyl sequence: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014): a Weyl sequence through a 64-bit mixing function.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns a generator at the start of the sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mixed(self.state)
    }

    /// Returns a number in `0..bound`, all equally likely; 0 if `bound` is 0. Draws that would
    /// favour small numbers are discarded (Lemire, "Fast Random Integer Generation in an Interval",
    /// TOMACS 2019).
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let unfair = if bound == 0 {
            0
        } else {
            bound.wrapping_neg() % bound
        };
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            // The low half decides whether the draw is fair, the high half is the number.
            let low = wide & u128::from(u64::MAX);
            if low >= u128::from(unfair) {
                return usize::try_from(wide >> 64).expect("it is below a bound that is a usize");
            }
        }
    }

    /// Returns a number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        as_f64(self.bits() >> 11) / as_f64(1 << 53)
    }

    /// Returns a sample of the exponential distribution with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -self.above_zero().ln()
    }

    /// Returns a sample of the normal distribution with mean 0 and deviation 1 (Box and Muller
    /// 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Returns a number in `(0, 1]` with 53 random bits: its logarithm is finite.
    #[inline]
    fn above_zero(&mut self) -> f64 {
        as_f64((self.bits() >> 11) + 1) / as_f64(1 << 53)
    }

    /// Puts `values` in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = self.below(last + 1);
            values.swap(last, other);
        }
    }
}

/// A generator shared by several threads, which take their numbers from one sequence.
#[derive(Debug)]
pub struct SharedRandom {
    state: AtomicU64,
}

impl SharedRandom {
    /// Returns a generator at the start of the sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }

    /// Returns the next 64 random bits.
    pub fn bits(&self) -> u64 {
        mixed(
            self.state
                .fetch_add(STEP, Ordering::Relaxed)
                .wrapping_add(STEP),
        )
    }

    /// Returns a separate generator, whose sequence starts at the next number of this one.
    #[must_use]
    pub fn split(&self) -> Random {
        Random::new(self.bits())
    }
}

#[inline]
fn mixed(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Random, SharedRandom};

    #[test]
    fn the_sequence_is_the_published_one() {
        // The first numbers of the authors' own implementation with seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected: [u64; 3] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!([random.bits(), random.bits(), random.bits()], expected);
    }

    #[test]
    fn a_shared_generator_has_the_same_sequence() {
        let (mut own, shared) = (Random::new(5), SharedRandom::new(5));
        for _ in 0..3 {
            assert_eq!(own.bits(), shared.bits());
        }
    }

    #[test]
    fn samples_have_the_moments_of_their_distributions() {
        const DRAWS: u32 = 100_000;
        let mut random = Random::new(7);
        let mut moments = |draw: fn(&mut Random) -> f64| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..DRAWS {
                let value = draw(&mut random);
                sum += value;
                squares += value * value;
            }
            (sum / f64::from(DRAWS), squares / f64::from(DRAWS))
        };
        // Mean and mean square; the standard errors are below 1.5 %, and the seed is fixed.
        let check = |(mean, square): (f64, f64), expected: (f64, f64)| {
            assert!((mean - expected.0).abs() < 0.02, "{mean}");
            assert!((square - expected.1).abs() < 0.06, "{square}");
        };
        check(moments(Random::unit), (0.5, 1.0 / 3.0));
        check(moments(Random::exponential), (1.0, 2.0));
        check(moments(Random::normal), (0.0, 1.0));
    }

    #[test]
    fn every_number_below_a_bound_is_drawn() {
        let mut random = Random::new(3);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[random.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(random.below(0), 0);
    }
}
