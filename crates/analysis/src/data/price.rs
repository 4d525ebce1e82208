//! The price of requests: only CPU time at a price.

/// Dollars for one CPU for one hour, the default in reports; readers can set their own.
pub const PER_CPU_HOUR: f64 = 0.0275;

/// Returns the dollars for 10^9 requests of `cpu_us` CPU microseconds each.
pub fn of_billion(cpu_us: f64, per_hour: f64) -> f64 {
    cpu_us * 1e-6 * 1e9 / 3600.0 * per_hour
}
