//! The grammar of bounds, as people write them: a name, a sign and a limit, `p99 <= 50ms`,
//! `errors>0.1%`, `slower>5%`. Which names and signs are allowed is the business of those who read
//! them: objectives ([`crate::suite::slo`]), conditions on head and base
//! ([`crate::plan::baseline`]) and conditions on a load.

use bakeoff_base::problem::Problem;

use super::units;

/// The sign between a name and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `>`
    Above,
    /// `=`
    Equal,
}

/// A bound in its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundText<'t> {
    /// The name, without spaces around it.
    pub name: &'t str,
    /// The sign.
    pub sign: Sign,
    /// The limit, without spaces around it.
    pub limit: &'t str,
}

impl<'t> BoundText<'t> {
    /// Splits a text at its first sign; `None` without one.
    #[must_use]
    pub fn split(text: &'t str) -> Option<Self> {
        // The longer signs first: `<` begins `<=`.
        const SIGNS: [(&str, Sign); 5] = [
            ("<=", Sign::AtMost),
            (">=", Sign::AtLeast),
            ("<", Sign::Below),
            (">", Sign::Above),
            ("=", Sign::Equal),
        ];
        let (name, rest) = text.split_at(text.find(['<', '>', '='])?);
        let (sign, limit) = SIGNS
            .into_iter()
            .find_map(|(written, sign)| Some((sign, rest.strip_prefix(written)?)))?;
        Some(Self {
            name: name.trim(),
            sign,
            limit: limit.trim(),
        })
    }
}

/// A metric of a service under load that can have a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServedMetric {
    /// A quantile of the times, 0 to 1: `p99`, `p99.9`, `max`. Its limit is a duration, in ns.
    Quantile(f64),
    /// `errors`, the share of failed requests, 0 to 1.
    Errors,
}

impl ServedMetric {
    /// Returns the metric of this name; `None` when there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "errors" => Some(Self::Errors),
            "max" => Some(Self::Quantile(1.0)),
            _ => quantile(name).map(Self::Quantile),
        }
    }

    /// Reads a limit of this metric, in its unit.
    ///
    /// # Errors
    /// A lower-case fragment that names the mistake.
    pub fn limit(self, text: &str) -> Result<f64, Problem> {
        match self {
            Self::Quantile(_) => Ok(units::duration(text)?.as_secs_f64() * 1e9),
            Self::Errors => share(text).ok_or_else(|| format!("{text:?} is not a share").into()),
        }
    }
}

/// `p99` and `p99.9` as a share; `None` for what is not a percentile.
fn quantile(name: &str) -> Option<f64> {
    let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
    // Rounded to what was typed: 99.9 / 100 is a little more than 0.999 otherwise.
    let share = (percent * 1e7).round() / 1e9;
    (percent > 0.0 && percent <= 100.0).then_some(share)
}

/// `0.1%` and `0.001` as a share; `None` for what is not a number, or is below zero.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => Some(number(percent)? / 100.0),
        None => number(text),
    }
}

/// A number that something can be compared with: finite, and not below zero.
#[must_use]
pub fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{BoundText, ServedMetric, Sign};

    #[test]
    fn bounds_are_split_at_their_sign() {
        let check = |text: &str, name: &str, sign: Sign, limit: &str| {
            assert_eq!(
                BoundText::split(text),
                Some(BoundText { name, sign, limit }),
                "{text}"
            );
        };
        check("p99<=50ms", "p99", Sign::AtMost, "50ms");
        check(" slower > 5% ", "slower", Sign::Above, "5%");
        check("rate<1000", "rate", Sign::Below, "1000");
        check("rate >= 1000", "rate", Sign::AtLeast, "1000");
        check("errors=0", "errors", Sign::Equal, "0");
        check("a>b<=c", "a", Sign::Above, "b<=c");
        assert_eq!(BoundText::split("p99"), None);
    }

    #[test]
    fn limits_have_the_unit_of_their_metric() {
        let check = |name: &str, text: &str, expect: Result<f64, &str>| {
            let limit = ServedMetric::named(name).unwrap().limit(text);
            assert_eq!(limit, expect.map_err(Into::into), "{name} {text}");
        };
        check("p99.9", "50ms", Ok(50e6));
        check("max", "1s", Ok(1e9));
        check("errors", "0.1 %", Ok(0.001));
        check("errors", "0.05", Ok(0.05));
        check("errors", "few", Err("\"few\" is not a share"));
        check("errors", "-1%", Err("\"-1%\" is not a share"));
        check(
            "p50",
            "50",
            Err("\"50\" is a duration without a unit: write 50s"),
        );
        for wrong in ["p0", "p101", "99", "rate", ""] {
            assert_eq!(ServedMetric::named(wrong), None, "{wrong}");
        }
    }
}
