//! Holm's correction of p-values for a family of tests.

use bakeoff_base::number::length_as_f64 as count;

/// Returns the adjusted p-values, in the order given: with rejections at 5 %, any false rejection
/// is at most 5 % likely, regardless of how the tests depend on each other (Holm, "A Simple
/// Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 1979).
///
/// Not Tukey's range: it requires independent samples of equal variance, while pairs of contenders
/// share their blocks and JVM contenders vary three times as much as native ones.
#[must_use]
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (place, &index) in order.iter().enumerate() {
        // Step down: no adjusted p-value is below the next smaller one.
        highest = highest.max(p_values[index] * count(p_values.len() - place));
        adjusted[index] = highest.min(1.0);
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[track_caller]
    fn check(p_values: &[f64], expected: &[f64]) {
        let found = adjusted(p_values);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
        let all = found.iter().zip(expected).all(near);
        assert!(
            all && found.len() == expected.len(),
            "{found:?} {expected:?}"
        );
    }

    #[test]
    fn holm_steps_down() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R.
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.2, 0.9, 0.5], &[0.6, 1.0, 1.0]);
        check(&[0.04], &[0.04]);
        check(&[], &[]);
    }
}
