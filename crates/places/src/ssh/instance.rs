//! A started process of another host.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::log::{last_lines, tail};
use bakeoff_model::record::Startup;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::Wire;
use crate::api::{BoxFuture, ExitInfo, Instance, ReadyError, Sampled, StopReport};
use crate::remote::client::{RemoteClient, strange};
use crate::remote::protocol::{ProcessReply, ProcessRequest, RemoteReply, RemoteRequest};
use crate::ssh::way::SshWay;

/// How long a connection to a process that is ready may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A started process on another host: its address, connection and files.
pub(super) struct RemoteProcess {
    pub(super) label: String,
    /// The name of the process's host.
    pub(super) host: String,
    pub(super) address: SocketAddr,
    /// A separate connection to the program there that has started it and ends it.
    pub(super) answers: RemoteClient<SshWay>,
    pub(super) wire: Wire,
    pub(super) log_path: PathBuf,
}

/// A started process of another host. With the way there, it ends.
pub(super) struct SshInstance {
    shared: Arc<Shared>,
    /// Asks for the end of the process's output.
    asking: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    label: String,
    host: String,
    address: SocketAddr,
    answers: tokio::sync::Mutex<RemoteClient<SshWay>>,
    wire: Wire,
    log_path: PathBuf,
    /// The end of its output, as far as it is known here.
    tail: Mutex<String>,
    /// Why the way there is cut.
    cut: Mutex<Option<Problem>>,
}

impl SshInstance {
    pub(super) fn new(parts: RemoteProcess) -> Self {
        let shared = Shared {
            label: parts.label,
            host: parts.host,
            address: parts.address,
            answers: parts.answers.into(),
            wire: parts.wire,
            log_path: parts.log_path,
            tail: Mutex::default(),
            cut: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            asking: Mutex::default(),
        }
    }

    /// Asks for the end of the output aside, for the next call of [`Instance::logs`].
    fn ask_aside(&self) {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let is_asking = asking.as_ref().is_some_and(|task| !task.is_finished());
        if let (false, Ok(runtime)) = (is_asking, Handle::try_current()) {
            let shared = Arc::clone(&self.shared);
            *asking = Some(runtime.spawn(async move { shared.hear().await }));
        }
    }
}

impl Shared {
    async fn ask(&self, question: ProcessRequest) -> Result<RemoteReply, Problem> {
        let mut answers = self.answers.lock().await;
        let reply = answers.ask(&RemoteRequest::Process(question)).await;
        if let Err(why) = &reply {
            *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        }
        reply
    }

    /// Asks for the end of the output.
    async fn hear(&self) {
        if let Ok(RemoteReply::Process(ProcessReply::Output(output))) =
            self.ask(ProcessRequest::Output).await
        {
            self.heard(output);
        }
    }

    fn tail(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.clone()
    }

    fn heard(&self, output: String) {
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = output;
    }

    /// Checks that the service can be reached from here, too: its first response was to the program
    /// there.
    async fn reached(&self, limit: Duration) -> Result<(), ReadyError> {
        let connected = timeout(PATIENCE, TcpStream::connect(self.address)).await;
        let why = match connected {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no reply within {} s", PATIENCE.as_secs()),
        };
        let (host, address) = (&self.host, self.address);
        let hint = format!(
            "it responds on {host}, and {address} cannot be reached from here ({why}); it must \
             listen on 0.0.0.0:{}, and no firewall be in the way",
            address.port()
        );
        Err(ReadyError::NoListener {
            label: self.label.clone(),
            limit,
            hint: Some(hint),
            log: last_lines(&self.tail()),
        })
    }

    async fn ready(&self, limit: Duration) -> Result<Startup, ReadyError> {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let reply = self.ask(ProcessRequest::AwaitReady { limit_ns }).await;
        // Its output until now is for messages.
        self.hear().await;
        let why = match reply {
            Ok(RemoteReply::Process(ProcessReply::Ready(startup))) => {
                self.reached(limit).await?;
                return Ok(*startup);
            }
            Ok(RemoteReply::Process(ProcessReply::NotReady(error))) => return Err(error),
            Ok(other) => strange(other),
            Err(problem) => problem,
        };
        Err(ReadyError::NoAnswer {
            label: self.label.clone(),
            limit,
            found: why.to_string(),
            log: String::new(),
        })
    }

    async fn stopped(&self, grace: Duration) -> StopReport {
        let grace_ns = u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX);
        match self.ask(ProcessRequest::Stop { grace_ns }).await {
            Ok(RemoteReply::Process(ProcessReply::Stopped(report, output))) => {
                // A full disk costs the log, never the run.
                let _ = fs::write(&self.log_path, output);
                self.heard(tail(&self.log_path));
                report
            }
            // It ends with the way there.
            _ => StopReport {
                graceful: false,
                took: Duration::ZERO,
                exit: ExitInfo::default(),
                killed: true,
            },
        }
    }
}

impl Instance for SshInstance {
    fn address(&self) -> SocketAddr {
        self.shared.address
    }

    fn wire(&self) -> Wire {
        self.shared.wire.clone()
    }

    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        Box::pin(self.shared.ready(limit))
    }

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        Box::pin(async {
            match self.shared.ask(ProcessRequest::Sample).await {
                Ok(RemoteReply::Sample(resources, host)) => Sampled {
                    resources: *resources,
                    host,
                },
                _ => Sampled::default(),
            }
        })
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        Box::pin(async {
            match self.shared.ask(ProcessRequest::Exited).await {
                Ok(RemoteReply::Process(ProcessReply::Exited(Some((exit, output))))) => {
                    self.shared.heard(output);
                    Some(exit)
                }
                Ok(_) => None,
                Err(_) => Some(ExitInfo::default()),
            }
        })
    }

    fn ended_because(&self) -> Option<String> {
        let cut = self
            .shared
            .cut
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        cut.as_ref().map(ToString::to_string)
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport> {
        Box::pin(self.shared.stopped(grace))
    }

    fn logs(&self) -> String {
        self.ask_aside();
        self.shared.tail()
    }

    fn log_path(&self) -> &Path {
        &self.shared.log_path
    }
}

impl Drop for SshInstance {
    fn drop(&mut self) {
        let asking = self.asking.get_mut();
        let asking = asking.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = asking {
            task.abort();
        }
    }
}
