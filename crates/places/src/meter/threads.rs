//! Threads of processes by name, with their CPU time, and their context switches.

use std::collections::BTreeMap;
use std::fs::{self, File};

use bakeoff_model::measure::resource::{ContextSwitches, ThreadGroup};
use rustix::fs::{Mode, OFlags};

use crate::meter::members::status_number;

/// Reads all live threads of the processes. Values of threads that have ended are lost.
pub(crate) fn read(processes: &[u32]) -> (BTreeMap<String, ThreadGroup>, Option<ContextSwitches>) {
    let mut groups: BTreeMap<String, ThreadGroup> = BTreeMap::new();
    let mut switches = ContextSwitches::default();
    let mut any = false;
    let mut buffer = [0; TEXT_MAX];
    for pid in processes {
        let Ok(tasks) = File::open(format!("/proc/{pid}/task")) else {
            continue;
        };
        for task in tids(*pid) {
            let mut read = |file: &str| small(&tasks, &format!("{task}/{file}"), &mut buffer);
            let Some(comm) = read("comm") else {
                continue;
            };
            let group = groups
                .entry(unnumbered(comm.trim_end()).to_owned())
                .or_default();
            group.count += 1;
            // schedstat starts with the exact time on a CPU, where stat counts ticks.
            let cpu = read("schedstat").unwrap_or_default();
            let cpu = cpu
                .split(' ')
                .next()
                .and_then(|word| word.parse::<u64>().ok());
            group.cpu_ns += cpu.unwrap_or(0);
            let status = read("status").unwrap_or_default();
            let number = |key: &str| status_number(&status, key).unwrap_or(0);
            switches.voluntary += number("voluntary_ctxt_switches:");
            switches.involuntary += number("nonvoluntary_ctxt_switches:");
            any = true;
        }
    }
    (groups, any.then_some(switches))
}

/// Longest text taken of a thread's files; the longest real one, status, has some 1.5 KiB.
const TEXT_MAX: usize = 8 << 10;

fn tids(pid: u32) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Reads a small file in /proc with three system calls. The standard library needs six, because it
/// does not know that one read returns everything, and a JVM has hundreds of threads.
fn small(folder: &File, path: &str, buffer: &mut [u8]) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, path, flags, Mode::empty()).ok()?;
    let count = rustix::io::read(&file, &mut *buffer).ok()?;
    Some(String::from_utf8_lossy(buffer.get(..count)?).into_owned())
}

/// Drops the number at the end of a name when it only numbers a thread: behind a separator
/// (`worker-3`, `GC Thread#0`) or behind a word (`worker12`), but not in `G1` or `C2`.
fn unnumbered(name: &str) -> &str {
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if stem.len() == name.len() || stem.is_empty() {
        return name;
    }
    let word = stem.trim_end_matches(|letter: char| "-_#:./ ".contains(letter));
    if word.len() < stem.len() {
        return if word.is_empty() { name } else { word };
    }
    let letters = stem
        .chars()
        .rev()
        .take_while(|letter| letter.is_alphabetic())
        .count();
    if letters >= 4 { stem } else { name }
}

#[cfg(test)]
mod tests {
    use super::{read, unnumbered};

    #[test]
    fn only_the_number_of_a_thread_is_dropped() {
        for (name, expect) in [
            ("GC Thread#0", "GC Thread"),
            ("worker-12", "worker"),
            ("worker12", "worker"),
            ("XNIO-1 I/O-2", "XNIO-1 I/O"),
            ("actix-rt|0", "actix-rt|0"),
            ("arbiter:3", "arbiter"),
            ("C2 CompilerThre", "C2 CompilerThre"),
            ("G1", "G1"),
            ("42", "42"),
            ("-42", "-42"),
            ("", ""),
        ] {
            assert_eq!(unnumbered(name), expect);
        }
    }

    #[test]
    fn the_threads_of_this_process_are_counted() {
        let (groups, switches) = read(&[std::process::id()]);
        assert!(groups.values().map(|group| group.count).sum::<u64>() >= 2);
        assert!(switches.is_some());
        assert_eq!(read(&[]), (std::collections::BTreeMap::new(), None));
    }
}
