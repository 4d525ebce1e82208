//! The correction of p-values for many tests if some false rejections are acceptable.

use bakeoff_base::number::length_as_f64 as count;

/// Returns the adjusted p-values, in the order given: at most 5 % of the rejections at 5 % are
/// false on average (Benjamini and Hochberg, "Controlling the False Discovery Rate", Journal of the
/// Royal Statistical Society B 1995).
///
/// For lists of which a reader looks at the largest entries, such as functions. Verdicts are
/// corrected by Holm, with which any false one is unlikely.
#[must_use]
pub fn false_discovery(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut lowest: f64 = 1.0;
    for (place, &index) in order.iter().enumerate() {
        // Step up: no adjusted p-value exceeds the next larger one.
        let rank = p_values.len() - place;
        lowest = lowest.min(p_values[index] * count(p_values.len()) / count(rank));
        adjusted[index] = lowest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::false_discovery;

    #[test]
    fn benjamini_and_hochberg_step_up() {
        let check = |p_values: &[f64], expected: &[f64]| {
            let found = false_discovery(p_values);
            let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            let all = found.iter().zip(expected).all(near);
            assert!(
                all && found.len() == expected.len(),
                "{found:?} {expected:?}"
            );
        };
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "BH") of R.
        check(&[0.01, 0.04, 0.03, 0.005], &[0.02, 0.04, 0.04, 0.02]);
        check(&[0.2, 0.9, 0.5], &[0.6, 0.9, 0.75]);
        check(&[0.04], &[0.04]);
        check(&[], &[]);
    }
}
