//! Conditions of `--fail-if`: `p99>50ms`, `errors>0.1%`, `rate<1000`.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::number::as_f64;
use bakeoff_base::problem::Problem;
use bakeoff_model::{parse, slo};

use super::summary::Summary;

/// One condition on a finished load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    text: String,
    figure: LoadMetric,
    above: bool,
    bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LoadMetric {
    /// A quantile of the response time (open load) or service time (closed load), ns.
    Quantile(f64),
    /// Share of failed requests, 0 to 1.
    Errors,
    /// Successful requests per second.
    Rate,
}

impl FromStr for Condition {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || "not a condition: write p99>50ms, errors>0.1% or rate<1000".to_owned();
        let at = text.find(['<', '>']).ok_or_else(wrong)?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let figure = match name {
            "errors" => LoadMetric::Errors,
            "rate" => LoadMetric::Rate,
            "max" => LoadMetric::Quantile(1.0),
            _ => LoadMetric::Quantile(slo::quantile(name).ok_or_else(wrong)?),
        };
        let bound = match figure {
            LoadMetric::Quantile(_) => {
                parse::duration(rest).map_err(|_| wrong())?.as_secs_f64() * 1e9
            }
            LoadMetric::Rate => number(rest).ok_or_else(wrong)?,
            LoadMetric::Errors => slo::share(rest).ok_or_else(wrong)?,
        };
        if figure == LoadMetric::Errors && bound > 1.0 {
            let meant = match rest.ends_with('%') {
                true => "errors>5% is one in twenty".to_owned(),
                false => format!("write {text}% for percent"),
            };
            return Err(format!("more than all requests: {meant}").into());
        }
        Ok(Self {
            text: text.to_owned(),
            figure,
            above: &text[at..=at] == ">",
            bound,
        })
    }
}

/// A number that a metric can be compared with.
fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    /// Returns the measured value, when the condition holds. A metric that could not be measured,
    /// because no request succeeded, makes a bound on it hold: the service certainly did not keep
    /// it.
    pub(crate) fn holds(&self, summary: &Summary) -> Option<String> {
        let found = match self.figure {
            LoadMetric::Quantile(share) => summary.times.stated().quantile_ns(share).map(as_f64),
            LoadMetric::Errors => summary.totals.error_share(),
            LoadMetric::Rate => Some(summary.totals.requests_per_s()),
        };
        let Some(found) = found else {
            return Some(if summary.totals.ended() > 0 {
                "no request succeeded".to_owned()
            } else {
                "no request came to an end".to_owned()
            });
        };
        let holds = if self.above {
            found > self.bound
        } else {
            found < self.bound
        };
        holds.then(|| match self.figure {
            LoadMetric::Quantile(_) => format!("{:.3} ms", found / 1e6),
            LoadMetric::Errors => format!("{:.3} %", found * 100.0),
            LoadMetric::Rate => format!("{found:.1} requests/s"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, LoadMetric};

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
        check("p99>50ms", LoadMetric::Quantile(0.99), true, 50e6);
        check("p99.9 > 1s", LoadMetric::Quantile(0.999), true, 1e9);
        check("errors>0.1%", LoadMetric::Errors, true, 0.001);
        check("errors>0.05", LoadMetric::Errors, true, 0.05);
        check("errors<100%", LoadMetric::Errors, false, 1.0);
        check("rate<1000", LoadMetric::Rate, false, 1000.0);
        check("p99>0.5ms", LoadMetric::Quantile(0.99), true, 0.5e6);
    }

    #[test]
    fn what_no_figure_can_be_is_refused() {
        let check = |text: &str, expect: &str| {
            let problem = text.parse::<Condition>().unwrap_err();
            assert!(problem.message().contains(expect), "{text}: {problem}");
        };
        for wrong in ["", "p99", "p0>1ms", "p99>fast", "speed>1", "rate<many"] {
            check(wrong, "not a condition");
        }
        for wrong in ["rate<nan", "rate<inf", "rate<-1", "errors>NaN%", "p99>inf"] {
            check(wrong, "not a condition");
        }
        check("errors>5", "write errors>5% for percent");
        check("errors > 5", "write errors > 5% for percent");
        check("errors>500%", "more than all requests");
    }
}
