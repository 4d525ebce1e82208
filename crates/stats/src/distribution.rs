//! Student's, the normal, the chi-squared and Fisher's F distribution, to about ten digits. Nothing
//! else.

use std::f64::consts::PI;

/// Returns the probability that a variable with Student's distribution of `freedom` degrees of
/// freedom (not necessarily whole) is at most `t`.
#[must_use]
pub fn student_cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// Returns the value below which such a variable lies with probability `p`; infinite at 0 and 1.
#[must_use]
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    invert(p, |t| student_cdf(t, freedom))
}

/// Returns the probability that a variable with Fisher's F distribution of these degrees of freedom
/// is above `ratio`, which is not negative.
pub(crate) fn f_above(ratio: f64, (above, below): (f64, f64)) -> f64 {
    incomplete_beta(below / (below + above * ratio), below / 2.0, above / 2.0)
}

/// Returns the probability that a standard normal variable is at most `z`.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    let inside = incomplete_gamma(0.5, z * z / 2.0);
    0.5 * if z < 0.0 { 1.0 - inside } else { 1.0 + inside }
}

/// Returns the value below which the sum of squares of `freedom` standard normal variables (not
/// necessarily whole) lies with probability `p`; 0 at 0, infinite at 1.
#[must_use]
pub fn chi_squared_quantile(p: f64, freedom: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let cdf = |x: f64| incomplete_gamma(freedom / 2.0, x / 2.0);
    let (mut low, mut high) = (0.0, freedom.max(1.0));
    while cdf(high) < p {
        (low, high) = (high, high * 2.0);
    }
    // Halving cannot fail, and only a handful of steps is needed.
    while high - low > 1e-13 * high {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            break;
        }
        match cdf(middle) < p {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// The density of the root of such a sum divided by `freedom`: of an estimated standard deviation
/// as a share of the true one.
pub(crate) fn deviation_density(share: f64, freedom: f64) -> f64 {
    if share <= 0.0 {
        // Only with one degree of freedom it does not vanish there.
        return if freedom > 1.0 {
            0.0
        } else {
            (2.0 / PI).sqrt()
        };
    }
    let half = freedom / 2.0;
    let log =
        half * half.ln() - ln_gamma(half) + (freedom - 1.0) * share.ln() - half * share * share;
    2.0 * log.exp()
}

/// Inverts a distribution that is symmetric around 0 by false position, with the weight of an end
/// that stays halved (Dowell and Jarratt, "A Modified Regula Falsi Method", BIT 1971): right for
/// every degree of freedom, in a dozen steps. A table of sixty contenders needs thousands.
fn invert(p: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    if p < 0.5 {
        return -invert(1.0 - p, cdf);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while cdf(high) < p && high < 1e300 {
        (low, high) = (high, high * 2.0);
    }
    let (mut below, mut above) = (cdf(low) - p, cdf(high) - p);
    let (mut at, mut rising) = (high, None);
    for _ in 0..200 {
        let before = at;
        at = low - below * (high - low) / (above - below);
        let error = cdf(at) - p;
        if error.abs() < 2e-16 || (at - before).abs() <= 1e-15 * at {
            break;
        }
        if error < 0.0 {
            (low, below) = (at, error);
            above *= if rising == Some(true) { 0.5 } else { 1.0 };
        } else {
            (high, above) = (at, error);
            below *= if rising == Some(false) { 0.5 } else { 1.0 };
        }
        rising = Some(error < 0.0);
    }
    at
}

/// The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun
/// 26.5.8), evaluated from the front (Lentz 1976).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast only on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..1000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// The regularised lower incomplete gamma function: by its series below the mean, by its continued
/// fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31; Lentz 1976).
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut at) = (1.0 / a, 1.0 / a, a);
        while term > 1e-17 * sum {
            at += 1.0;
            term *= x / at;
            sum += term;
        }
        return front * sum;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut fraction = d;
    for step in 1..1000 {
        let n = f64::from(step);
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    1.0 - front * fraction
}

/// Logarithm of the gamma function for positive `x`: Stirling's series (Abramowitz and Stegun
/// 6.1.41) after moving up until it is exact to double precision.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut at = x;
    while at < 15.0 {
        shift += at.ln();
        at += 1.0;
    }
    let inverse = 1.0 / (at * at);
    let series = (1.0 / 12.0
        - inverse
            * (1.0 / 360.0
                - inverse * (1.0 / 1260.0 - inverse * (1.0 / 1680.0 - inverse / 1188.0))))
        / at;
    (at - 0.5) * at.ln() - at + 0.5 * (2.0 * PI).ln() + series - shift
}
