//! The way to this program on another host, through `ssh`.

use std::process::Stdio;

use bakeoff_base::problem::Problem;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::remote::client::{RemoteClient, Way};

/// A running `ssh`.
#[derive(Debug)]
pub(super) struct SshWay {
    _ssh: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// The name of the host, for messages.
    name: String,
}

/// Starts the command of a host of this name, for requests.
pub(super) fn client(mut command: Command, name: &str) -> Result<RemoteClient<SshWay>, Problem> {
    command.stderr(Stdio::null());
    let mut ssh = command.spawn().map_err(|error| format!("ssh: {error}"))?;
    let input = ssh.stdin.take().ok_or("ssh has no input")?;
    let output = ssh.stdout.take().ok_or("ssh has no output")?;
    Ok(RemoteClient::new(SshWay {
        _ssh: ssh,
        input,
        lines: BufReader::new(output).lines(),
        name: name.to_owned(),
    }))
}

impl SshWay {
    fn cut(&self, error: std::io::Error) -> Problem {
        Problem::new(format_args!("{} cannot be reached: {error}", self.name))
    }
}

impl Way for SshWay {
    async fn say(&mut self, line: &str) -> Result<(), Problem> {
        let line = format!("{line}\n");
        let written = match self.input.write_all(line.as_bytes()).await {
            Ok(()) => self.input.flush().await,
            error => error,
        };
        written.map_err(|error| self.cut(error))
    }

    async fn hear(&mut self) -> Result<String, Problem> {
        let line = self.lines.next_line().await;
        let line = line.map_err(|error| self.cut(error))?;
        line.ok_or_else(|| format!("the way to {} was cut", self.name).into())
    }
}
