//! A load that several load generators make together: which part of it each of them makes.
//!
//! Nothing is divided, so nothing can get lost in rounding: connections, scheduled requests, users
//! and feed values are numbered over the whole load, and a part has every `of`-th of them. The
//! parts together are the load of one load generator, whatever their number.

use bakeoff_base::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LoadSpec;

/// One of the parts of a load: what has a number that is `index` modulo `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPart {
    /// Which part, from 0.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl LoadPart {
    /// The whole load as its only part.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// The part of this part that is `part` of it.
    #[must_use]
    pub fn part(self, part: Self) -> Self {
        Self {
            index: part.index * self.of + self.index,
            of: part.of * self.of,
        }
    }

    /// How many of `count` things, which are numbered from 0, are in this part.
    #[must_use]
    pub fn share_of(self, count: u64) -> u64 {
        let (index, of) = (u64::from(self.index), u64::from(self.of.max(1)));
        count / of + u64::from(count % of > index)
    }

    /// How many of `connections` are in this part.
    #[must_use]
    pub fn connections_of(self, connections: u32) -> u32 {
        let share = self.share_of(u64::from(connections));
        u32::try_from(share).unwrap_or(connections)
    }

    /// The number over all parts of the thing that is the `nth` of this part, from 0.
    #[inline]
    #[must_use]
    pub fn number(self, nth: u64) -> u64 {
        let first = u64::from(self.index);
        nth.wrapping_mul(u64::from(self.of)).wrapping_add(first)
    }

    /// Number, over all parts, of the `nth` scheduled request of this part. Request n belongs to
    /// connection n modulo all, so each connection has the same rate; `None` if no connection is in
    /// this part.
    #[inline]
    #[must_use]
    pub fn request(self, nth: u64, connections: u64) -> Option<u64> {
        if self == Self::WHOLE {
            return Some(nth);
        }
        let own = self.share_of(connections);
        let (round, connection) = (nth.checked_div(own)?, nth.checked_rem(own)?);
        Some(round * connections + self.number(connection))
    }

    /// How many of the first `count` requests of a schedule are in this part.
    #[must_use]
    pub fn requests_of(self, count: u64, connections: u64) -> u64 {
        let connections = connections.max(1);
        let (rounds, rest) = (count / connections, count % connections);
        rounds * self.share_of(connections) + self.share_of(rest)
    }

    /// Which of `count` values the `nth` user of this part has. The parts go round values of their
    /// own, so that no two ever share one, unless there are fewer values than parts.
    #[inline]
    #[must_use]
    pub fn value(self, nth: u64, count: u64) -> u64 {
        match self.share_of(count) {
            0 => self.number(nth) % count.max(1),
            own => self.number(nth % own),
        }
    }
}

impl LoadSpec {
    /// Returns the load spec of a part. Its seed is the output of SplitMix64 at the part's index,
    /// started with the seed of the whole; the rest is unchanged, steps included. A load in a
    /// single part is returned as it is.
    #[must_use]
    pub fn part(&self, part: LoadPart) -> Self {
        if part.of <= 1 {
            return self.clone();
        }
        let mut random = Random::new(self.seed);
        for _ in 0..part.index {
            random.bits();
        }
        Self {
            part: Some(self.own_part().part(part)),
            seed: random.bits(),
            ..self.clone()
        }
    }

    /// The load specs of all parts of this load.
    #[must_use]
    pub fn parts(&self, of: u32) -> Vec<Self> {
        let parts = (0..of).map(|index| self.part(LoadPart { index, of }));
        parts.collect()
    }

    /// Which part of a load it is.
    #[must_use]
    pub fn own_part(&self) -> LoadPart {
        self.part.unwrap_or(LoadPart::WHOLE)
    }
}
