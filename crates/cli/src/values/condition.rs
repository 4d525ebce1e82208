//! Conditions of `--fail-if`: `p99>50ms`, `errors>0.1%`, `rate<1000`.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::number::as_f64;
use bakeoff_base::problem::Problem;
use bakeoff_model::record::totals::{Times, Totals};
use bakeoff_model::text::bound::{self, BoundText, ServedMetric, Sign};

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
    /// Of the response time (open load) or service time (closed load), or the failed requests.
    Served(ServedMetric),
    /// Successful requests per second.
    Rate,
}

impl FromStr for Condition {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = || "not a condition: write p99>50ms, errors>0.1% or rate<1000".to_owned();
        let BoundText { name, sign, limit } = BoundText::split(text).ok_or_else(wrong)?;
        let above = match sign {
            Sign::Above => true,
            Sign::Below => false,
            Sign::AtLeast | Sign::AtMost | Sign::Equal => return Err(wrong().into()),
        };
        let figure = match name {
            "rate" => LoadMetric::Rate,
            _ => LoadMetric::Served(ServedMetric::named(name).ok_or_else(wrong)?),
        };
        let bound = match figure {
            LoadMetric::Rate => bound::number(limit).ok_or_else(wrong)?,
            LoadMetric::Served(metric) => metric.limit(limit).map_err(|_| wrong())?,
        };
        if figure == LoadMetric::Served(ServedMetric::Errors) && bound > 1.0 {
            let meant = match limit.ends_with('%') {
                true => "errors>5% is one in twenty".to_owned(),
                false => format!("write {text}% for percent"),
            };
            return Err(format!("more than all requests: {meant}").into());
        }
        Ok(Self {
            text: text.to_owned(),
            figure,
            above,
            bound,
        })
    }
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
    pub(crate) fn holds(&self, totals: &Totals, times: &Times) -> Option<String> {
        let found = match self.figure {
            LoadMetric::Served(ServedMetric::Quantile(share)) => {
                times.stated().quantile_ns(share).map(as_f64)
            }
            LoadMetric::Served(ServedMetric::Errors) => totals.error_share(),
            LoadMetric::Rate => Some(totals.requests_per_s()),
        };
        let Some(found) = found else {
            return Some(if totals.ended() > 0 {
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
            LoadMetric::Served(ServedMetric::Quantile(_)) => format!("{:.3} ms", found / 1e6),
            LoadMetric::Served(ServedMetric::Errors) => format!("{:.3} %", found * 100.0),
            LoadMetric::Rate => format!("{found:.1} requests/s"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, LoadMetric, ServedMetric};

    fn quantile(share: f64) -> LoadMetric {
        LoadMetric::Served(ServedMetric::Quantile(share))
    }

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
        check("p99>50ms", quantile(0.99), true, 50e6);
        check("p99.9 > 1s", quantile(0.999), true, 1e9);
        check(
            "errors>0.1%",
            LoadMetric::Served(ServedMetric::Errors),
            true,
            0.001,
        );
        check(
            "errors>0.05",
            LoadMetric::Served(ServedMetric::Errors),
            true,
            0.05,
        );
        check(
            "errors<100%",
            LoadMetric::Served(ServedMetric::Errors),
            false,
            1.0,
        );
        check("rate<1000", LoadMetric::Rate, false, 1000.0);
        check("p99>0.5ms", quantile(0.99), true, 0.5e6);
    }

    #[test]
    fn what_no_figure_can_be_is_refused() {
        let check = |text: &str, expect: &str| {
            let problem = text.parse::<Condition>().unwrap_err();
            assert!(problem.message().contains(expect), "{text}: {problem}");
        };
        for wrong in [
            "",
            "p99",
            "p0>1ms",
            "p99>fast",
            "speed>1",
            "rate<many",
            "p99>=1s",
        ] {
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
