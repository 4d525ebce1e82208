//! A started local process with its group.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use bakeoff_build::log::{file_begin, last_lines};
use bakeoff_model::load::CpuCounter;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Startup;
use rustix::process::{Pid, Signal, kill_process};

use crate::Wire;
use crate::api::{BoxFuture, ExitInfo, Instance, ReadyError, Sampled, StopReport};
use crate::cgroup::Group;
use crate::local::network::Line;
use crate::local::output::Output;
use crate::local::shim::{FAILED, NO_PROGRAM};
use crate::local::sockets::{holder, listeners, listeners_of};
use crate::meter::{Meter, tree};
use crate::ready::{Answered, Unanswered, await_answer, monotonic_ns};

/// How often a stopping process is looked at.
const STOP_POLL: Duration = Duration::from_millis(2);

/// How often a process that makes its network is looked at, and how long it may take.
const NETWORK_POLL: Duration = Duration::from_millis(1);
const NETWORK_LIMIT: Duration = Duration::from_secs(5);

/// The parts of a started process.
pub(super) struct StartedProcess {
    pub(super) label: String,
    pub(super) address: SocketAddr,
    pub(super) ready_path: String,
    pub(super) wire: Wire,
    pub(super) log_path: PathBuf,
    pub(super) output: Output,
    pub(super) child: Child,
    pub(super) meter: Meter,
    pub(super) group: Option<Group>,
    pub(super) line: Option<Line>,
    pub(super) stamp: PathBuf,
    pub(super) asked_ns: u64,
    pub(super) created_ns: u64,
}

/// Why a program was not executed.
#[derive(Debug)]
pub(super) enum NotExecuted {
    /// The program cannot be executed, or does not fit into its limits.
    Program(Problem),
    /// The host or the shim failed.
    Host(Problem),
}

/// A started local process.
#[derive(Debug)]
pub(super) struct ProcessInstance {
    shared: Arc<Shared>,
    group: Option<Group>,
}

#[derive(Debug)]
struct Shared {
    label: String,
    address: SocketAddr,
    ready_path: String,
    wire: Wire,
    log_path: PathBuf,
    output: Output,
    pid: u32,
    main: Mutex<Main>,
    meter: Meter,
    line: Option<Line>,
    stamp: PathBuf,
    asked_ns: u64,
    created_ns: u64,
}

#[derive(Debug)]
struct Main {
    child: Child,
    exit: Option<ExitInfo>,
    /// Processes that outlived it were killed. That is not done twice: its number may be another's
    /// by then.
    cleared: bool,
}

impl Shared {
    fn main(&self) -> MutexGuard<'_, Main> {
        self.main.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the main process ended, if it has. Does not wait.
    fn exit(&self) -> Option<ExitInfo> {
        let mut main = self.main();
        if main.exit.is_none()
            && let Ok(Some(status)) = main.child.try_wait()
        {
            main.exit = Some(self.info(status));
        }
        main.exit
    }

    fn info(&self, status: ExitStatus) -> ExitInfo {
        let oom_killed = self.meter.oom_kills().is_some_and(|kills| kills > 0);
        ExitInfo {
            code: status.code(),
            signal: status.signal(),
            oom_killed,
        }
    }

    /// Kills the main process and waits for its end.
    fn kill(&self) -> ExitInfo {
        // If there is a group, its removal kills the rest; otherwise this does.
        let rest = tree(self.pid);
        let mut main = self.main();
        if let Some(exit) = main.exit {
            return exit;
        }
        let _ = main.child.kill();
        for pid in rest
            .into_iter()
            .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        {
            let _ = kill_process(pid, Signal::KILL);
        }
        let exit = main
            .child
            .wait()
            .map(|status| self.info(status))
            .unwrap_or_default();
        main.exit = Some(exit);
        exit
    }

    /// The stamp of the shim: when the program was executed, or why it was not.
    fn stamp(&self) -> Result<u64, NotExecuted> {
        let text = fs::read_to_string(&self.stamp).unwrap_or_default();
        if let Some(reason) = text.strip_prefix(NO_PROGRAM) {
            return Err(NotExecuted::Program(reason.to_owned().into()));
        }
        let host = |reason: &str| NotExecuted::Host(reason.to_owned().into());
        match (text.trim().parse(), text.strip_prefix(FAILED), self.exit()) {
            (Ok(executed_ns), _, _) => Ok(executed_ns),
            (_, Some(reason), _) => Err(host(reason)),
            (_, None, None) => Ok(self.created_ns),
            (_, None, Some(exit)) => {
                let problem = Problem::new(format_args!("{exit} before its program was executed"));
                let problem = problem.with_evidence(self.log());
                Err(match exit.oom_killed {
                    true => NotExecuted::Program(problem),
                    false => NotExecuted::Host(problem),
                })
            }
        }
    }

    fn log(&self) -> String {
        last_lines(&self.output.tail())
    }

    /// Waits for the first valid response. Blocking.
    fn await_ready(&self, limit: Duration) -> Result<Startup, ReadyError> {
        let mut ended = || self.exit().is_some();
        let answer = await_answer(
            self.address,
            &self.ready_path,
            &self.wire.spoken(),
            limit,
            &mut ended,
        );
        let own = answer.and_then(|answered| match self.other_listener() {
            Some(other) => Err(Unanswered::NoAnswer(format!("a response of {other}"))),
            None => Ok(answered),
        });
        match own {
            Ok(answered) => Ok(self.startup(answered)),
            Err(unanswered) => Err(self.not_ready(unanswered, limit)),
        }
    }

    /// The process that listens on the contender's port in its place: the port was free at the
    /// start, and another process may have been faster.
    fn other_listener(&self) -> Option<String> {
        // Nothing else is in its separate network.
        if self.line.is_some() {
            return None;
        }
        let port = self.address.port();
        let own = listeners_of(&self.processes());
        if own.iter().any(|address| address.port() == port) {
            return None;
        }
        let mut others = listeners().into_iter();
        holder(others.find(|one| one.address.port() == port)?.inode)
    }

    fn processes(&self) -> Vec<u32> {
        match self.meter.processes() {
            none if none.is_empty() => tree(self.pid),
            processes => processes,
        }
    }

    fn startup(&self, answered: Answered) -> Startup {
        let executed_ns = self.stamp().unwrap_or(self.created_ns);
        let since = |moment: u64| moment.saturating_sub(self.asked_ns);
        Startup {
            created_ns: since(self.created_ns),
            executed_ns: since(executed_ns),
            listened_ns: since(answered.listened_ns),
            answered_ns: since(answered.answered_ns),
            startup_ns: answered.answered_ns.saturating_sub(executed_ns),
            resources: self.meter.sample(),
            image_bytes: None,
            pod: None,
        }
    }

    fn not_ready(&self, unanswered: Unanswered, limit: Duration) -> ReadyError {
        let label = self.label.clone();
        match unanswered {
            Unanswered::Ended => ReadyError::Exited {
                label,
                exit: self.exit().unwrap_or_default(),
                after: Duration::from_nanos(monotonic_ns().saturating_sub(self.asked_ns)),
                log: match self.stamp() {
                    Ok(_) => self.log(),
                    Err(NotExecuted::Program(why)) => why.to_string(),
                    Err(NotExecuted::Host(why)) => {
                        return ReadyError::NotExecuted(why.context(&self.label));
                    }
                },
            },
            Unanswered::NoListener => {
                let hint = Some(self.listener_hint());
                ReadyError::NoListener {
                    label,
                    limit,
                    hint,
                    log: self.log(),
                }
            }
            Unanswered::NoAnswer(found) => ReadyError::NoAnswer {
                label,
                limit,
                found,
                log: self.log(),
            },
        }
    }

    fn listener_hint(&self) -> String {
        let wish = format!("0.0.0.0:{}", self.address.port());
        let found: Vec<String> = listeners_of(&self.processes())
            .iter()
            .map(ToString::to_string)
            .collect();
        if found.is_empty() {
            return format!("it opened no port; it must listen on {wish}");
        }
        format!("it listens on {}, not on {wish}", found.join(" and "))
    }
}

impl ProcessInstance {
    pub(super) fn new(parts: StartedProcess) -> Self {
        let shared = Shared {
            pid: parts.child.id(),
            label: parts.label,
            address: parts.address,
            ready_path: parts.ready_path,
            wire: parts.wire,
            log_path: parts.log_path,
            output: parts.output,
            main: Mutex::new(Main {
                child: parts.child,
                exit: None,
                cleared: false,
            }),
            meter: parts.meter,
            line: parts.line,
            stamp: parts.stamp,
            asked_ns: parts.asked_ns,
            created_ns: parts.created_ns,
        };
        Self {
            shared: Arc::new(shared),
            group: parts.group,
        }
    }

    /// Waits until the process has the network that it was promised: before that, its address
    /// belongs to anybody. Blocking.
    pub(super) fn await_network(&mut self) -> Result<(), NotExecuted> {
        let shared = &self.shared;
        if shared.line.is_none() {
            return Ok(());
        }
        let began = Instant::now();
        loop {
            let is_stamped = fs::metadata(&shared.stamp).is_ok_and(|stamp| stamp.len() > 0);
            if is_stamped || shared.exit().is_some() {
                return shared.stamp().map(drop);
            }
            if began.elapsed() > NETWORK_LIMIT {
                let why = "it did not get a separate network";
                return Err(NotExecuted::Host(why.into()));
            }
            std::thread::sleep(NETWORK_POLL);
        }
    }

    /// Asks the main process to stop and waits until it has or the time is over.
    async fn ask_to_stop(&self, grace: Duration) -> Option<ExitInfo> {
        // Like a container engine: the signal goes to the main process alone, and passing it on
        // is that one's duty.
        {
            let main = self.shared.main();
            // Under the lock and not yet waited for, the number is still its own.
            if let (None, Some(pid)) = (main.exit, number(self.shared.pid)) {
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        let began = Instant::now();
        loop {
            if let Some(exit) = self.shared.exit() {
                return Some(exit);
            }
            if began.elapsed() >= grace {
                return None;
            }
            tokio::time::sleep(STOP_POLL).await;
        }
    }
}

impl Instance for ProcessInstance {
    fn address(&self) -> SocketAddr {
        self.shared.address
    }

    fn device(&self) -> Option<&str> {
        let line = self.shared.line.as_ref()?;
        Some(&line.device)
    }

    fn wire(&self) -> Wire {
        self.shared.wire.clone()
    }

    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let waiting = Arc::clone(&shared);
            let outcome = tokio::task::spawn_blocking(move || waiting.await_ready(limit)).await;
            outcome.unwrap_or_else(|_| Err(shared.not_ready(Unanswered::NoListener, limit)))
        })
    }

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let sampling = tokio::task::spawn_blocking(move || {
                Sampled::here(ResourceSample {
                    log_lines: Some(shared.output.lines()),
                    ..shared.meter.sample()
                })
            });
            sampling.await.unwrap_or_default()
        })
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        let exit = self.shared.exit();
        Box::pin(async move { exit })
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport> {
        Box::pin(async move {
            let began = Instant::now();
            let report = |graceful, killed, took, exit| StopReport {
                graceful,
                took,
                exit,
                killed,
            };
            let report = if let Some(exit) = self.shared.exit() {
                report(false, false, Duration::ZERO, exit)
            } else if let Some(exit) = self.ask_to_stop(grace).await {
                report(true, false, began.elapsed(), exit)
            } else {
                let exit = self.shared.kill();
                report(false, true, began.elapsed(), exit)
            };
            let (shared, group) = (Arc::clone(&self.shared), self.group.take());
            let _ = tokio::task::spawn_blocking(move || shared.clear(group)).await;
            report
        })
    }

    fn processes(&self) -> Vec<u32> {
        self.shared.processes()
    }

    fn cpu_counter(&self) -> Option<CpuCounter> {
        Some(self.shared.meter.cpu_counter())
    }

    fn logs(&self) -> String {
        self.shared.output.tail()
    }

    fn log_path(&self) -> &Path {
        &self.shared.log_path
    }

    fn file(&self, path: &Path) -> Option<String> {
        file_begin(path)
    }
}

impl Shared {
    /// Kills the processes that outlived the main one and removes what held them. Blocking.
    fn clear(&self, group: Option<Group>) {
        let first = !std::mem::replace(&mut self.main().cleared, true);
        match group {
            Some(mut group) => {
                // Groups that could not be removed now are left to the next sweep.
                let _ = group.remove();
            }
            None if first => kill_all(&tree(self.pid)),
            None => {}
        }
        if let Some(line) = &self.line {
            line.take_down();
        }
        let _ = fs::remove_file(&self.stamp);
        self.output.finish();
    }
}

fn number(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn kill_all(processes: &[u32]) {
    for pid in processes.iter().filter_map(|pid| number(*pid)) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

impl Drop for ProcessInstance {
    fn drop(&mut self) {
        self.shared.kill();
        self.shared.clear(self.group.take());
    }
}
