//! The part of a session on another host: describes that host, reports the time, and runs a
//! process. One request a line on standard input, one reply a line on standard output.

use std::fs;
use std::io::{self, BufRead as _};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_grpc::Schema;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::api::{ContainerOptions, Instance, Runtime as _, Sampled, StartError, StartSpec};
use crate::local::{ProcessOptions, ProcessRuntime};
use crate::ready::{monotonic_ns, wall_ns};
use crate::round_trip::round_trip;
use crate::ssh::remote_protocol::{Numbered, RemoteReply, RemoteRequest, RemoteStart};
use crate::{Wire, host};

/// Replies to questions until standard input ends, then ends and removes what was started. Blocks.
///
/// # Errors
/// A line is not a request, or the reply cannot be written.
pub fn serve(options: ProcessOptions) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (sender, lines) = unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let mut output = io::stdout().lock();
    let served = runtime.block_on(answer(lines, Answering::new(options), &mut output));
    // Nothing is left but threads that wait for a process that has been killed.
    runtime.shutdown_background();
    served
}

async fn answer(
    mut lines: UnboundedReceiver<String>,
    mut answering: Answering,
    output: &mut impl io::Write,
) -> io::Result<()> {
    let mut next = lines.recv().await;
    while let Some(line) = next {
        let asked: Numbered<RemoteRequest> = serde_json::from_str(&line)?;
        next = tokio::select! {
            biased;
            reply = answering.reply(asked.line) => {
                let reply = Numbered { number: asked.number, line: reply };
                serde_json::to_writer(&mut *output, &reply)?;
                output.write_all(b"\n")?;
                output.flush()?;
                lines.recv().await
            }
            // With a further question, or at the end, nothing waits for this reply any more.
            further = lines.recv() => further,
        };
    }
    Ok(())
}

/// The state of the part.
struct Answering {
    options: ProcessOptions,
    process: Option<ProcessRuntime>,
    /// The process, and where its output is.
    started: Option<(Box<dyn Instance>, PathBuf)>,
}

impl Answering {
    fn new(options: ProcessOptions) -> Self {
        Self {
            options,
            process: None,
            started: None,
        }
    }

    async fn reply(&mut self, question: RemoteRequest) -> RemoteReply {
        match question {
            RemoteRequest::Host => RemoteReply::Host(Box::new(host::describe())),
            RemoteRequest::Clock => {
                let wall_ns = wall_ns();
                RemoteReply::Clock {
                    wall_ns,
                    ahead_ns: wall_ns.saturating_sub(monotonic_ns()),
                }
            }
            RemoteRequest::RoundTrip { to, connections } => {
                let time = round_trip(to, connections).await.ok();
                RemoteReply::RoundTrip(time.and_then(|time| u64::try_from(time.as_nanos()).ok()))
            }
            RemoteRequest::Sweep => self.sweep().await.unwrap_or_else(RemoteReply::Failed),
            RemoteRequest::Start(order) => match self.start(&order).await {
                Ok(()) => RemoteReply::Started,
                Err(error) => RemoteReply::NotStarted(error),
            },
            of_process => match &mut self.started {
                Some((instance, log)) => reply_of(&mut **instance, log, of_process).await,
                None => RemoteReply::Failed("no process has been started".into()),
            },
        }
    }

    /// Returns the runtime of processes, which is made when it is needed first.
    fn process(&mut self) -> Result<&ProcessRuntime, Problem> {
        if self.process.is_none() {
            let made = ProcessRuntime::new(self.options.clone());
            let made = made.map_err(|error| {
                let base = self.options.run_base.display();
                Problem::new(format_args!("no folder can be made in {base}: {error}"))
            });
            self.process = Some(made?);
        }
        self.process.as_ref().ok_or("there is no runtime".into())
    }

    async fn sweep(&mut self) -> Result<RemoteReply, Problem> {
        let process = self.process()?;
        let removed = process.sweep().await.map_err(Problem::new)?;
        Ok(RemoteReply::Swept {
            enforcement: process.enforcement(),
            removed,
        })
    }

    async fn start(&mut self, order: &RemoteStart) -> Result<(), StartError> {
        let failed = |why| StartError::failed(&order.label, why);
        let process = self.process().map_err(failed)?;
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
    question: RemoteRequest,
) -> RemoteReply {
    match question {
        RemoteRequest::AwaitReady { limit_ns } => {
            match instance.await_ready(Duration::from_nanos(limit_ns)).await {
                Ok(startup) => RemoteReply::Ready(Box::new(startup)),
                Err(error) => RemoteReply::NotReady(error),
            }
        }
        RemoteRequest::Sample => {
            let Sampled { resources, host } = instance.sample().await;
            RemoteReply::Sample(Box::new(resources), host)
        }
        RemoteRequest::Exited => {
            let exit = instance.exited().await;
            RemoteReply::Exited(exit.map(|exit| (exit, instance.logs())))
        }
        RemoteRequest::Output => RemoteReply::Output(instance.logs()),
        RemoteRequest::Stop { grace_ns } => {
            let report = instance.stop(Duration::from_nanos(grace_ns)).await;
            let output = fs::read(log).unwrap_or_default();
            RemoteReply::Stopped(report, String::from_utf8_lossy(&output).into_owned())
        }
        _ => RemoteReply::Failed("it is not about a process".into()),
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::TcpListener;

    use bakeoff_model::suite::Limits;
    use tokio::sync::mpsc::unbounded_channel;

    use super::{Answering, answer};
    use crate::api::StartError;
    use crate::local::ProcessOptions;
    use crate::ssh::remote_protocol::{Numbered, RemoteReply, RemoteRequest, RemoteStart};

    /// The replies to questions that follow each other.
    async fn replies(questions: Vec<RemoteRequest>) -> Vec<Numbered<RemoteReply>> {
        let base = tempfile::tempdir().unwrap();
        let options = ProcessOptions {
            shim: "/no/such/shim".into(),
            shim_args: Vec::new(),
            run_base: base.path().to_owned(),
        };
        let mut answering = Answering::new(options);
        let mut all = Vec::new();
        for (number, line) in (7..).zip(questions) {
            let asked = Numbered { number, line };
            let text = serde_json::to_string(&asked).unwrap();
            assert_eq!(
                serde_json::from_str::<Numbered<RemoteRequest>>(&text).unwrap(),
                asked
            );
            let reply = answering.reply(asked.line).await;
            let reply = Numbered {
                number,
                line: reply,
            };
            let text = serde_json::to_string(&reply).unwrap();
            assert_eq!(
                serde_json::from_str::<Numbered<RemoteReply>>(&text).unwrap(),
                reply
            );
            all.push(reply);
        }
        all
    }

    fn order(program: &str) -> RemoteRequest {
        RemoteRequest::Start(Box::new(RemoteStart {
            label: "one".to_owned(),
            command: vec![program.to_owned()],
            env: BTreeMap::from([("PORT".to_owned(), "8080".to_owned())]),
            workdir: "/".to_owned(),
            limits: Limits::default(),
            port: 8080,
            ready_path: "/".to_owned(),
            tls: None,
            grpc: None,
        }))
    }

    #[tokio::test]
    async fn questions_are_replied_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let questions = vec![
            RemoteRequest::Host,
            RemoteRequest::RoundTrip { to, connections: 3 },
            RemoteRequest::Sample,
            order("no-such-program-of-any-host"),
            RemoteRequest::Stop { grace_ns: 1 },
            RemoteRequest::Sweep,
        ];
        let replies = replies(questions).await;
        let numbers: Vec<u64> = replies.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [7, 8, 9, 10, 11, 12]);
        let failed = |reply: &RemoteReply| matches!(reply, RemoteReply::Failed(_));
        let lines: Vec<&RemoteReply> = replies.iter().map(|one| &one.line).collect();
        assert!(
            matches!(lines[0], RemoteReply::Host(host) if host.cores > 0),
            "{lines:?}"
        );
        assert!(
            matches!(lines[1], RemoteReply::RoundTrip(Some(1..))),
            "{lines:?}"
        );
        assert!(failed(lines[2]) && failed(lines[4]), "{lines:?}");
        let refused = RemoteReply::NotStarted(StartError::NoProgram {
            label: "one".to_owned(),
            program: "no-such-program-of-any-host".to_owned(),
        });
        assert_eq!(*lines[3], refused);
        assert!(matches!(lines[5], RemoteReply::Swept { .. }), "{lines:?}");
    }

    #[tokio::test]
    async fn the_end_of_the_questions_ends_it() {
        let (sender, lines) = unbounded_channel();
        for number in [1, 2] {
            let line = Numbered {
                number,
                line: RemoteRequest::Clock,
            };
            sender.send(serde_json::to_string(&line).unwrap()).unwrap();
        }
        drop(sender);
        let options = ProcessOptions {
            shim: "/no/such/shim".into(),
            shim_args: Vec::new(),
            run_base: "/no/such/folder".into(),
        };
        let mut output = Vec::new();
        answer(lines, Answering::new(options), &mut output)
            .await
            .unwrap();
        let output = String::from_utf8(output).unwrap();
        let replies = output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let replies: Vec<Numbered<RemoteReply>> = replies.collect();
        let numbers: Vec<u64> = replies.iter().map(|reply| reply.number).collect();
        assert_eq!(numbers, [1, 2], "{output}");
        let is_time =
            |reply: &Numbered<RemoteReply>| matches!(reply.line, RemoteReply::Clock { .. });
        assert!(replies.iter().all(is_time), "{output}");
    }
}
