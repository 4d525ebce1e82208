//! A small random generator whose sequence is part of this crate's interface: the same seed gives
//! the same intervals in every version and on every machine. Not for secrets.

/// SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014): a Weyl sequence through a 64-bit mixing function.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator at the beginning of the sequence that belongs to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`, all equally likely; 0 when `bound` is 0. Draws that would favour
    /// small numbers are thrown away (Lemire, "Fast Random Integer Generation in an Interval",
    /// TOMACS 2019).
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let unfair = if bound == 0 {
            0
        } else {
            bound.wrapping_neg() % bound
        };
        loop {
            let wide = u128::from(self.next_bits()) * u128::from(bound);
            // The low half decides whether the draw is fair, the high half is the number.
            let low = wide & u128::from(u64::MAX);
            if low >= u128::from(unfair) {
                return usize::try_from(wide >> 64).expect("it is below a bound that is a usize");
            }
        }
    }

    /// A number in `[0, 1)` with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.next_bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts `values` in a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = self.below(last + 1);
            values.swap(last, other);
        }
    }
}
