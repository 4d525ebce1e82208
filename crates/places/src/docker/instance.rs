//! A started container.
//!
//! Its group also includes its preparation: some 20 ms of CPU time and 4 MiB peak memory by the
//! engine's helper, which becomes the container's program.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bakeoff_build::log::{Log, file_begin, last_lines};
use bakeoff_model::load::CpuCounter;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Startup;
use bollard::query_parameters::KillContainerOptions;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Wire;
use crate::api::{BoxFuture, ExitInfo, Health, Instance, ReadyError, Sampled, StopReport};
use crate::docker::container::inspect;
use crate::docker::engine::Engine;
use crate::docker::session::remove_container;
use crate::docker::settings::health_of;
use crate::docker::{drop_aside, stats};
use crate::local::sockets::listeners_beside;
use crate::meter::Meter;
use crate::ready::{Answered, Unanswered, await_answer, monotonic_ns};

/// How long the rest of a container's output may take to arrive after its end.
const LOG_PATIENCE: Duration = Duration::from_secs(2);

/// How long the engine may take to report the end of a container that it killed.
const KILL_PATIENCE: Duration = Duration::from_secs(30);

/// A started container: its identity, address and files.
pub(super) struct StartedContainer {
    pub(super) engine: Engine,
    pub(super) id: String,
    pub(super) label: String,
    pub(super) address: SocketAddr,
    /// The device that leads to it and not out of this host, if it is known.
    pub(super) device: Option<String>,
    pub(super) ready_path: String,
    pub(super) wire: Wire,
    /// Asks it to stop [default: SIGTERM].
    pub(super) stop_signal: Option<String>,
    pub(super) log_path: PathBuf,
    pub(super) image_bytes: u64,
    /// The container's main process, if it is one of this host.
    pub(super) pid: Option<u32>,
    pub(super) asked_ns: u64,
    pub(super) created_ns: u64,
    pub(super) executed_ns: u64,
    /// The exit of the container, once it has happened.
    pub(super) exit: watch::Receiver<Option<ExitInfo>>,
    pub(super) log: Log,
    /// Copies the container's output to the log.
    pub(super) copying: JoinHandle<()>,
    /// Waits for the container's exit.
    pub(super) waiter: JoinHandle<()>,
}

/// A started container.
pub(super) struct DockerInstance {
    shared: Arc<Shared>,
    copying: Option<JoinHandle<()>>,
    waiter: JoinHandle<()>,
    removed: bool,
}

struct Shared {
    engine: Engine,
    id: String,
    label: String,
    address: SocketAddr,
    device: Option<String>,
    ready_path: String,
    wire: Wire,
    stop_signal: Option<String>,
    log_path: PathBuf,
    log: Log,
    image_bytes: u64,
    pid: Option<u32>,
    /// Made with the first sample: before that, nothing should keep the start from being timed.
    meter: OnceLock<Meter>,
    asked_ns: u64,
    created_ns: u64,
    executed_ns: u64,
    exit: watch::Receiver<Option<ExitInfo>>,
    /// A sample has seen a process of the group killed for memory.
    oom_seen: AtomicBool,
}

impl DockerInstance {
    pub(super) fn new(parts: StartedContainer) -> Self {
        let shared = Shared {
            meter: OnceLock::new(),
            engine: parts.engine,
            id: parts.id,
            label: parts.label,
            address: parts.address,
            device: parts.device,
            ready_path: parts.ready_path,
            wire: parts.wire,
            stop_signal: parts.stop_signal,
            log_path: parts.log_path,
            log: parts.log,
            image_bytes: parts.image_bytes,
            pid: parts.pid,
            asked_ns: parts.asked_ns,
            created_ns: parts.created_ns,
            executed_ns: parts.executed_ns,
            exit: parts.exit,
            oom_seen: AtomicBool::new(false),
        };
        Self {
            shared: Arc::new(shared),
            copying: Some(parts.copying),
            waiter: parts.waiter,
            removed: false,
        }
    }

    /// After the end: waits for the rest of the output.
    async fn finish_log(&mut self) {
        if let Some(mut copying) = self.copying.take()
            && tokio::time::timeout(LOG_PATIENCE, &mut copying)
                .await
                .is_err()
        {
            copying.abort();
        }
        self.shared.log.finish();
    }

    async fn remove(&mut self) {
        // What could not be removed now is tried again by the drop, and then by the next sweep.
        self.removed = remove_container(&self.shared.engine, &self.shared.id)
            .await
            .is_ok();
    }
}

impl Shared {
    fn exit(&self) -> Option<ExitInfo> {
        let exit = (*self.exit.borrow())?;
        Some(ExitInfo {
            oom_killed: exit.oom_killed || self.oom_seen.load(Ordering::Relaxed),
            ..exit
        })
    }

    async fn await_exit(&self, limit: Duration) -> Option<ExitInfo> {
        let mut exit = self.exit.clone();
        let ended = exit.wait_for(Option::is_some);
        let _ = tokio::time::timeout(limit, ended).await;
        self.exit()
    }

    async fn signal(&self, name: &str) {
        let options = KillContainerOptions {
            signal: name.to_owned(),
        };
        // A container that has ended meanwhile cannot be signalled, and need not be.
        let _ = self
            .engine
            .docker
            .kill_container(&self.id, Some(options))
            .await;
    }

    async fn stop(&self, grace: Duration) -> StopReport {
        let report = |graceful, killed, took, exit| StopReport {
            graceful,
            took,
            exit,
            killed,
        };
        if let Some(exit) = self.exit() {
            return report(false, false, Duration::ZERO, exit);
        }
        let began = Instant::now();
        let asks_otherwise = self.stop_signal.is_some();
        if !asks_otherwise && self.pid.is_some_and(ignores_sigterm) {
            self.signal("SIGKILL").await;
            let exit = self.await_exit(KILL_PATIENCE).await.unwrap_or_default();
            return report(false, true, began.elapsed(), exit);
        }
        self.signal(self.stop_signal.as_deref().unwrap_or("SIGTERM"))
            .await;
        if let Some(exit) = self.await_exit(grace.saturating_sub(began.elapsed())).await {
            return report(true, false, began.elapsed(), exit);
        }
        self.signal("SIGKILL").await;
        let exit = self.await_exit(KILL_PATIENCE).await.unwrap_or_default();
        report(false, true, began.elapsed(), exit)
    }

    /// A reading with the lines that have come over the engine up to now.
    async fn sample(self: Arc<Self>) -> ResourceSample {
        let log = self.log.clone();
        let metered = self.metered().await;
        ResourceSample {
            log_lines: Some(log.lines()),
            ..metered
        }
    }

    async fn metered(self: Arc<Self>) -> ResourceSample {
        let Some(pid) = self.pid else {
            return stats::sample(&self.engine, &self.id).await;
        };
        let sampling = tokio::task::spawn_blocking(move || {
            let sample = self.meter.get_or_init(|| Meter::of_pid(pid)).sample();
            if sample
                .memory
                .is_some_and(|memory| memory.oom_kills > Some(0))
            {
                self.oom_seen.store(true, Ordering::Relaxed);
            }
            sample
        });
        sampling.await.unwrap_or_default()
    }

    fn startup(&self, answered: Answered, resources: ResourceSample) -> Startup {
        let since = |moment: u64| moment.saturating_sub(self.asked_ns);
        Startup {
            created_ns: since(self.created_ns),
            executed_ns: since(self.executed_ns),
            listened_ns: since(answered.listened_ns),
            answered_ns: since(answered.answered_ns),
            startup_ns: answered.answered_ns.saturating_sub(self.executed_ns),
            resources,
            image_bytes: None,
            pod: None,
        }
    }

    fn not_ready(&self, unanswered: Unanswered, limit: Duration) -> ReadyError {
        let label = self.label.clone();
        let log = last_lines(&self.log.tail());
        match unanswered {
            Unanswered::Ended => ReadyError::Exited {
                label,
                exit: self.exit().unwrap_or_default(),
                after: Duration::from_nanos(monotonic_ns().saturating_sub(self.executed_ns)),
                log,
            },
            Unanswered::NoListener => ReadyError::NoListener {
                label,
                limit,
                hint: Some(self.listener_hint()),
                log,
            },
            Unanswered::NoAnswer(found) => ReadyError::NoAnswer {
                label,
                limit,
                found,
                log,
            },
        }
    }

    fn listener_hint(&self) -> String {
        let wish = format!("0.0.0.0:{}", self.address.port());
        match self.pid.map(listeners_beside) {
            Some(found) if found.is_empty() => {
                format!("it opened no port; it must listen on {wish}")
            }
            Some(found) => format!("it listens on {}, not on {wish}", found.join(" and ")),
            None => format!("it should listen on {wish}"),
        }
    }
}

impl Instance for DockerInstance {
    fn address(&self) -> SocketAddr {
        self.shared.address
    }

    fn device(&self) -> Option<&str> {
        self.shared.device.as_deref()
    }

    fn wire(&self) -> Wire {
        self.shared.wire.clone()
    }

    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        Box::pin(async move {
            let shared = Arc::clone(&self.shared);
            let asking = tokio::task::spawn_blocking(move || {
                let mut ended = || shared.exit.borrow().is_some();
                await_answer(
                    shared.address,
                    &shared.ready_path,
                    &shared.wire.spoken(),
                    limit,
                    &mut ended,
                )
            });
            match asking.await.unwrap_or(Err(Unanswered::NoListener)) {
                Ok(answered) => {
                    let resources = Arc::clone(&self.shared).sample().await;
                    Ok(self.shared.startup(answered, resources))
                }
                Err(unanswered) => {
                    if unanswered == Unanswered::Ended {
                        self.finish_log().await;
                    }
                    Err(self.shared.not_ready(unanswered, limit))
                }
            }
        })
    }

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        let sampling = Arc::clone(&self.shared).sample();
        Box::pin(async { Sampled::here(sampling.await) })
    }

    fn cpu_counter(&self) -> Option<CpuCounter> {
        let pid = self.shared.pid?;
        let meter = self.shared.meter.get_or_init(|| Meter::of_pid(pid));
        Some(meter.cpu_counter())
    }

    fn processes(&self) -> Vec<u32> {
        let Some(pid) = self.shared.pid else {
            return Vec::new();
        };
        let meter = self.shared.meter.get_or_init(|| Meter::of_pid(pid));
        match meter.processes() {
            none if none.is_empty() => vec![pid],
            all => all,
        }
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        let exit = self.shared.exit();
        Box::pin(async move { exit })
    }

    fn health(&self) -> BoxFuture<'_, Option<Health>> {
        Box::pin(async {
            let found = inspect(&self.shared.engine, &self.shared.id).await;
            health_of(found.ok().flatten()?.state?)
        })
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport> {
        Box::pin(async move {
            let report = self.shared.stop(grace).await;
            self.finish_log().await;
            self.remove().await;
            report
        })
    }

    fn logs(&self) -> String {
        self.shared.log.tail()
    }

    fn log_path(&self) -> &Path {
        &self.shared.log_path
    }

    fn file(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix("/").ok()?;
        file_begin(&Path::new(&format!("/proc/{}/root", self.shared.pid?)).join(inside))
    }

    fn image_bytes(&self) -> Option<u64> {
        Some(self.shared.image_bytes)
    }
}

/// Whether a process does not end on SIGTERM: the first one of a container gets no signal that it
/// has no handler for.
fn ignores_sigterm(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    status.is_ok_and(|status| ignores_sigterm_by(&status))
}

fn ignores_sigterm_by(status: &str) -> bool {
    const SIGTERM: u32 = 15;
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let own = value("NSpid:").and_then(|ids| ids.split_whitespace().next_back());
    let caught = value("SigCgt:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    own == Some("1") && caught.is_some_and(|mask| mask & (1 << (SIGTERM - 1)) == 0)
}

impl Drop for DockerInstance {
    fn drop(&mut self) {
        self.waiter.abort();
        if let Some(copying) = &self.copying {
            copying.abort();
        }
        if !self.removed {
            let id = self.shared.id.clone();
            drop_aside(&self.shared.engine, |engine| async move {
                let _ = remove_container(&engine, &id).await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ignores_sigterm_by;

    #[test]
    fn the_first_process_of_a_container_needs_a_handler() {
        let status =
            |ids: &str, caught: &str| format!("Name:\tx\nNSpid:\t{ids}\nSigCgt:\t{caught}\n");
        assert!(ignores_sigterm_by(&status("4711\t1", "0000000000000440")));
        assert!(!ignores_sigterm_by(&status("4711\t1", "0000000000004440")));
        assert!(!ignores_sigterm_by(&status("4711", "0000000000000000")));
        assert!(!ignores_sigterm_by(""));
    }
}
