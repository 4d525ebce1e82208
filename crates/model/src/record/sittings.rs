//! Sittings of runs whose records do not say in which one they were measured: folders from before
//! the key `sitting`.

use super::{Host, RunRecords};

/// The longest time between the end of one run and the start of the next in a sitting, ns. A person
/// who goes on with `--resume` rarely does so sooner, and builds and checks between two sets take
/// less.
const GAP_MAX_NS: u64 = 600_000_000_000;

/// Fills in the sitting of runs without one, as the start of its first run: another host is another
/// sitting, and so is what was measured more than ten minutes after the run before. A clock that
/// went back is that of another host or of one that was started again.
pub fn fill_in(runs: &mut [RunRecords]) {
    let mut runs: Vec<&mut RunRecords> = runs
        .iter_mut()
        .filter(|run| run.begin.sitting.is_none())
        .collect();
    // Times in RFC 3339 have the order of their texts.
    runs.sort_by(|a, b| a.begin.at.cmp(&b.begin.at));
    let mut current: Option<Sitting> = None;
    for run in runs {
        let (from_ns, to_ns) = times(run).unzip();
        let sitting = match current.take() {
            Some(sitting) if sitting.goes_on(&run.begin.host, from_ns) => sitting,
            _ => Sitting {
                at: run.begin.at.clone(),
                host: run.begin.host.clone(),
                from_ns,
                to_ns,
            },
        };
        run.begin.sitting = Some(sitting.at.clone());
        current = Some(Sitting {
            from_ns: sitting.from_ns.or(from_ns),
            to_ns: sitting.to_ns.max(to_ns),
            ..sitting
        });
    }
}

/// The sitting so far; times are those of the host's monotonic clock, absent until a run has some.
struct Sitting {
    at: String,
    host: Host,
    from_ns: Option<u64>,
    to_ns: Option<u64>,
}

impl Sitting {
    fn goes_on(&self, host: &Host, next_ns: Option<u64>) -> bool {
        let of = |host: &Host| (host.kernel.clone(), host.cpu_model.clone(), host.cores);
        let in_time = match (self.from_ns.zip(self.to_ns), next_ns) {
            (Some((from, to)), Some(next)) => {
                let earliest = from.saturating_sub(GAP_MAX_NS);
                (earliest..=to.saturating_add(GAP_MAX_NS)).contains(&next)
            }
            _ => true,
        };
        of(&self.host) == of(host) && in_time
    }
}

/// When a run was started and when it ended, as far as its records tell.
fn times(run: &RunRecords) -> Option<(u64, u64)> {
    let startup = run.startup.as_ref()?;
    let from_ns = startup.resources.at_ns.saturating_sub(startup.startup_ns);
    let last = run.intervals.last().map(|slice| slice.load.end_ns);
    Some((from_ns, last.unwrap_or(startup.resources.at_ns)))
}
