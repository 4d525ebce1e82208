//! How long a turn has to be. Pure.

use bakeoff_model::load::Turns;

/// How many times as long as the slowest side's drain a turn is: then the drain, in which fewer and
/// fewer requests are in flight, is less than a tenth of it.
const DRAINS: u64 = 10;

/// Weight of the newest turn of a side in the mean of its drains: one in so many.
const MEMORY: u64 = 8;

/// Follows the drains of all sides.
#[derive(Debug)]
pub(super) struct Length {
    bounds: Turns,
    /// Mean of the drains of each side, ns; 0 before its first turn.
    drains_ns: Vec<u64>,
    length_ns: u64,
}

impl Length {
    /// That of sides which had no turn yet.
    pub(super) fn new(bounds: Turns, sides: usize) -> Self {
        Self {
            bounds,
            drains_ns: vec![0; sides],
            length_ns: bounds.shortest_ns,
        }
    }

    /// Takes the drain of a turn.
    pub(super) fn add(&mut self, side: usize, drain_ns: u64) {
        let mean = &mut self.drains_ns[side];
        *mean = match *mean {
            0 => drain_ns,
            mean => (mean * (MEMORY - 1) + drain_ns) / MEMORY,
        };
    }

    /// The length of the turns of the next block, ns. It becomes longer at once, and shorter only
    /// by a half, so that neighbouring blocks are alike.
    pub(super) fn next(&mut self) -> u64 {
        let slowest_ns = self.drains_ns.iter().copied().max().unwrap_or(0);
        let bounds = self.bounds;
        let longest_ns = bounds.longest_ns.max(bounds.shortest_ns);
        let wanted_ns = (slowest_ns * DRAINS).clamp(bounds.shortest_ns, longest_ns);
        if wanted_ns > self.length_ns || wanted_ns < self.length_ns / 2 {
            self.length_ns = wanted_ns;
        }
        self.length_ns
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::Turns;

    use super::Length;

    #[test]
    fn turns_are_long_against_the_slowest_drain() {
        let bounds = Turns {
            shortest_ns: 20,
            longest_ns: 500,
        };
        let mut length = Length::new(bounds, 2);
        assert_eq!(length.next(), 20);
        length.add(0, 1);
        assert_eq!(length.next(), 20);
        length.add(1, 9);
        assert_eq!(length.next(), 90);
        // A little faster: as it was.
        length.add(1, 1);
        assert_eq!(length.next(), 90);
        for _ in 0..20 {
            length.add(1, 1);
        }
        assert_eq!(length.next(), 20);
        length.add(0, 1000);
        assert_eq!(length.next(), 500);
    }
}
