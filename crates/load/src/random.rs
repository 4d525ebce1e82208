//! A small seeded generator (SplitMix64; Steele, Lea and Flood 2014): the same spec gives the
//! same schedule on every host, which a library's generator would not promise across versions.

/// The state of one generator.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator that starts with `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A sample of the exponential distribution with mean 1.
    #[inline]
    pub(crate) fn exponential(&mut self) -> f64 {
        // 53 bits, from just above 0 to 1 inclusive, so that the logarithm is finite.
        let uniform = ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        -uniform.ln()
    }
}
