//! Limits of a contender's resources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of a process group. `None` = not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPU quota in cores: CPU seconds per second, on any core.
    pub cpus: Option<f64>,
    /// Memory with swap off, bytes.
    pub memory_bytes: Option<u64>,
}

impl Limits {
    /// The CPU quota to enforce on a group that is pinned to this number of cores (0: to none).
    /// Cores as many as the quota already are that limit; a quota in addition only stalls,
    /// when the kernel's accounting by periods runs ahead of the clock.
    #[must_use]
    pub fn quota(&self, pinned: usize) -> Option<f64> {
        let cpus = self.cpus?;
        let pinned = f64::from(u32::try_from(pinned).unwrap_or(u32::MAX));
        (pinned == 0.0 || pinned > cpus).then_some(cpus)
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn as_many_cores_as_the_quota_need_none() {
        let quota = |cpus: f64, pinned: usize| {
            let limits = Limits {
                cpus: Some(cpus),
                memory_bytes: None,
            };
            limits.quota(pinned)
        };
        assert_eq!(quota(1.0, 1), None);
        assert_eq!(quota(2.0, 1), None, "one core is the tighter limit");
        assert_eq!(quota(1.5, 2), Some(1.5));
        assert_eq!(quota(1.0, 0), Some(1.0), "not pinned");
        assert_eq!(Limits::default().quota(1), None);
    }
}
