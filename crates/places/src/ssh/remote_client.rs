//! The client of this program on another host.

use std::process::Stdio;

use bakeoff_base::problem::Problem;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::ssh::remote_protocol::{Numbered, RemoteReply, RemoteRequest};

/// A way to the program. Dropping it ends the program, and what that has started.
#[derive(Debug)]
pub(super) struct RemoteClient {
    _ssh: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    number: u64,
    /// Where it is, for messages.
    name: String,
}

impl RemoteClient {
    /// Starts the command of a host of this name.
    pub(super) fn start(mut command: Command, name: &str) -> Result<Self, Problem> {
        command.stderr(Stdio::null());
        let mut ssh = command.spawn().map_err(|error| format!("ssh: {error}"))?;
        let input = ssh.stdin.take().ok_or("ssh has no input")?;
        let output = ssh.stdout.take().ok_or("ssh has no output")?;
        Ok(Self {
            _ssh: ssh,
            input,
            lines: BufReader::new(output).lines(),
            number: 0,
            name: name.to_owned(),
        })
    }

    /// Asks, and waits for the reply.
    ///
    /// # Errors
    /// The way is cut, or the program there is another one.
    pub(super) async fn ask(&mut self, question: RemoteRequest) -> Result<RemoteReply, Problem> {
        self.number += 1;
        let number = self.number;
        let asked = Numbered {
            number,
            line: question,
        };
        let mut line = serde_json::to_string(&asked).map_err(Problem::new)?;
        line.push('\n');
        let name = &self.name;
        let cut = |error| Problem::new(format_args!("{name} cannot be reached: {error}"));
        self.input.write_all(line.as_bytes()).await.map_err(cut)?;
        self.input.flush().await.map_err(cut)?;
        while let Some(line) = self.lines.next_line().await.map_err(cut)? {
            let reply: Numbered<RemoteReply> = serde_json::from_str(&line)
                .map_err(|error| format!("invalid reply from {name}: {error}"))?;
            if reply.number == number {
                return Ok(reply.line);
            }
        }
        Err(format!("the way to {name} was cut").into())
    }
}

/// The error of a reply that is none to the question.
pub(super) fn strange(reply: RemoteReply) -> Problem {
    match reply {
        RemoteReply::Failed(problem) => problem,
        _ => "it replied to another question".into(),
    }
}
