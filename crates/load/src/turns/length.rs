//! The length of a turn. Pure.

use bakeoff_model::load::Turns;

/// Ratio of a turn's length to the slowest side's drain, which makes the drain, in which fewer and
/// fewer requests are in flight, less than a tenth of it.
const DRAINS: u64 = 10;

/// Number of turns that the mean of a side's drains remembers: after that the newest one has the
/// inverse as its weight.
const MEMORY: u64 = 8;

/// Follows the drains of all sides.
#[derive(Debug)]
pub(super) struct Length {
    bounds: Turns,
    /// The drains of each side.
    drains: Vec<Drains>,
    length_ns: u64,
}

/// The mean of the drains of a side.
#[derive(Debug, Clone, Copy, Default)]
struct Drains {
    /// Number of turns in the mean.
    turns: u64,
    mean_ns: u64,
}

impl Length {
    /// Returns the length for sides without a turn yet.
    pub(super) fn new(bounds: Turns, sides: usize) -> Self {
        Self {
            bounds,
            drains: vec![Drains::default(); sides],
            length_ns: bounds.shortest_ns,
        }
    }

    /// Takes the drain of a turn.
    pub(super) fn add(&mut self, side: usize, drain_ns: u64) {
        let drains = &mut self.drains[side];
        drains.turns = (drains.turns + 1).min(MEMORY);
        drains.mean_ns = (drains.mean_ns * (drains.turns - 1) + drain_ns) / drains.turns;
    }

    /// Returns the length of the turns of these sides in the next block, ns. It becomes longer
    /// immediately, and shorter only by a half, so that neighbouring blocks are alike.
    pub(super) fn next(&mut self, sides: &[usize]) -> u64 {
        let means_ns = sides.iter().map(|side| self.drains[*side].mean_ns);
        let slowest_ns = means_ns.max().unwrap_or(0);
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
        assert_eq!(length.next(&[0, 1]), 20);
        length.add(0, 1);
        assert_eq!(length.next(&[0, 1]), 20);
        length.add(1, 9);
        assert_eq!(length.next(&[0, 1]), 90);
        // A little faster: as it was.
        length.add(1, 1);
        assert_eq!(length.next(&[0, 1]), 90);
        for _ in 0..20 {
            length.add(1, 1);
        }
        assert_eq!(length.next(&[0, 1]), 20);
        length.add(0, 1000);
        assert_eq!(
            length.next(&[1]),
            20,
            "the other one may not be loaded any more"
        );
        assert_eq!(length.next(&[0, 1]), 500);
    }

    #[test]
    fn no_single_turn_has_more_weight_than_those_before_it() {
        let bounds = Turns {
            shortest_ns: 20,
            longest_ns: 10_000,
        };
        let mut length = Length::new(bounds, 2);
        // Side 0 is gone for a while, and returns with a response that took long.
        for _ in 0..7 {
            length.add(0, 0);
        }
        length.add(0, 80);
        assert_eq!(length.next(&[0, 1]), 100);
        let mut length = Length::new(bounds, 2);
        // A pause in the first turn.
        length.add(0, 840);
        for _ in 1..8 {
            length.add(0, 0);
        }
        assert_eq!(length.next(&[0, 1]), 1050);
    }
}
