//! Whether cores are separate or hyper-threads of one physical core, as far as it was measured.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much slower a core of the contender is while the load generator's cores work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreSharing {
    /// The core of the contender that lost the most.
    pub contender: usize,
    /// The cores of the load generator, which all worked or were all idle.
    pub generator: Vec<usize>,
    /// Share of its speed that the contender's core lost, the median over all window pairs: near 0
    /// for separate cores, 0.3 to 0.5 for hyper-threads of one core. Noise can make it negative.
    pub slowdown: f64,
    /// The lower and the upper quartile of the pairs.
    pub quartiles: [f64; 2],
}

impl CoreSharing {
    /// A slowdown up to this one is what turbo clocks and noise explain.
    pub const SEPARATE: f64 = 0.05;
    /// A slowdown above this one is that of two hyper-threads of one core.
    pub const ONE_CORE: f64 = 0.15;

    /// Share of its speed that the contender's core lost in three of four window pairs.
    /// Hyper-threads of one core lose it in all pairs; a loss in only some is another
    /// disturbance's.
    #[must_use]
    pub fn steady(&self) -> f64 {
        self.slowdown.min(self.quartiles[0])
    }

    /// Returns what the slowdown means, as a fragment.
    fn meaning(&self) -> &'static str {
        if self.steady() > Self::ONE_CORE {
            "these two cores are one physical core"
        } else if self.slowdown > Self::ONE_CORE {
            "not in all windows, as of one physical core, so something else disturbs them"
        } else if self.slowdown > Self::SEPARATE {
            "more than turbo clocks explain, less than hyper-threads of one core lose"
        } else {
            "separate physical cores"
        }
    }
}

/// A lower-case fragment with the numbers.
impl fmt::Display for CoreSharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.generator.iter().map(usize::to_string).collect();
        let (cores, work) = match self.generator.len() {
            1 => ("core", "works"),
            _ => ("cores", "work"),
        };
        let change = if self.slowdown < 0.0 {
            "faster"
        } else {
            "slower"
        };
        let [lower, upper] = self.quartiles.map(|quartile| quartile * 100.0);
        write!(
            f,
            "the contender's core {} is {:.1} % {change} while the load generator's {cores} {} \
             {work} (slowdown by quartiles {lower:.1} and {upper:.1} %): {}",
            self.contender,
            self.slowdown.abs() * 100.0,
            numbers.join(","),
            self.meaning()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::CoreSharing;

    fn check(slowdown: f64, generator: &[usize], expect: &str) {
        let sharing = CoreSharing {
            contender: 0,
            generator: generator.to_vec(),
            slowdown,
            quartiles: [slowdown - 0.01, slowdown + 0.02],
        };
        assert_eq!(sharing.to_string(), expect);
    }

    #[test]
    fn a_slowdown_is_said_in_words() {
        check(
            -0.002,
            &[1],
            "the contender's core 0 is 0.2 % faster while the load generator's core 1 works \
             (slowdown by quartiles -1.2 and 1.8 %): separate physical cores",
        );
        check(
            0.07,
            &[2, 3],
            "the contender's core 0 is 7.0 % slower while the load generator's cores 2,3 work \
             (slowdown by quartiles 6.0 and 9.0 %): more than turbo clocks explain, less than \
             hyper-threads of one core lose",
        );
        let disturbed = CoreSharing {
            contender: 0,
            generator: vec![1],
            slowdown: 0.245,
            quartiles: [0.001, 0.516],
        };
        let text = disturbed.to_string();
        assert!(text.ends_with("so something else disturbs them"), "{text}");
        check(
            0.41,
            &[1],
            "the contender's core 0 is 41.0 % slower while the load generator's core 1 works \
             (slowdown by quartiles 40.0 and 43.0 %): these two cores are one physical core",
        );
    }
}
