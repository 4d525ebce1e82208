//! The groups of this host's CPUs, as the kernel shows them: hyper-threads of a physical core,
//! packages and NUMA nodes. Nothing is measured here, and a CPU about which the kernel shows
//! nothing counts as a separate physical core.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

/// Numbers above this one are not read: a list like `0-4000000000` is a mistake.
const NUMBER_MAX: usize = 1 << 16;

/// A CPU as the kernel counts them: a hyper-thread, or a core that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu {
    /// The number of the CPU, by which threads are pinned to it.
    pub number: usize,
    /// The physical core, named by the lowest number of its CPUs.
    pub core: usize,
    /// The package (socket).
    pub package: usize,
    /// The NUMA node.
    pub node: usize,
}

/// The CPUs that this process may use, in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The CPUs.
    pub cpus: Vec<Cpu>,
}

/// The kernel's files on a CPU.
#[derive(Debug, Clone, Default)]
struct CpuFiles {
    number: usize,
    /// The list of the CPUs that share the physical core.
    siblings: Option<String>,
    package: Option<String>,
}

/// Reads the topology of the CPUs that this process may use.
#[must_use]
pub fn read() -> Topology {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let numbers = match sched_getaffinity(None) {
        Ok(set) => (0..CpuSet::MAX_CPU)
            .filter(|cpu| set.is_set(*cpu))
            .collect(),
        // The kernel has more CPUs than the set holds.
        Err(_) => (0..count).collect(),
    };
    read_from(Path::new("/sys/devices/system"), numbers).limited_to(count)
}

/// Reads the files about these CPUs below the folder `/sys/devices/system`.
fn read_from(system: &Path, numbers: Vec<usize>) -> Topology {
    let read = |path: String| fs::read_to_string(system.join(path)).ok();
    let files = numbers.into_iter().map(|number| {
        let topology = |file: &str| read(format!("cpu/cpu{number}/topology/{file}"));
        CpuFiles {
            number,
            // Kernels before 5.3 have the second name alone.
            siblings: topology("core_cpus_list").or_else(|| topology("thread_siblings_list")),
            package: topology("physical_package_id"),
        }
    });
    let nodes = fs::read_dir(system.join("node")).into_iter().flatten();
    let nodes = nodes.flatten().filter_map(|entry| {
        let node = entry.file_name().to_str()?.strip_prefix("node")?.parse();
        Some((
            node.ok()?,
            fs::read_to_string(entry.path().join("cpulist")).ok()?,
        ))
    });
    Topology::of(files.collect(), &nodes.collect())
}

impl Topology {
    /// Returns the topology of a host that shows none: this number of physical cores, all alike.
    #[must_use]
    pub fn flat(cpus: usize) -> Self {
        let files = (0..cpus).map(|number| CpuFiles {
            number,
            ..CpuFiles::default()
        });
        Self::of(files.collect(), &BTreeMap::new())
    }

    /// Reads the texts of the kernel's files; `nodes` are the lists of CPUs of the NUMA nodes.
    fn of(files: Vec<CpuFiles>, nodes: &BTreeMap<usize, String>) -> Self {
        let mut node_of = BTreeMap::new();
        for (node, list) in nodes {
            let cpus = parse_list(list).unwrap_or_default();
            node_of.extend(cpus.into_iter().map(|cpu| (cpu, *node)));
        }
        let cpus = files.into_iter().map(|file| {
            let siblings = file.siblings.as_deref().and_then(parse_list);
            let siblings = siblings.filter(|list| list.contains(&file.number));
            // A kernel that does not know the package says -1.
            let package = file.package.and_then(|package| package.trim().parse().ok());
            Cpu {
                number: file.number,
                core: siblings
                    .and_then(|list| list.into_iter().min())
                    .unwrap_or(file.number),
                package: package.unwrap_or(0),
                node: node_of.get(&file.number).copied().unwrap_or(0),
            }
        });
        Self {
            cpus: cpus.collect(),
        }
    }

    /// Returns the topology of `count` of these CPUs, on as many physical cores as possible: a CPU
    /// quota allows no more at once.
    #[must_use]
    fn limited_to(mut self, count: usize) -> Self {
        if self.cpus.len() <= count {
            return self;
        }
        let mut threads = BTreeMap::<usize, usize>::new();
        let mut ranked: Vec<(usize, Cpu)> = self
            .cpus
            .drain(..)
            .map(|cpu| {
                let thread = threads.entry(cpu.core).or_default();
                *thread += 1;
                (*thread, cpu)
            })
            .collect();
        ranked.sort_by_key(|(thread, cpu)| (*thread, cpu.number));
        ranked.truncate(count);
        let mut cpus: Vec<Cpu> = ranked.into_iter().map(|(_, cpu)| cpu).collect();
        cpus.sort_by_key(|cpu| cpu.number);
        Self { cpus }
    }

    /// Returns the number of physical cores.
    #[must_use]
    pub fn physical_cores(&self) -> usize {
        let mut cores: Vec<usize> = self.cpus.iter().map(|cpu| cpu.core).collect();
        cores.sort_unstable();
        cores.dedup();
        cores.len()
    }
}

/// Reads a list of the kernel, such as `0-3,8,10-11`. `None` when it is none.
fn parse_list(list: &str) -> Option<Vec<usize>> {
    let list = list.trim();
    if list.is_empty() {
        return Some(Vec::new());
    }
    let ranges = list.split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (last <= NUMBER_MAX).then_some(first..=last)
    });
    let ranges: Option<Vec<_>> = ranges.collect();
    Some(ranges?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Cpu, Topology, parse_list, read, read_from};

    fn cpu(number: usize, core: usize, package: usize, node: usize) -> Cpu {
        Cpu {
            number,
            core,
            package,
            node,
        }
    }

    fn write(system: &Path, file: &str, text: &str) {
        let path = system.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn lists_of_the_kernel_are_read() {
        let check = |list: &str, expect: Option<&[usize]>| {
            assert_eq!(parse_list(list).as_deref(), expect, "{list:?}");
        };
        check("0\n", Some(&[0]));
        check("0-2,8,10-11\n", Some(&[0, 1, 2, 8, 10, 11]));
        check("\n", Some(&[]));
        check("0-", None);
        check("a", None);
        check("-1", None);
        check("0-4000000000", None);
    }

    #[test]
    fn the_files_of_the_kernel_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let system = folder.path();
        for number in 0..4 {
            let topology = format!("cpu/cpu{number}/topology");
            let siblings = format!("{},{}\n", number % 2, number % 2 + 2);
            let name = ["core_cpus_list", "thread_siblings_list"][number % 2];
            write(system, &format!("{topology}/{name}"), &siblings);
            let package = format!("{}\n", number % 2);
            write(system, &format!("{topology}/physical_package_id"), &package);
        }
        write(system, "node/node0/cpulist", "0,2\n");
        write(system, "node/node1/cpulist", "1,3\n");
        write(system, "node/possible", "0-1\n");
        let found = read_from(system, vec![0, 1, 2, 3]);
        let expect = [
            cpu(0, 0, 0, 0),
            cpu(1, 1, 1, 1),
            cpu(2, 0, 0, 0),
            cpu(3, 1, 1, 1),
        ];
        assert_eq!(found.cpus, expect);
        assert_eq!(found.physical_cores(), 2);
        // A CPU that the process may not use still names its core.
        assert_eq!(read_from(system, vec![2]).cpus, [cpu(2, 0, 0, 0)]);
    }

    #[test]
    fn a_host_that_shows_nothing_is_flat() {
        let folder = tempfile::tempdir().unwrap();
        let found = read_from(folder.path(), vec![0, 1]);
        assert_eq!(found, Topology::flat(2));
        assert_eq!(found.physical_cores(), 2);
        write(folder.path(), "cpu/cpu0/topology/core_cpus_list", "7\n");
        write(
            folder.path(),
            "cpu/cpu1/topology/physical_package_id",
            "-1\n",
        );
        assert_eq!(read_from(folder.path(), vec![0, 1]), Topology::flat(2));
    }

    #[test]
    fn fewer_cpus_are_of_different_cores() {
        let cpus: Vec<Cpu> = (0..8)
            .map(|number| cpu(number, number / 2 * 2, 0, 0))
            .collect();
        let check = |count: usize, expect: &[usize]| {
            let limited = Topology { cpus: cpus.clone() }.limited_to(count);
            let numbers: Vec<usize> = limited.cpus.iter().map(|cpu| cpu.number).collect();
            assert_eq!(numbers, expect);
        };
        check(9, &[0, 1, 2, 3, 4, 5, 6, 7]);
        check(2, &[0, 2]);
        check(5, &[0, 1, 2, 4, 6]);
        let flat = Topology::flat(8).limited_to(3);
        assert_eq!(flat, Topology::flat(3));
    }

    #[test]
    fn this_host_has_a_topology() {
        let topology = read();
        assert!(!topology.cpus.is_empty() && topology.physical_cores() > 0);
    }
}
