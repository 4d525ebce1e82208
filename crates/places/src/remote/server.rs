//! The part of a session elsewhere: describes its host, reports the time, runs a process, and sees
//! the other containers of a Pod or a node. One request a line on standard input, one reply a line
//! on standard output.

use std::io::{self, BufRead as _};
use std::thread;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::host;
use crate::local::ProcessOptions;
use crate::ready::{monotonic_ns, wall_ns};
use crate::remote::pod::Containers;
use crate::remote::process::Processes;
use crate::remote::protocol::{Numbered, RemoteReply, RemoteRequest};
use crate::round_trip::round_trip;

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
    processes: Processes,
    containers: Containers,
}

impl Answering {
    fn new(options: ProcessOptions) -> Self {
        Self {
            processes: Processes::new(options),
            containers: Containers::of_this_pod(),
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
            RemoteRequest::Process(question) => self.processes.reply(question).await,
            RemoteRequest::Pod(question) => self.containers.reply(question).await,
        }
    }
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
    use crate::remote::protocol::{
        Numbered, ProcessReply, ProcessRequest, RemoteReply, RemoteRequest, RemoteStart,
    };

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
        RemoteRequest::Process(ProcessRequest::Start(Box::new(RemoteStart {
            label: "one".to_owned(),
            command: vec![program.to_owned()],
            env: BTreeMap::from([("PORT".to_owned(), "8080".to_owned())]),
            workdir: "/".to_owned(),
            limits: Limits::default(),
            port: 8080,
            ready_path: "/".to_owned(),
            tls: None,
            grpc: None,
        })))
    }

    #[tokio::test]
    async fn questions_are_replied_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let questions = vec![
            RemoteRequest::Host,
            RemoteRequest::RoundTrip { to, connections: 3 },
            RemoteRequest::Process(ProcessRequest::Sample),
            order("no-such-program-of-any-host"),
            RemoteRequest::Process(ProcessRequest::Stop { grace_ns: 1 }),
            RemoteRequest::Process(ProcessRequest::Sweep),
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
        let refused = RemoteReply::Process(ProcessReply::NotStarted(StartError::NoProgram {
            label: "one".to_owned(),
            program: "no-such-program-of-any-host".to_owned(),
        }));
        assert_eq!(*lines[3], refused);
        let is_swept = matches!(lines[5], RemoteReply::Process(ProcessReply::Swept { .. }));
        assert!(is_swept, "{lines:?}");
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
