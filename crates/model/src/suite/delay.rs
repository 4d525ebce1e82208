//! The delay of the replay backend's responses.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::text::units::duration;

/// How long a response is held back. In files and on command lines it is one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Delay {
    /// Not at all.
    #[default]
    None,
    /// One of the durations recorded with the exchange, each as likely as the others; not at all if
    /// none was recorded.
    Recorded,
    /// Always the same.
    Constant(Duration),
    /// Exponentially distributed, as behind a queue.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Log-normally distributed, as the response times of most real services are.
    LogNormal {
        /// The median.
        median: Duration,
        /// Standard deviation of the logarithm: at 1, p99 is ten times the median.
        sigma: f64,
    },
}

impl Delay {
    /// Whether responses are not held back.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl FromStr for Delay {
    type Err = Problem;

    /// Reads `none`, `recorded`, `constant:10ms`, `exponential:10ms` or `log-normal:10ms,0.5`.
    fn from_str(text: &str) -> Result<Self, Problem> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "recorded" => Ok(Self::Recorded),
            Some(("constant", time)) => duration(time).map(Self::Constant),
            Some(("exponential", time)) => duration(time).map(|mean| Self::Exponential { mean }),
            Some(("log-normal", parameters)) => log_normal(parameters),
            _ => Err(format!(
                "{text:?} is not a delay: none, recorded, constant:TIME, exponential:MEAN or \
                 log-normal:MEDIAN,SIGMA"
            )
            .into()),
        }
    }
}

fn log_normal(parameters: &str) -> Result<Delay, Problem> {
    /// Beyond this, one response in a hundred waits for more than 10,000 medians.
    const SIGMA_MAX: f64 = 4.0;
    let (median, sigma) = parameters
        .split_once(',')
        .ok_or_else(|| format!("log-normal:{parameters} has no sigma, as in log-normal:5ms,0.5"))?;
    let median = duration(median)?;
    match sigma.trim().parse::<f64>() {
        Ok(sigma) if sigma > 0.0 && sigma <= SIGMA_MAX => Ok(Delay::LogNormal { median, sigma }),
        _ => Err(format!("{sigma:?} is not a sigma: a number above 0, up to {SIGMA_MAX}").into()),
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "none"),
            Self::Recorded => write!(f, "recorded"),
            Self::Constant(time) => write!(f, "constant:{}", text(*time)),
            Self::Exponential { mean } => write!(f, "exponential:{}", text(*mean)),
            Self::LogNormal { median, sigma } => {
                write!(f, "log-normal:{},{sigma}", text(*median))
            }
        }
    }
}

/// A duration in the largest unit in which it is whole.
fn text(duration: Duration) -> String {
    let ns = duration.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let fits = units.iter().find(|(unit, _)| ns.is_multiple_of(*unit));
    fits.map_or_else(
        || format!("{ns}ns"),
        |(unit, name)| format!("{}{name}", ns / unit),
    )
}

impl From<Delay> for String {
    fn from(delay: Delay) -> Self {
        delay.to_string()
    }
}

impl TryFrom<String> for Delay {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Delay;

    #[test]
    fn delays_are_read_as_they_are_written() {
        for text in [
            "none",
            "recorded",
            "constant:10ms",
            "constant:1s",
            "exponential:250us",
            "exponential:1500ns",
            "log-normal:5ms,0.5",
        ] {
            assert_eq!(text.parse::<Delay>().unwrap().to_string(), text);
        }
        let constant = Delay::Constant(Duration::from_millis(1500));
        assert_eq!("constant:1.5s".parse(), Ok(constant));
    }

    #[test]
    fn what_is_no_delay_is_refused() {
        for text in [
            "",
            "constant",
            "constant:",
            "constant:10",
            "normal:1ms",
            "none:1ms",
            "log-normal:1ms",
            "log-normal:1ms,0",
            "log-normal:1ms,-1",
            "log-normal:1ms,9",
            "log-normal:1ms,NaN",
        ] {
            assert!(text.parse::<Delay>().is_err(), "{text}");
        }
    }
}
