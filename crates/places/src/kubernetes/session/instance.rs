//! A started Pod of a contender.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bakeoff_build::log::{Log, last_lines};
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Startup;
use bakeoff_model::record::nodes::PodStart;
use futures_util::AsyncReadExt as _;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::Api;
use kube::api::{DeleteParams, LogParams};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Wire;
use crate::api::{BoxFuture, ExitInfo, Instance, ReadyError, Sampled, StopReport};
use crate::kubernetes::cluster::error::{ClusterError, is_missing};
use crate::kubernetes::pods::client::PodClient;
use crate::kubernetes::pods::events::pull_ns;
use crate::kubernetes::pods::local_pods;
use crate::kubernetes::pods::state::{ContainerExit, PodState, disrupted, state};
use crate::ready::monotonic_ns;
use crate::remote::protocol::{PodReply, PodRequest, RemoteReply, RemoteRequest};

/// Distance of two looks at a Pod.
const POLL: Duration = Duration::from_millis(200);
/// Distance of two looks at a Pod that is being deleted: the time between the end of its container,
/// whose exit status is wanted, and its removal may be short.
const POLL_LEAVING: Duration = Duration::from_millis(20);
/// How long the rest of a Pod's output may take to arrive after its end.
const LOG_PATIENCE: Duration = Duration::from_secs(2);
/// How long beyond its grace a Pod may take to go.
const KILL_PATIENCE: Duration = Duration::from_secs(30);

/// A started Pod: its identity, address and meter.
pub(crate) struct StartedPod {
    pub(crate) pods: Api<Pod>,
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) address: SocketAddr,
    pub(crate) wire: Wire,
    /// The identity of its container, empty when it ended before that was known.
    pub(crate) container: String,
    /// Reads the cgroup files of the Pod's node.
    pub(crate) meter: Arc<PodClient>,
    pub(crate) asked_ns: u64,
    pub(crate) created_ns: u64,
    /// When the Pod was seen to have a node.
    pub(crate) scheduled_ns: u64,
    pub(crate) events: Api<Event>,
    /// The node's report on the Pod's start.
    pub(crate) start: JoinHandle<Result<(PodReply, u64), ClusterError>>,
    pub(crate) log: Log,
    pub(crate) log_path: PathBuf,
    pub(crate) ended: watch::Receiver<Option<ContainerExit>>,
    /// Whether the session has asked for the Pod's end.
    pub(crate) leaving: Arc<AtomicBool>,
    /// Follow the Pod's state, and copy its output.
    pub(crate) followers: [JoinHandle<()>; 2],
}

/// A started Pod.
pub(crate) struct PodInstance {
    parts: StartedPod,
    removed: bool,
}

impl PodInstance {
    /// Returns the Pods of the instance's namespace.
    pub(crate) fn pods(&self) -> &Api<Pod> {
        &self.parts.pods
    }

    /// Returns the name of the instance's Pod.
    pub(crate) fn name(&self) -> &str {
        &self.parts.name
    }

    pub(crate) fn new(parts: StartedPod) -> Self {
        Self {
            parts,
            removed: false,
        }
    }

    fn exit(&self) -> Option<ExitInfo> {
        self.parts.ended.borrow().as_ref().map(|ended| ended.exit)
    }

    async fn await_end(&self, limit: Duration) -> Option<ExitInfo> {
        let mut ended = self.parts.ended.clone();
        let waiting = ended.wait_for(Option::is_some);
        let _ = tokio::time::timeout(limit, waiting).await;
        self.exit()
    }

    async fn delete(&mut self, grace: Duration) {
        self.parts.leaving.store(true, Ordering::Relaxed);
        let seconds = u32::try_from(grace.as_secs()).unwrap_or(u32::MAX);
        // Without any grace the API server forgets a Pod before it has ended.
        let parameters = DeleteParams::default().grace_period(seconds.max(1));
        let deleted = self.parts.pods.delete(&self.parts.name, &parameters).await;
        // One that cannot be deleted now goes with its namespace.
        self.removed = deleted.is_ok();
    }

    async fn finish_log(&mut self) {
        let [_, copying] = &mut self.parts.followers;
        // Awaited once only: the watch that finds that it has ended and the stop both come here.
        if !copying.is_finished() {
            let copied = tokio::time::timeout(LOG_PATIENCE, &mut *copying).await;
            if copied.is_err() {
                copying.abort();
            }
        }
        self.parts.log.finish();
    }

    async fn stopped(&mut self, grace: Duration) -> StopReport {
        let report = |graceful, killed, took, exit| StopReport {
            graceful,
            took,
            exit,
            killed,
        };
        if let Some(exit) = self.exit() {
            self.delete(Duration::ZERO).await;
            return report(false, false, Duration::ZERO, exit);
        }
        let began = Instant::now();
        self.delete(grace).await;
        let exit = self
            .await_end(grace + KILL_PATIENCE)
            .await
            .unwrap_or_default();
        let took = began.elapsed();
        let killed = exit.signal == Some(9) || took > grace.max(POLL) + KILL_PATIENCE / 2;
        report(!killed, killed, took, exit)
    }

    fn startup(
        &self,
        reply: &PodReply,
        heard_ns: u64,
        resources: ResourceSample,
    ) -> Option<Startup> {
        let PodReply::Answered {
            taken_ago_ns,
            executed_ago_ns,
            listened_ago_ns,
            answered_ago_ns,
        } = reply
        else {
            return None;
        };
        let since = |ago_ns: u64| {
            heard_ns
                .saturating_sub(ago_ns)
                .saturating_sub(self.parts.asked_ns)
        };
        Some(Startup {
            // Creation counts from when its node took the Pod: before, it is only an API object.
            created_ns: since(*taken_ago_ns),
            executed_ns: since(*executed_ago_ns),
            listened_ns: since(*listened_ago_ns),
            answered_ns: since(*answered_ago_ns),
            // On the node's own clock.
            startup_ns: executed_ago_ns.saturating_sub(*answered_ago_ns),
            resources,
            image_bytes: None,
            pod: Some(PodStart {
                scheduled_ns: self.parts.scheduled_ns.saturating_sub(self.parts.asked_ns),
                taken_ns: since(*taken_ago_ns),
                pull_ns: None,
            }),
        })
    }

    fn not_ready(&self, reply: Result<PodReply, ClusterError>, limit: Duration) -> ReadyError {
        let label = self.parts.label.clone();
        let log = last_lines(&self.parts.log.tail());
        if let Some(exit) = self.exit() {
            let after = monotonic_ns().saturating_sub(self.parts.created_ns);
            return ReadyError::Exited {
                label,
                exit,
                after: Duration::from_nanos(after),
                log,
            };
        }
        let found = match reply {
            Ok(PodReply::NoListener { listens }) => {
                return ReadyError::NoListener {
                    label,
                    limit,
                    hint: Some(listener_hint(&listens, self.parts.address.port())),
                    log,
                };
            }
            Ok(PodReply::NoAnswer(found)) => found,
            Ok(_) => "its node's meter saw no program of it start".to_owned(),
            Err(error) => error.to_string(),
        };
        ReadyError::NoAnswer {
            label,
            limit,
            found,
            log,
        }
    }
}

fn listener_hint(listens: &[String], port: u16) -> String {
    let wish = format!("0.0.0.0:{port}");
    match listens {
        [] => format!("it opened no port; it must listen on {wish}"),
        found => format!("it listens on {}, not on {wish}", found.join(" and ")),
    }
}

impl Instance for PodInstance {
    fn address(&self) -> SocketAddr {
        self.parts.address
    }

    fn wire(&self) -> Wire {
        self.parts.wire.clone()
    }

    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        Box::pin(async move {
            let mut ended = self.parts.ended.clone();
            let outcome = tokio::select! {
                start = &mut self.parts.start => Some(start),
                _ = ended.wait_for(Option::is_some) => None,
            };
            let reply = match outcome {
                Some(Ok(Ok((reply, heard_ns)))) => {
                    let resources = self.sample().await.resources;
                    match self.startup(&reply, heard_ns, resources) {
                        Some(mut startup) => {
                            let pull_ns = pull_ns(&self.parts.events, &self.parts.name).await;
                            startup.pod.iter_mut().for_each(|pod| pod.pull_ns = pull_ns);
                            return Ok(startup);
                        }
                        None => Ok(reply),
                    }
                }
                Some(Ok(Err(error))) => Err(error),
                Some(Err(_)) | None => Ok(PodReply::Ended),
            };
            if matches!(reply, Ok(PodReply::Ended)) {
                // The API server learns of the end later than the node.
                self.await_end(LOG_PATIENCE).await;
                self.finish_log().await;
            }
            Err(self.not_ready(reply, limit))
        })
    }

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        Box::pin(async {
            let mut sampled = sample(&self.parts.meter, &self.parts.container).await;
            let lines = &mut sampled.resources.log_lines;
            *lines = lines.or(Some(self.parts.log.lines()));
            sampled
        })
    }

    fn processes(&self) -> Vec<u32> {
        local_pods::processes(&self.parts.container)
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        let exit = self.exit();
        Box::pin(async move { exit })
    }

    fn ended_because(&self) -> Option<String> {
        self.parts.ended.borrow().as_ref()?.why.clone()
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport> {
        Box::pin(async move {
            let report = self.stopped(grace).await;
            self.finish_log().await;
            report
        })
    }

    fn logs(&self) -> String {
        self.parts.log.tail()
    }

    fn log_path(&self) -> &Path {
        &self.parts.log_path
    }
}

impl Drop for PodInstance {
    fn drop(&mut self) {
        self.parts.start.abort();
        self.parts.followers.iter().for_each(JoinHandle::abort);
        if self.removed {
            return;
        }
        delete_aside(self.parts.pods.clone(), self.parts.name.clone());
    }
}

/// Asks for the end of a Pod without waiting. When a session ends, it is removed with everything
/// that the session made.
pub(crate) fn delete_aside(pods: Api<Pod>, name: String) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            let parameters = DeleteParams::default().grace_period(1);
            let _ = pods.delete(&name, &parameters).await;
        });
    }
}

/// Returns the cost of a container and the core times of its node, by the meter there; nothing if
/// the meter cannot be reached.
pub(crate) async fn sample(meter: &PodClient, container: &str) -> Sampled {
    let container = container.to_owned();
    match meter
        .ask(&RemoteRequest::Pod(PodRequest::Sample { container }))
        .await
    {
        Ok(RemoteReply::Sample(resources, host)) => Sampled {
            resources: *resources,
            host,
        },
        _ => Sampled::default(),
    }
}

/// Looks at a Pod until it has ended, and notes in its log why the cluster ended it. An API server
/// that is away for a while is asked again.
pub(crate) fn follow(
    pods: Api<Pod>,
    name: String,
    log: Log,
    leaving: Arc<AtomicBool>,
) -> (watch::Receiver<Option<ContainerExit>>, JoinHandle<()>) {
    let (tell, ended) = watch::channel(None);
    let following = tokio::spawn(async move {
        let mut told = None;
        let mut end = loop {
            pause(&leaving).await;
            match pods.get(&name).await {
                Ok(pod) => {
                    told = disrupted(&pod).or(told);
                    if let PodState::Ended(end) = state(&pod) {
                        break end;
                    }
                }
                Err(error) if is_missing(&error) => {
                    let gone = || "its Pod is gone: it was deleted".to_owned();
                    break ContainerExit {
                        exit: ExitInfo::default(),
                        why: Some(told.unwrap_or_else(gone)),
                    };
                }
                // Its state is not known until the API server responds again.
                Err(_) => {}
            }
        };
        if leaving.load(Ordering::Relaxed) {
            // It was the session that wanted it to go.
            end.why = None;
        }
        if let Some(why) = &end.why {
            log.append(format!("[{why}]\n").as_bytes());
        }
        // Nothing listens any more when the Pod is not wanted any more.
        let _ = tell.send(Some(end));
    });
    (ended, following)
}

/// Waits for the time of the next look at a Pod.
async fn pause(leaving: &AtomicBool) {
    let end = Instant::now() + POLL;
    while Instant::now() < end {
        tokio::time::sleep(POLL_LEAVING).await;
        if leaving.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Copies the output of a container to its log, until it ends.
pub(crate) fn copy_output(pods: Api<Pod>, name: String, log: Log) -> JoinHandle<()> {
    tokio::spawn(async move {
        let parameters = LogParams {
            follow: true,
            ..LogParams::default()
        };
        let Ok(stream) = pods.log_stream(&name, &parameters).await else {
            return;
        };
        let mut stream = Box::pin(stream);
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            log.append(&buffer[..count]);
        }
    })
}
