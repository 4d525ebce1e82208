//! Reads a JVM's own log of its garbage collections: unified logging (`-Xlog:gc`, since JDK 9) and
//! its predecessor (`-Xloggc`). Only pauses count; concurrent work of a collector delays nothing
//! except by its CPU time, which is metered with the rest.

use bakeoff_model::measure::resource::{GcLog, GcPause};

/// Pauses that are kept one by one; a run that has more has other troubles.
const PAUSES_MAX: usize = 10_000;

/// Parses a log.
#[must_use]
pub fn parse(text: &str) -> GcLog {
    let mut log = GcLog::default();
    for line in text.lines() {
        if let Some(pause) = unified(line, &mut log.collector).or_else(|| old(line)) {
            if log.pauses.len() < PAUSES_MAX {
                log.pauses.push(pause);
            } else {
                log.left_out += 1;
                log.left_out_ns = log.left_out_ns.saturating_add(pause.pause_ns);
            }
        }
    }
    log
}

/// `[1.234s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->5M(256M) 3.456ms`.
fn unified(line: &str, collector: &mut String) -> Option<GcPause> {
    let (uptime, rest) = line.strip_prefix('[')?.split_once("s]")?;
    let (_, message) = rest.rsplit_once("] ").unwrap_or(("", rest));
    if let Some(name) = message.trim().strip_prefix("Using ") {
        name.clone_into(collector);
        return None;
    }
    let (_, what) = message.trim().strip_prefix("GC(")?.split_once(") ")?;
    if !what.starts_with("Pause ") {
        return None;
    }
    let mut words = what.split_whitespace().rev();
    let milliseconds: f64 = words.next()?.strip_suffix("ms")?.parse().ok()?;
    let heap = words.next().and_then(heap);
    Some(pause(
        uptime.parse().ok()?,
        milliseconds / 1e3,
        heap,
        what.starts_with("Pause Full"),
    ))
}

/// `1.234: [GC (Allocation Failure)  65536K->10748K(251392K), 0.0087000 secs]`.
fn old(line: &str) -> Option<GcPause> {
    let (uptime, rest) = line.split_once(": [")?;
    let is_full = rest.starts_with("Full GC");
    if !is_full && !rest.starts_with("GC ") {
        return None;
    }
    let seconds = rest
        .split(" secs]")
        .next()?
        .split_whitespace()
        .next_back()?;
    // With details each generation has such a value too, and the whole heap is the largest.
    let heaps = rest.split([' ', ',', ']']).filter_map(heap);
    let heap = heaps.max_by_key(|(_, capacity)| *capacity);
    Some(pause(
        uptime.parse().ok()?,
        seconds.parse().ok()?,
        heap,
        is_full,
    ))
}

/// A pause that ended, or started, this number of seconds after the JVM did.
fn pause(at_s: f64, pause_s: f64, heap: Option<(u64, u64)>, is_full: bool) -> GcPause {
    GcPause {
        at_ns: nanoseconds(at_s),
        pause_ns: nanoseconds(pause_s),
        is_full,
        heap_after_bytes: heap.map(|(after, _)| after),
        heap_capacity_bytes: heap.map(|(_, capacity)| capacity),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float becomes the nearest number there is"
)]
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// `24M->5M(256M)`: bytes in use after the collection, and of the heap.
fn heap(word: &str) -> Option<(u64, u64)> {
    let (_, rest) = word.split_once("->")?;
    let (after, capacity) = rest.trim_end_matches(',').split_once('(')?;
    Some((bytes(after)?, bytes(capacity.strip_suffix(')')?)?))
}

fn bytes(text: &str) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let size = match unit {
        'B' => 1,
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => return None,
    };
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(size)
}

#[cfg(test)]
mod tests {
    use bakeoff_model::measure::resource::GcPause;

    use super::{PAUSES_MAX, parse};

    const MIB: u64 = 1 << 20;

    fn one(at_ms: u64, pause_us: u64, is_full: bool, heap_mib: Option<(u64, u64)>) -> GcPause {
        GcPause {
            at_ns: at_ms * 1_000_000,
            pause_ns: pause_us * 1000,
            is_full,
            heap_after_bytes: heap_mib.map(|(after, _)| after * MIB),
            heap_capacity_bytes: heap_mib.map(|(_, capacity)| capacity * MIB),
        }
    }

    #[test]
    fn unified_logs_are_read() {
        let log = parse(
            "[0.004s][info][gc] Using Serial\n\
             [0.512s][info][gc] GC(0) Pause Young (Allocation Failure) 17M->2M(61M) 5.412ms\n\
             [0.9s][info][gc,start    ] GC(1) Pause Full (Metadata GC Threshold)\n\
             [1.250s][info][gc         ] GC(1) Pause Full (Metadata GC Threshold) 20M->9M(61M) \
             30.000ms\n\
             [2.000s][info][gc] GC(2) Concurrent Mark Cycle 4.512ms\n\
             [2.001s][info][gc,phases] GC(3) Pause Mark Start 0.012ms\n\
             garbage\n[\n[s]\n[xs][gc] GC(1) Pause x y 1ms\n",
        );
        assert_eq!(log.collector, "Serial");
        assert_eq!(
            log.pauses,
            [
                one(512, 5412, false, Some((2, 61))),
                one(1250, 30_000, true, Some((9, 61))),
                one(2001, 12, false, None),
            ]
        );
    }

    #[test]
    fn logs_of_jdk_8_are_read() {
        let log = parse(
            "OpenJDK 64-Bit Server VM (25.392-b08)\n\
             1.234: [GC (Allocation Failure)  65536K->10240K(251904K), 0.0087000 secs]\n\
             2.500: [Full GC (Ergonomics) [PSYoungGen: 1K->0K(2K)] [ParOldGen: 9K->8K(9K)] \
             20480K->5120K(251904K), [Metaspace: 1K->1K(1M)], 0.0500000 secs] [Times: user=0.1 \
             sys=0.0, real=0.1 secs]\n",
        );
        assert_eq!(log.pauses[0], one(1234, 8700, false, Some((10, 246))));
        let full = &log.pauses[1];
        assert_eq!((full.at_ns, full.pause_ns), (2_500_000_000, 50_000_000));
        assert!(full.is_full);
        assert_eq!(full.heap_after_bytes, Some(5 * MIB));
    }

    #[test]
    fn a_flood_of_pauses_is_counted() {
        let line = "[1.0s][info][gc] GC(0) Pause Young (x) 1M->1M(2M) 1.000ms\n";
        let log = parse(&line.repeat(PAUSES_MAX + 5));
        assert_eq!(log.pauses.len(), PAUSES_MAX);
        assert_eq!((log.left_out, log.left_out_ns), (5, 5_000_000));
    }
}
