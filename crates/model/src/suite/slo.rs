//! Objectives of a service under load, as people write them: `p99 <= 50ms and errors <= 0.1%`.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::number::as_f64;
use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::histogram::Histogram;
use crate::text::bound::{BoundText, ServedMetric, Sign};

/// How to write a service level objective, for hints.
pub(crate) const HINT: &str =
    "bounds of percentiles and errors, joined by `and`: \"p99 <= 50ms and errors <= 0.1%\"";

/// A service level objective: bounds that hold together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slo {
    bounds: Vec<Bound>,
}

/// One bound, with its words.
#[derive(Debug, Clone, PartialEq)]
struct Bound {
    metric: ServedMetric,
    at_most: f64,
    name: String,
    limit: String,
}

/// The service in a stretch of load: its times and errors.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// Requests that succeeded.
    pub successes: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Response times of the successful ones, and ages of those without a response: these take at
    /// least this long. `None` when there was no request.
    pub times: Option<Histogram>,
}

/// The outcome of an objective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// Whether all bounds hold.
    pub all: bool,
    /// The measured values, in the order of the bounds: `p99 48.2 ms, errors 0 %`.
    pub found: String,
}

impl Slo {
    /// Judges whether what was served meets all bounds; if there is nothing to look at, it does
    /// not.
    #[must_use]
    pub fn judge(&self, served: &Served) -> Met {
        let mut met = Met {
            all: true,
            found: String::new(),
        };
        for bound in &self.bounds {
            let value = measured(bound.metric, served);
            met.all &= value.is_some_and(|value| value <= bound.at_most);
            if !met.found.is_empty() {
                met.found.push_str(", ");
            }
            let text = match (bound.metric, value) {
                (_, None) => "unknown".to_owned(),
                (ServedMetric::Quantile(_), Some(ns)) => format!("{:.2} ms", ns / 1e6),
                (ServedMetric::Errors, Some(share)) => percent(share),
            };
            met.found.push_str(&format!("{} {text}", bound.name));
        }
        met
    }
}

/// `0 %`, `0.013 %`, `12 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent < 1.0 { 3 } else { 1 };
    match share > 0.0 {
        true => format!("{percent:.decimals$} %"),
        false => "0 %".to_owned(),
    }
}

fn measured(metric: ServedMetric, served: &Served) -> Option<f64> {
    match metric {
        ServedMetric::Quantile(share) => served.times.as_ref()?.quantile_ns(share).map(as_f64),
        ServedMetric::Errors => {
            let ended = served.successes + served.failures;
            (ended > 0).then(|| as_f64(served.failures) / as_f64(ended))
        }
    }
}

impl FromStr for Slo {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let bounds: Result<Vec<Bound>, Problem> = text.split(" and ").map(bound).collect();
        bounds.map(|bounds| Self { bounds })
    }
}

impl TryFrom<String> for Slo {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Slo> for String {
    fn from(slo: Slo) -> Self {
        slo.to_string()
    }
}

impl JsonSchema for Slo {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Slo".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Bounds of percentiles and errors, joined by `and`: \
                            `p99 <= 50ms and errors <= 0.1%`.",
        })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = self.bounds.iter();
        let texts = bounds.map(|bound| format!("{} <= {}", bound.name, bound.limit));
        f.write_str(&texts.collect::<Vec<_>>().join(" and "))
    }
}

fn bound(text: &str) -> Result<Bound, Problem> {
    let text = text.trim();
    let Some(BoundText { name, sign, limit }) = BoundText::split(text) else {
        return Err(format!("{text:?} is not a bound: it has no `<=`").into());
    };
    if sign != Sign::AtMost {
        return Err(format!("{text:?} has another sign than `<=`").into());
    }
    let metric = ServedMetric::named(name)
        .ok_or_else(|| format!("{name:?} is neither a percentile, nor `max`, nor `errors`"))?;
    let at_most = metric.limit(limit)?;
    if metric == ServedMetric::Errors && at_most >= 1.0 {
        return Err(format!("{text:?} always holds: 0.1% is one in a thousand").into());
    }
    Ok(Bound {
        metric,
        at_most,
        name: name.to_owned(),
        limit: limit.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Met, Served, Slo};
    use crate::load::histogram::Histogram;

    #[test]
    fn objectives_are_read_and_written() {
        let check = |text: &str, expect: &str| {
            let slo: Slo = text.parse().unwrap();
            assert_eq!(slo.to_string(), expect);
            let json = serde_json::to_string(&slo).unwrap();
            assert_eq!(serde_json::from_str::<Slo>(&json).unwrap(), slo);
        };
        check("p99<=50ms", "p99 <= 50ms");
        check(
            " p99.9 <=  1.5s and errors<= 0.1% ",
            "p99.9 <= 1.5s and errors <= 0.1%",
        );
        check("max <= 1s and errors <= 0", "max <= 1s and errors <= 0");
    }

    #[test]
    fn what_is_no_objective_is_a_sentence() {
        let check = |text: &str, expect: &str| {
            let message = text.parse::<Slo>().unwrap_err();
            assert_eq!(message, expect.into());
        };
        check("", "\"\" is not a bound: it has no `<=`");
        check("fast", "\"fast\" is not a bound: it has no `<=`");
        check("p99 < 50ms", "\"p99 < 50ms\" has another sign than `<=`");
        check("p99 >= 50ms", "\"p99 >= 50ms\" has another sign than `<=`");
        check(
            "rate <= 5",
            "\"rate\" is neither a percentile, nor `max`, nor `errors`",
        );
        check(
            "p101 <= 5ms",
            "\"p101\" is neither a percentile, nor `max`, nor `errors`",
        );
        check(
            "p99 <= 50",
            "\"50\" is a duration without a unit: write 50s",
        );
        check("p99 <= 5ms and ", "\"\" is not a bound: it has no `<=`");
        check("errors <= few", "\"few\" is not a share");
        check(
            "errors <= 1",
            "\"errors <= 1\" always holds: 0.1% is one in a thousand",
        );
    }

    #[test]
    fn requests_without_a_response_take_at_least_their_age() {
        let slo: Slo = "p99 <= 50ms and errors <= 1%".parse().unwrap();
        let check = |fast: u64, slow: u64, failures: u64, all: bool, found: &str| {
            let mut times = Histogram::new();
            (0..fast).for_each(|_| times.record(10_000_000));
            // As they are at the end of a step that left them waiting.
            (0..slow).for_each(|_| times.record(900_000_000));
            let served = Served {
                successes: fast,
                failures,
                times: Some(times),
            };
            let found = found.to_owned();
            assert_eq!(slo.judge(&served), Met { all, found });
        };
        check(990, 10, 0, true, "p99 10.00 ms, errors 0 %");
        check(980, 20, 0, false, "p99 900.20 ms, errors 0 %");
        check(990, 0, 10, true, "p99 10.00 ms, errors 1.0 %");
        check(990, 0, 11, false, "p99 10.00 ms, errors 1.1 %");
        let nothing = slo.judge(&Served::default());
        assert_eq!(
            (nothing.all, nothing.found.as_str()),
            (false, "p99 unknown, errors unknown")
        );
    }
}
