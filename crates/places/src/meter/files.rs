//! The open files of a cgroup, version 1 or 2.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bakeoff_model::measure::resource::{Memory, Pressure, Throttling};

use crate::cgroup::Version;
use crate::meter::figures::{RawCpu, keyed, pressure_us};

/// Longest text taken from one file; the longest real one, memory.stat, has some 2 KiB.
const TEXT_MAX: usize = 16 << 10;

/// A file of a cgroup, kept open: reading it anew at offset 0 gives the current values.
#[derive(Debug)]
struct Gauge(Option<File>);

impl Gauge {
    fn open(dir: Option<&Path>, name: &str) -> Self {
        Self(dir.and_then(|dir| File::open(dir.join(name)).ok()))
    }

    fn text(&self) -> Option<String> {
        let file = self.0.as_ref()?;
        let mut buffer = vec![0; TEXT_MAX];
        let mut length = 0;
        while length < TEXT_MAX {
            match file.read_at(&mut buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        buffer.truncate(length);
        String::from_utf8(buffer).ok()
    }

    fn number(&self) -> Option<u64> {
        self.text()?.trim().parse().ok()
    }

    fn keyed(&self, key: &str) -> Option<u64> {
        keyed(&self.text()?, key)
    }
}

/// The open files of one group.
#[derive(Debug)]
pub(crate) struct GroupFiles {
    kind: Kind,
    /// Pressure of CPU, memory and storage.
    pressure: [Gauge; 3],
}

#[derive(Debug)]
enum Kind {
    V1(V1),
    V2(V2),
}

#[derive(Debug)]
struct V1 {
    usage: Gauge,
    usage_user: Gauge,
    usage_system: Gauge,
    cpu_stat: Gauge,
    now: Gauge,
    peak: Gauge,
    stat: Gauge,
    socket: Gauge,
    kernel: Gauge,
    oom: Gauge,
}

#[derive(Debug)]
struct V2 {
    cpu_stat: Gauge,
    now: Gauge,
    peak: Gauge,
    stat: Gauge,
    events: Gauge,
}

impl GroupFiles {
    /// Opens what is there.
    pub(crate) fn open(version: Version, dirs: &[(String, PathBuf)]) -> Self {
        let dir = |name: &str| {
            dirs.iter()
                .find(|(have, _)| have == name)
                .map(|(_, dir)| dir.as_path())
        };
        let (kind, unified) = match version {
            Version::V1 => (Kind::V1(V1::open(&dir)), dir("unified")),
            Version::V2 => (Kind::V2(V2::open(&dir)), dir("memory")),
        };
        let pressure = ["cpu.pressure", "memory.pressure", "io.pressure"]
            .map(|name| Gauge::open(unified, name));
        Self { kind, pressure }
    }

    /// CPU time; `None` when it cannot be read.
    pub(crate) fn cpu(&self) -> Option<RawCpu> {
        match &self.kind {
            Kind::V1(files) => Some(RawCpu {
                total_ns: files.usage.number()?,
                user: files.usage_user.number()?,
                system: files.usage_system.number()?,
            }),
            Kind::V2(files) => {
                let text = files.cpu_stat.text()?;
                Some(RawCpu {
                    total_ns: keyed(&text, "usage_usec")?.saturating_mul(1000),
                    user: keyed(&text, "user_usec")?,
                    system: keyed(&text, "system_usec")?,
                })
            }
        }
    }

    /// Enforcement of the quota so far.
    pub(crate) fn throttling(&self) -> Option<Throttling> {
        let (text, throttled, scale) = match &self.kind {
            Kind::V1(files) => (files.cpu_stat.text()?, "throttled_time", 1),
            Kind::V2(files) => (files.cpu_stat.text()?, "throttled_usec", 1000),
        };
        Some(Throttling {
            periods: keyed(&text, "nr_periods")?,
            throttled_periods: keyed(&text, "nr_throttled")?,
            throttled_ns: keyed(&text, throttled)?.saturating_mul(scale),
        })
    }

    /// Memory. If the kernel keeps no peak, it is 0, and the caller must know better.
    pub(crate) fn memory(&self) -> Option<Memory> {
        match &self.kind {
            Kind::V1(files) => {
                let stat = files.stat.text()?;
                Some(Memory {
                    now_bytes: files.now.number()?,
                    peak_bytes: files.peak.number().unwrap_or(0),
                    anon_bytes: keyed(&stat, "total_rss"),
                    file_bytes: keyed(&stat, "total_cache"),
                    socket_bytes: files.socket.number(),
                    kernel_bytes: files.kernel.number(),
                    oom_kills: self.oom_kills(),
                })
            }
            Kind::V2(files) => {
                let stat = files.stat.text()?;
                Some(Memory {
                    now_bytes: files.now.number()?,
                    peak_bytes: files.peak.number().unwrap_or(0),
                    anon_bytes: keyed(&stat, "anon"),
                    file_bytes: keyed(&stat, "file"),
                    socket_bytes: keyed(&stat, "sock"),
                    kernel_bytes: keyed(&stat, "kernel").or_else(|| kernel_parts(&stat)),
                    oom_kills: self.oom_kills(),
                })
            }
        }
    }

    /// Processes killed for memory so far.
    pub(crate) fn oom_kills(&self) -> Option<u64> {
        match &self.kind {
            Kind::V1(files) => files.oom.keyed("oom_kill"),
            Kind::V2(files) => files.events.keyed("oom_kill"),
        }
    }

    /// Pressure, if the kernel keeps it for groups.
    pub(crate) fn pressure(&self) -> Option<Pressure> {
        let [cpu, memory, io] = &self.pressure;
        let read = |gauge: &Gauge| gauge.text().and_then(|text| pressure_us(&text));
        Some(Pressure {
            cpu_some_us: read(cpu)?,
            memory_some_us: read(memory)?,
            io_some_us: read(io)?,
        })
    }
}

/// Kernels before 5.18 give the parts of the kernel's memory only.
fn kernel_parts(stat: &str) -> Option<u64> {
    let parts = ["slab", "kernel_stack", "pagetables", "percpu"];
    let known: Vec<u64> = parts.iter().filter_map(|key| keyed(stat, key)).collect();
    if known.is_empty() {
        None
    } else {
        Some(known.iter().sum())
    }
}

impl V1 {
    fn open<'a>(dir: &impl Fn(&str) -> Option<&'a Path>) -> Self {
        let (cpu, cpuacct, memory) = (dir("cpu"), dir("cpuacct"), dir("memory"));
        Self {
            usage: Gauge::open(cpuacct, "cpuacct.usage"),
            usage_user: Gauge::open(cpuacct, "cpuacct.usage_user"),
            usage_system: Gauge::open(cpuacct, "cpuacct.usage_sys"),
            cpu_stat: Gauge::open(cpu, "cpu.stat"),
            now: Gauge::open(memory, "memory.usage_in_bytes"),
            peak: Gauge::open(memory, "memory.max_usage_in_bytes"),
            stat: Gauge::open(memory, "memory.stat"),
            socket: Gauge::open(memory, "memory.kmem.tcp.usage_in_bytes"),
            kernel: Gauge::open(memory, "memory.kmem.usage_in_bytes"),
            oom: Gauge::open(memory, "memory.oom_control"),
        }
    }
}

impl V2 {
    fn open<'a>(dir: &impl Fn(&str) -> Option<&'a Path>) -> Self {
        let (cpu, memory) = (dir("cpu"), dir("memory"));
        Self {
            cpu_stat: Gauge::open(cpu, "cpu.stat"),
            now: Gauge::open(memory, "memory.current"),
            peak: Gauge::open(memory, "memory.peak"),
            stat: Gauge::open(memory, "memory.stat"),
            events: Gauge::open(memory, "memory.events"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bakeoff_model::measure::resource::{Memory, Pressure, Throttling};

    use super::GroupFiles;
    use crate::cgroup::Version;
    use crate::meter::figures::RawCpu;

    #[test]
    fn every_figure_of_version_2_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let files = [
            (
                "cpu.stat",
                "usage_usec 3000\nuser_usec 2000\nsystem_usec 1000\nnr_periods 10\n\
                 nr_throttled 4\nthrottled_usec 70\n",
            ),
            ("memory.current", "1000\n"),
            ("memory.peak", "2000\n"),
            ("memory.stat", "anon 300\nfile 200\nkernel 50\nsock 7\n"),
            ("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n"),
            (
                "cpu.pressure",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n",
            ),
            (
                "memory.pressure",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\n",
            ),
            (
                "io.pressure",
                "some avg10=0.00 avg60=0.00 avg300=0.00 total=13\n",
            ),
        ];
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let dirs: Vec<_> = ["cpu", "memory"]
            .map(|name| (name.to_owned(), dir.path().to_owned()))
            .into();
        let files = GroupFiles::open(Version::V2, &dirs);
        let cpu = RawCpu {
            total_ns: 3_000_000,
            user: 2000,
            system: 1000,
        };
        assert_eq!(files.cpu(), Some(cpu));
        let throttling = Throttling {
            periods: 10,
            throttled_periods: 4,
            throttled_ns: 70_000,
        };
        assert_eq!(files.throttling(), Some(throttling));
        let memory = Memory {
            now_bytes: 1000,
            peak_bytes: 2000,
            anon_bytes: Some(300),
            file_bytes: Some(200),
            socket_bytes: Some(7),
            kernel_bytes: Some(50),
            oom_kills: Some(1),
        };
        assert_eq!(files.memory(), Some(memory));
        let pressure = Pressure {
            cpu_some_us: 11,
            memory_some_us: 12,
            io_some_us: 13,
        };
        assert_eq!(files.pressure(), Some(pressure));
    }

    #[test]
    fn what_is_not_there_is_absent() {
        for version in [Version::V1, Version::V2] {
            let files = GroupFiles::open(version, &[]);
            assert_eq!(files.cpu(), None);
            assert_eq!(files.memory(), None);
            assert_eq!(files.pressure(), None);
            assert_eq!(files.oom_kills(), None);
        }
    }
}
