//! Processes of another host, for a session that is elsewhere.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_grpc::Schema;

use crate::Wire;
use crate::api::{ContainerOptions, Instance, Runtime as _, Sampled, StartError, StartSpec};
use crate::local::{ProcessOptions, ProcessRuntime};
use crate::remote::protocol::{ProcessReply, ProcessRequest, RemoteReply, RemoteStart};

/// The processes of a session here.
pub(super) struct Processes {
    options: ProcessOptions,
    runtime: Option<ProcessRuntime>,
    /// The process that was started last, and where its output is.
    started: Option<(Box<dyn Instance>, PathBuf)>,
}

impl Processes {
    pub(super) fn new(options: ProcessOptions) -> Self {
        Self {
            options,
            runtime: None,
            started: None,
        }
    }

    pub(super) async fn reply(&mut self, question: ProcessRequest) -> RemoteReply {
        let reply = match question {
            ProcessRequest::Sweep => match self.sweep().await {
                Ok(swept) => swept,
                Err(problem) => return RemoteReply::Failed(problem),
            },
            ProcessRequest::Start(order) => match self.start(&order).await {
                Ok(()) => ProcessReply::Started,
                Err(error) => ProcessReply::NotStarted(error),
            },
            of_process => match &mut self.started {
                Some((instance, log)) => return reply_of(&mut **instance, log, of_process).await,
                None => return RemoteReply::Failed("no process has been started".into()),
            },
        };
        RemoteReply::Process(reply)
    }

    /// Returns the runtime of processes, which is made when it is needed first.
    fn runtime(&mut self) -> Result<&ProcessRuntime, Problem> {
        if self.runtime.is_none() {
            let made = ProcessRuntime::new(self.options.clone());
            let made = made.map_err(|error| {
                let base = self.options.run_base.display();
                Problem::new(format_args!("no folder can be made in {base}: {error}"))
            });
            self.runtime = Some(made?);
        }
        self.runtime.as_ref().ok_or("there is no runtime".into())
    }

    async fn sweep(&mut self) -> Result<ProcessReply, Problem> {
        let process = self.runtime()?;
        let removed = process.sweep().await.map_err(Problem::new)?;
        Ok(ProcessReply::Swept {
            enforcement: process.enforcement(),
            removed,
        })
    }

    async fn start(&mut self, order: &RemoteStart) -> Result<(), StartError> {
        let failed = |why| StartError::failed(&order.label, why);
        let process = self.runtime().map_err(failed)?;
        let spec = spec(order, process.folder().join("log"));
        let spec = spec.map_err(failed)?;
        let instance = process.start(&spec).await?;
        self.started = Some((instance, spec.log_path));
        Ok(())
    }
}

/// The reply to a question about a process.
async fn reply_of(
    instance: &mut dyn Instance,
    log: &PathBuf,
    question: ProcessRequest,
) -> RemoteReply {
    let reply = match question {
        ProcessRequest::AwaitReady { limit_ns } => {
            match instance.await_ready(Duration::from_nanos(limit_ns)).await {
                Ok(startup) => ProcessReply::Ready(Box::new(startup)),
                Err(error) => ProcessReply::NotReady(error),
            }
        }
        ProcessRequest::Sample => {
            let Sampled { resources, host } = instance.sample().await;
            return RemoteReply::Sample(Box::new(resources), host);
        }
        ProcessRequest::Exited => {
            let exit = instance.exited().await;
            ProcessReply::Exited(exit.map(|exit| (exit, instance.logs())))
        }
        ProcessRequest::Output => ProcessReply::Output(instance.logs()),
        ProcessRequest::Stop { grace_ns } => {
            let report = instance.stop(Duration::from_nanos(grace_ns)).await;
            let output = fs::read(log).unwrap_or_default();
            ProcessReply::Stopped(report, String::from_utf8_lossy(&output).into_owned())
        }
        ProcessRequest::Sweep | ProcessRequest::Start(_) => {
            return RemoteReply::Failed("it is not about one process".into());
        }
    };
    RemoteReply::Process(reply)
}

/// How a process is started that is ordered from another host.
fn spec(order: &RemoteStart, log_path: PathBuf) -> Result<StartSpec, Problem> {
    let descriptors = order.grpc.as_ref();
    let schema = descriptors.map(|body| Schema::from_descriptors(body.as_bytes()));
    Ok(StartSpec {
        label: order.label.clone(),
        command: order.command.clone(),
        env: order.env.clone(),
        arguments: Vec::new(),
        workdir: PathBuf::from(&order.workdir),
        limits: order.limits,
        cores: Vec::new(),
        port: order.port,
        ready_path: order.ready_path.clone(),
        start_timeout: Duration::ZERO,
        image: None,
        service: None,
        container: ContainerOptions::default(),
        wire: Wire {
            tls: order.tls.clone(),
            grpc: schema.transpose()?,
        },
        log_path,
    })
}
