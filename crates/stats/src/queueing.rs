//! Laws that hold for the counts whatever the contender is.

/// How far a closed load is from Little's law L = λW (Little, Operations Research 1961):
/// `(throughput * mean time - connections) / connections`. Near 0 when every connection always had
/// one request under way; well below when connections idled in the load generator (it was the
/// bottleneck), were never made, or requests failed or were censored; above when times overlap.
///
/// `None` without connections.
#[must_use]
pub fn little_residual(connections: f64, throughput_per_s: f64, mean_s: f64) -> Option<f64> {
    (connections > 0.0).then(|| (throughput_per_s * mean_s - connections) / connections)
}
