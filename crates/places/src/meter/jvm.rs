//! Counters of a HotSpot JVM from its hsperfdata file: no agent, no cost in the JVM, which keeps
//! this file as shared memory anyway (unless started with `-XX:-UsePerfData`).
//!
//! The layout is HotSpot's `perfMemory.hpp` and `perfData.hpp`, version 2.0: a header, then
//! entries of a header, a name and a value each. What is read was written by a foreign process
//! at the very same time, so nothing in it is trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use bakeoff_model::measure::resource::Jvm;

/// First four bytes of the file, in this order on every machine.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];

/// Longest file taken; HotSpot's own default is 32 KiB.
const FILE_MAX: usize = 1 << 20;

/// Most entries taken; a JVM of today has some 300.
const ENTRIES_MAX: usize = 10_000;

/// The numeric counters in an hsperfdata file by name; `None` when the bytes are not such a file.
/// Entries that lie outside of the bytes are left out.
#[must_use]
pub fn counters(bytes: &[u8]) -> Option<BTreeMap<String, i64>> {
    if bytes.get(..4)? != MAGIC || *bytes.get(5)? != 2 {
        return None;
    }
    let reader = Reader {
        bytes,
        little: *bytes.get(4)? == 1,
    };
    let mut offset = usize::try_from(reader.int(24)?).ok()?;
    let count = usize::try_from(reader.int(28)?).ok()?.min(ENTRIES_MAX);
    let mut found = BTreeMap::new();
    for _ in 0..count {
        let Some(length) = reader
            .int(offset)
            .and_then(|length| usize::try_from(length).ok())
        else {
            break;
        };
        if let Some((name, value)) = reader.entry(offset, length) {
            found.insert(name, value);
        }
        // The header of an entry has 20 bytes: a shorter one would never end.
        if length < 20 {
            break;
        }
        let Some(next) = offset.checked_add(length) else {
            break;
        };
        offset = next;
    }
    Some(found)
}

struct Reader<'a> {
    bytes: &'a [u8],
    little: bool,
}

impl Reader<'_> {
    fn int(&self, offset: usize) -> Option<i32> {
        let bytes = self
            .bytes
            .get(offset..offset.checked_add(4)?)?
            .try_into()
            .ok()?;
        Some(if self.little {
            i32::from_le_bytes(bytes)
        } else {
            i32::from_be_bytes(bytes)
        })
    }

    fn long(&self, offset: usize) -> Option<i64> {
        let bytes = self
            .bytes
            .get(offset..offset.checked_add(8)?)?
            .try_into()
            .ok()?;
        Some(if self.little {
            i64::from_le_bytes(bytes)
        } else {
            i64::from_be_bytes(bytes)
        })
    }

    /// A scalar of the type long (`J`); strings and arrays are not counters.
    fn entry(&self, offset: usize, length: usize) -> Option<(String, i64)> {
        let vector = self.int(offset.checked_add(8)?)?;
        let kind = *self.bytes.get(offset.checked_add(12)?)?;
        if vector != 0 || kind != b'J' {
            return None;
        }
        let name_at = usize::try_from(self.int(offset.checked_add(4)?)?).ok()?;
        let data_at = usize::try_from(self.int(offset.checked_add(16)?)?).ok()?;
        if name_at >= length || data_at >= length {
            return None;
        }
        let end = offset.checked_add(length)?.min(self.bytes.len());
        let name = self.bytes.get(offset.checked_add(name_at)?..end)?;
        let name = name.split(|byte| *byte == 0).next()?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        Some((name, self.long(offset.checked_add(data_at)?)?))
    }
}

/// The values of a sample, from the counters of a JVM; `None` when they are not all set up yet.
#[must_use]
pub fn figures(counters: &BTreeMap<String, i64>) -> Option<Jvm> {
    let number = |name: &str| {
        counters
            .get(name)
            .and_then(|value| u64::try_from(*value).ok())
    };
    let frequency = number("sun.os.hrt.frequency").filter(|frequency| *frequency > 0)?;
    let ns = |ticks: u64| {
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(frequency);
        u64::try_from(ns).unwrap_or(u64::MAX)
    };
    let sum = |prefix: &str, suffix: &str| -> u64 {
        let entries = counters.range(prefix.to_owned()..);
        entries
            .take_while(|(name, _)| name.starts_with(prefix))
            .filter(|(name, _)| name.ends_with(suffix))
            .filter_map(|(_, value)| u64::try_from(*value).ok())
            .fold(0, u64::saturating_add)
    };
    // Generations 0 and 1 are the heap; a third one would be class metadata.
    let heap = |suffix: &str| {
        ["sun.gc.generation.0.space.", "sun.gc.generation.1.space."]
            .iter()
            .map(|prefix| sum(prefix, suffix))
            .fold(0, u64::saturating_add)
    };
    Some(Jvm {
        gc_count: sum("sun.gc.collector.", ".invocations"),
        gc_ns: ns(sum("sun.gc.collector.", ".time")),
        jit_ns: ns(number("java.ci.totalTime").unwrap_or(0)),
        heap_used_bytes: heap(".used"),
        heap_capacity_bytes: heap(".capacity"),
        safepoints: number("sun.rt.safepoints").unwrap_or(0),
        safepoint_ns: ns(number("sun.rt.safepointTime").unwrap_or(0)),
    })
}

/// The open hsperfdata files of the JVMs of a group.
#[derive(Debug, Default)]
pub(crate) struct JvmFiles {
    open: BTreeMap<u32, File>,
    /// Processes that are not a JVM: not looked at again.
    others: BTreeSet<u32>,
}

impl JvmFiles {
    /// The sums of all JVMs among the processes; `None` without one.
    pub(crate) fn read(&mut self, processes: &[u32]) -> Option<Jvm> {
        self.open.retain(|pid, _| processes.contains(pid));
        self.others.retain(|pid| processes.contains(pid));
        let mut sum: Option<Jvm> = None;
        for pid in processes {
            let Some(figures) = self.of_process(*pid) else {
                continue;
            };
            sum = Some(sum.map_or(figures, |sum| add(sum, figures)));
        }
        sum
    }

    fn of_process(&mut self, pid: u32) -> Option<Jvm> {
        if self.others.contains(&pid) {
            return None;
        }
        if !self.open.contains_key(&pid) {
            if !is_java(pid) {
                // A launcher that is going to execute java has another name until then, so only
                // processes that have been there for a while are written off.
                if older_than_start(pid) {
                    self.others.insert(pid);
                }
                return None;
            }
            self.open.insert(pid, File::open(path(pid)?).ok()?);
        }
        let file = self.open.get(&pid)?;
        let length = usize::try_from(file.metadata().ok()?.len())
            .ok()?
            .min(FILE_MAX);
        let mut bytes = vec![0; length];
        let read = file.read_at(&mut bytes, 0).ok()?;
        figures(&counters(bytes.get(..read)?)?)
    }
}

/// Age from which a process is taken for what it is.
const LAUNCHER_TICKS: u64 = 500;

fn older_than_start(pid: u32) -> bool {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = uptime
        .split('.')
        .next()
        .and_then(|word| word.parse::<u64>().ok());
    let now_ticks = seconds.unwrap_or(0).saturating_mul(100);
    crate::meter::members::Stat::of(pid)
        .is_some_and(|stat| stat.start_ticks.saturating_add(LAUNCHER_TICKS) < now_ticks)
}

fn is_java(pid: u32) -> bool {
    let exe = fs::read_link(format!("/proc/{pid}/exe"));
    exe.is_ok_and(|exe| exe.file_name().is_some_and(|name| name == "java"))
}

/// `/tmp/hsperfdata_USER/PID`, where both the folder and the number are those the JVM itself sees.
fn path(pid: u32) -> Option<PathBuf> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    let inner = line.split_whitespace().last()?;
    let tmp = fs::read_dir(format!("/proc/{pid}/root/tmp")).ok()?;
    tmp.flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("hsperfdata_")
        })
        .map(|entry| entry.path().join(inner))
        .find(|path| path.is_file())
}

fn add(left: Jvm, right: Jvm) -> Jvm {
    Jvm {
        gc_count: left.gc_count.saturating_add(right.gc_count),
        gc_ns: left.gc_ns.saturating_add(right.gc_ns),
        jit_ns: left.jit_ns.saturating_add(right.jit_ns),
        heap_used_bytes: left.heap_used_bytes.saturating_add(right.heap_used_bytes),
        heap_capacity_bytes: left
            .heap_capacity_bytes
            .saturating_add(right.heap_capacity_bytes),
        safepoints: left.safepoints.saturating_add(right.safepoints),
        safepoint_ns: left.safepoint_ns.saturating_add(right.safepoint_ns),
    }
}
