//! Conditions of `--fail-if`: `p99>50ms`, `errors>0.1%`, `rate<1000`.

use std::fmt;
use std::str::FromStr;

use bakeoff_model::parse;

use crate::commands::load_summary::Summary;

/// One condition on a finished load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    text: String,
    figure: Figure,
    above: bool,
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    /// A quantile of the response time (open load) or service time (closed load), ns.
    Quantile(f64),
    /// Share of failed requests, 0 to 1.
    Errors,
    /// Successful requests per second.
    Rate,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "--fail-if {text}: not a condition\n  hint: like p99>50ms, errors>0.1%, rate<1000"
            )
        };
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let figure = match name {
            "errors" => Figure::Errors,
            "rate" => Figure::Rate,
            "max" => Figure::Quantile(1.0),
            _ => Figure::Quantile(quantile(name).ok_or_else(wrong)?),
        };
        let bound = match figure {
            Figure::Quantile(_) => parse::duration(rest).map_err(|_| wrong())?.as_secs_f64() * 1e9,
            Figure::Rate => rest.parse().map_err(|_| wrong())?,
            Figure::Errors => match rest.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().map_err(|_| wrong())? / 100.0,
                None => rest.parse().map_err(|_| wrong())?,
            },
        };
        Ok(Self {
            text: text.to_owned(),
            figure,
            above: &text[at..=at] == ">",
            bound,
        })
    }
}

/// `p99` and `p99.9` as a share.
fn quantile(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
    // Rounded to what was typed: 99.9 / 100 is a little more than 0.999 otherwise.
    let share = (percent * 1e7).round() / 1e9;
    (percent > 0.0 && percent <= 100.0).then_some(share)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    /// What was found, when the condition holds. A figure that could not be measured, because no
    /// request succeeded, makes a bound on it hold: the service certainly did not keep it.
    pub(crate) fn holds(&self, summary: &Summary) -> Option<String> {
        let found = match self.figure {
            Figure::Quantile(share) => summary.quantile_ns(share),
            Figure::Errors => Some(summary.error_share()),
            Figure::Rate => Some(summary.requests_per_s()),
        };
        let Some(found) = found else {
            return Some("no request succeeded".to_owned());
        };
        let holds = if self.above {
            found > self.bound
        } else {
            found < self.bound
        };
        holds.then(|| match self.figure {
            Figure::Quantile(_) => format!("{:.3} ms", found / 1e6),
            Figure::Errors => format!("{:.3} %", found * 100.0),
            Figure::Rate => format!("{found:.0} requests/s"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Figure};

    #[test]
    fn conditions_are_read() {
        let check = |text: &str, figure, above, bound: f64| {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(
                (condition.figure, condition.above),
                (figure, above),
                "{text}"
            );
            assert!((condition.bound - bound).abs() < 1e-9 * bound, "{text}");
        };
        check("p99>50ms", Figure::Quantile(0.99), true, 50e6);
        check("p99.9 > 1s", Figure::Quantile(0.999), true, 1e9);
        check("errors>0.1%", Figure::Errors, true, 0.001);
        check("rate<1000", Figure::Rate, false, 1000.0);
        for wrong in ["", "p99", "p0>1ms", "p99>fast", "speed>1", "rate<many"] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }
}
