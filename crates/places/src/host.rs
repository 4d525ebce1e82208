//! Description of the host, as far as it matters to a measurement. Facts that the host does not
//! report are absent.

pub mod topology;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bakeoff_model::measure::resource::{CoreTime, HostTime};
use bakeoff_model::record::Host;
use rustix::process::Resource;

use crate::meter::{Stat, TICK_NS};
use crate::ready::monotonic_ns;

/// Describes this host. `versions` is for the caller to fill.
#[must_use]
pub fn describe() -> Host {
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    Host {
        kernel: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
        cpu_model: cpu_model(&cpuinfo),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory_bytes(&read("/proc/meminfo").unwrap_or_default()),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualisation: virtualisation(&cpuinfo),
        mitigations: mitigations(Path::new("/sys/devices/system/cpu/vulnerabilities")),
        os: os(&read("/etc/os-release").unwrap_or_default()),
        nofile: rustix::process::getrlimit(Resource::Nofile)
            .current
            .unwrap_or(u64::MAX),
        versions: BTreeMap::new(),
        generator: None,
        round_trip_ns: None,
        core_sharing: None,
    }
}

/// Returns the name of this host.
#[must_use]
pub fn name() -> String {
    read("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// Reads the times of each core since the boot; `None` if they are not reported.
#[must_use]
pub fn time() -> Option<HostTime> {
    let own = Stat::of(std::process::id())?;
    Some(HostTime {
        wall_ns: monotonic_ns(),
        own_ns: (own.user_ticks + own.system_ticks).saturating_mul(TICK_NS),
        cores: parse_cores(&read("/proc/stat")?)?,
    })
}

/// `cpuN user nice system idle iowait irq softirq steal guest guest_nice`, a line for each core.
fn parse_cores(stat: &str) -> Option<Vec<CoreTime>> {
    let cores = stat.lines().filter_map(|line| {
        let (core, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((core.parse().ok()?, ticks))
    });
    let cores: Option<Vec<CoreTime>> = cores.map(|(core, ticks)| parse_core(core, ticks)).collect();
    cores.filter(|cores| !cores.is_empty())
}

fn parse_core(core: usize, ticks: &str) -> Option<CoreTime> {
    let ticks: Vec<u64> = ticks
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let [user, nice, system, _, _, irq, softirq, stolen, ..] = ticks[..] else {
        return None;
    };
    Some(CoreTime {
        core,
        busy_ns: (user + nice + system + irq + softirq).saturating_mul(TICK_NS),
        stolen_ns: stolen.saturating_mul(TICK_NS),
    })
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn cpu_model(cpuinfo: &str) -> String {
    // x86 says "model name"; some others "Model", "cpu" or only the part number.
    let keys = ["model name", "Model", "cpu model", "CPU part"];
    let value = |key: &str| {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(name, _)| name.trim() == key);
        values.next().map(|(_, value)| value.trim().to_owned())
    };
    keys.iter().find_map(|key| value(key)).unwrap_or_default()
}

fn memory_bytes(meminfo: &str) -> u64 {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

fn os(release: &str) -> String {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

fn mitigations(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let state = fs::read_to_string(entry.path()).ok()?;
            Some((
                entry.file_name().to_str()?.to_owned(),
                state.trim().to_owned(),
            ))
        })
        .collect()
}

/// A container shows itself by its files, a virtual machine by the CPU's flag and, where the
/// firmware reports it, its name.
fn virtualisation(cpuinfo: &str) -> Option<String> {
    let mut found = Vec::new();
    for (path, name) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if Path::new(path).exists() {
            found.push(name.to_owned());
        }
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    if flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")) {
        let product = read("/sys/class/dmi/id/product_name").filter(|name| !name.is_empty());
        found.push(product.unwrap_or_else(|| "virtual machine".to_owned()));
    }
    (!found.is_empty()).then(|| found.join(" in "))
}

/// Cores that this process may use.
#[must_use]
pub fn host_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use bakeoff_model::measure::resource::CoreTime;

    use super::{cpu_model, describe, memory_bytes, os, parse_cores};

    #[test]
    fn this_host_is_described() {
        let host = describe();
        assert!(!host.kernel.is_empty() && host.cores > 0);
        assert!(host.memory_bytes > 0 && host.nofile > 0);
    }

    #[test]
    fn texts_of_the_kernel_are_read() {
        let ticks = |count| count * super::TICK_NS;
        let core = CoreTime {
            core: 1,
            busy_ns: ticks(1 + 2 + 3 + 6 + 7),
            stolen_ns: ticks(8),
        };
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 1 2 3 4 5 6 7 8 9 10\nintr 1\n";
        assert_eq!(parse_cores(stat), Some(vec![core]));
        assert_eq!(parse_cores("cpu  1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse_cores("cpu0 1 2\n"), None);
        assert_eq!(
            cpu_model("processor : 0\nmodel name\t: A CPU: fast\n"),
            "A CPU: fast"
        );
        assert_eq!(memory_bytes("MemTotal:  2 kB\n"), 2048);
        assert_eq!(os("NAME=x\nPRETTY_NAME=\"Debian 12\"\n"), "Debian 12");
    }
}
