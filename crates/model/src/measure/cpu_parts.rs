//! Parts of a contender's CPU time, by the names of its threads: compiling, collecting
//! garbage, writing logs, and the rest, which is the application.

use bakeoff_base::number::as_f64;

use super::resource::ResourceSample;

/// Beginnings of the names of threads that compile while the program runs. The kernel keeps 15
/// letters of a name.
const COMPILERS: [&str; 4] = ["C1 Compiler", "C2 Compiler", "JVMCI", ".NET Tiered"];
/// Beginnings of the names of threads that collect garbage. HotSpot's serial collector works in
/// the VM thread, and that does little else.
const COLLECTORS: [&str; 12] = [
    "GC Thread",
    "ParGC Thread",
    "G1 ",
    "VM Thread",
    "Shenandoah",
    "ZWorker",
    "ZDriver",
    "ZDirector",
    "XWorker",
    "XDriver",
    ".NET BGC",
    ".NET Server GC",
];
/// Beginnings of the names of threads that write logs for others: of Logback, Log4j,
/// `tracing-appender` and `slog-async`. A service that logs in the threads of requests has none.
const LOGGERS: [&str; 6] = [
    "AsyncAppender",
    "logback-",
    "Log4j2-",
    "AsyncLogger",
    "tracing-append",
    "slog-async",
];

/// The work of a thread besides requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadWork {
    /// Compiling while the program runs.
    Compiling,
    /// Collecting garbage.
    Collecting,
    /// Writing logs.
    Logging,
}

impl ThreadWork {
    /// Returns the work of threads with this name; `None` if they serve requests, as far as the
    /// name says.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let begins = |names: &[&str]| names.iter().any(|one| name.starts_with(one));
        match () {
            () if begins(&COMPILERS) => Some(Self::Compiling),
            () if begins(&COLLECTORS) => Some(Self::Collecting),
            () if begins(&LOGGERS) => Some(Self::Logging),
            () => None,
        }
    }
}

/// CPU time of a contender over some time, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuParts {
    /// All CPU time of the contender.
    pub total_ns: u64,
    /// CPU time of threads that compile.
    pub jit_ns: u64,
    /// CPU time of threads that collect garbage.
    pub gc_ns: u64,
    /// CPU time of threads that write logs.
    pub logging_ns: u64,
}

impl CpuParts {
    /// Returns the CPU time between two readings; `None` if threads or CPU time were not read.
    /// CPU time of a thread that has ended is gone from the later reading, so a part can be too
    /// small.
    #[must_use]
    pub fn between(before: &ResourceSample, after: &ResourceSample) -> Option<Self> {
        let total_ns = |sample: &ResourceSample| Some(sample.cpu?.total_ns());
        let total_ns = total_ns(after)?.saturating_sub(total_ns(before)?);
        let was_read = !before.threads.is_empty() && !after.threads.is_empty();
        was_read.then(|| {
            let used_ns = |work: ThreadWork| -> u64 {
                let named = after.threads.iter();
                let named = named.filter(|(name, _)| ThreadWork::of(name) == Some(work));
                let used = named.map(|(name, group)| {
                    let before = before.threads.get(name).map_or(0, |group| group.cpu_ns);
                    group.cpu_ns.saturating_sub(before)
                });
                // Threads are read a little later than the whole group.
                used.sum::<u64>().min(total_ns)
            };
            let jit_ns = used_ns(ThreadWork::Compiling);
            let gc_ns = used_ns(ThreadWork::Collecting).min(total_ns - jit_ns);
            Self {
                total_ns,
                jit_ns,
                gc_ns,
                logging_ns: used_ns(ThreadWork::Logging).min(total_ns - jit_ns - gc_ns),
            }
        })
    }

    /// Share of CPU time that was spent compiling; 0 if no CPU time was used.
    #[must_use]
    pub fn jit_share(&self) -> f64 {
        self.share(self.jit_ns)
    }

    /// Share of CPU time that was spent collecting garbage.
    #[must_use]
    pub fn gc_share(&self) -> f64 {
        self.share(self.gc_ns)
    }

    /// Share of CPU time that was spent on the rest, writing logs included.
    #[must_use]
    pub fn application_share(&self) -> f64 {
        self.share(self.total_ns.saturating_sub(self.jit_ns + self.gc_ns))
    }

    fn share(&self, part_ns: u64) -> f64 {
        as_f64(part_ns) / as_f64(self.total_ns.max(1))
    }
}

impl std::ops::AddAssign for CpuParts {
    fn add_assign(&mut self, other: Self) {
        self.total_ns += other.total_ns;
        self.jit_ns += other.jit_ns;
        self.gc_ns += other.gc_ns;
        self.logging_ns += other.logging_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::CpuParts;
    use crate::load::CpuTime;
    use crate::measure::resource::{ResourceSample, ThreadGroup};

    fn sample(total_ns: u64, threads: &[(&str, u64)]) -> ResourceSample {
        let group = |(name, cpu_ns): &(&str, u64)| {
            let (count, cpu_ns) = (1, *cpu_ns);
            ((*name).to_owned(), ThreadGroup { count, cpu_ns })
        };
        ResourceSample {
            cpu: Some(CpuTime {
                user_ns: total_ns,
                system_ns: 0,
            }),
            threads: threads.iter().map(group).collect(),
            ..ResourceSample::default()
        }
    }

    #[test]
    fn threads_are_told_apart_by_their_names() {
        let before = sample(1000, &[("C2 CompilerThre", 300), ("VM Thread", 50)]);
        let after = sample(
            3000,
            &[
                ("C1 CompilerThre", 100),
                ("C2 CompilerThre", 600),
                ("VM Thread", 250),
                ("XNIO-1 I/O", 1300),
                ("AsyncAppender-W", 30),
            ],
        );
        let parts = CpuParts::between(&before, &after).unwrap();
        assert_eq!(
            (parts.total_ns, parts.jit_ns, parts.gc_ns, parts.logging_ns),
            (2000, 400, 200, 30)
        );
        let shares = (
            parts.jit_share(),
            parts.gc_share(),
            parts.application_share(),
        );
        assert_eq!(shares, (0.2, 0.1, 0.7));
        // A compiler thread that ended took its time along.
        let ended = sample(3000, &[("C2 CompilerThre", 10), ("main", 1)]);
        assert_eq!(CpuParts::between(&before, &ended).unwrap().jit_ns, 0);
        let native = CpuParts::between(&sample(0, &[("a", 0)]), &sample(9, &[("a", 9)])).unwrap();
        assert_eq!(native.application_share(), 1.0);
        assert_eq!(CpuParts::between(&sample(0, &[]), &after), None);
    }
}
