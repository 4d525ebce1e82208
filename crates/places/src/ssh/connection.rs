//! Connections to another host: an `ssh` that keeps a program running there, and commands of its
//! shell.

use std::process::Stdio;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::text::ssh_address::SshAddress;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};

/// The other host says this when it is ready, whatever its shell prints before.
pub(crate) const READY: &str = "bakeoff-ready";

/// How long the connection may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the words of an `ssh` that has failed may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// An `ssh` that keeps something on another host as long as this value lives. It ends with this
/// process, even if that is killed: its standard input ends then, and with that the command that it
/// runs there.
#[derive(Debug)]
pub(crate) struct Held {
    ssh: Child,
    said: String,
}

impl Held {
    /// Starts a command of the other host's shell that says [`READY`] in a line, and ends with its
    /// standard input.
    ///
    /// # Errors
    /// There is no `ssh`, or its own words.
    pub(crate) async fn open(
        address: &SshAddress,
        options: &[&str],
        script: &str,
    ) -> Result<Self, Problem> {
        let mut command = command(&address.words(options), script);
        let mut ssh = command.spawn().map_err(|error| format!("ssh: {error}"))?;
        let stdout = ssh.stdout.take().ok_or("ssh has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let opening = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(said) = line.trim().strip_prefix(READY) {
                    return Some(said.trim().to_owned());
                }
            }
            None
        };
        let opened = tokio::time::timeout(PATIENCE, opening).await;
        let stderr = ssh.stderr.take();
        match opened {
            Ok(Some(said)) => {
                // Its later output is not needed, and must not fill the pipe.
                tokio::spawn(drained(stderr));
                Ok(Self { ssh, said })
            }
            _ => {
                let _ = ssh.start_kill();
                let drained = tokio::time::timeout(LAST_WORDS, drained(stderr)).await;
                Err(last_line(&drained.unwrap_or_default()).into())
            }
        }
    }

    /// Returns what stood behind [`READY`] in its line.
    pub(crate) fn said(&self) -> &str {
        &self.said
    }

    /// Whether the way is still open.
    pub(crate) fn is_open(&mut self) -> bool {
        matches!(self.ssh.try_wait(), Ok(None))
    }
}

/// Returns an `ssh` with pipes.
pub(super) fn command(words: &[String], script: &str) -> Command {
    let mut command = Command::new("ssh");
    command
        .args(words.iter().skip(1))
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // An interrupt in the terminal must leave the way open: it is the session's to handle.
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Runs a command of the other host's shell to its end, with a file as its standard input. Returns
/// its output.
///
/// # Errors
/// The last line of what it, or `ssh`, complains about.
pub(super) async fn run(
    address: &SshAddress,
    script: &str,
    input: impl Into<Stdio>,
) -> Result<String, Problem> {
    let mut command = command(&address.words(&[]), script);
    let output = command.stdin(input).output().await;
    let output = output.map_err(|error| format!("ssh: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(last_line(&output.stderr).into()),
    }
}

async fn drained(stderr: Option<ChildStderr>) -> Vec<u8> {
    let mut said = Vec::new();
    if let Some(mut stderr) = stderr {
        let _ = stderr.read_to_end(&mut said).await;
    }
    said
}

fn last_line(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    let last = said.trim().lines().last().unwrap_or("it does not respond");
    format!("ssh: {}", last.trim())
}

/// Returns a word as a POSIX shell takes it literally.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the host's name as the user's configuration of `ssh` has it, and the port there.
pub(crate) async fn host_and_port(address: &SshAddress) -> Result<(String, u16), Problem> {
    let mut command = Command::new("ssh");
    command.arg("-G").arg("--").arg(address.destination());
    let output = command.output().await;
    let output = output.map_err(|error| format!("ssh: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let host = value("hostname ").ok_or("ssh knows no such host")?;
    let port = value("port ").and_then(|port| port.parse().ok());
    Ok((host.to_owned(), address.port().or(port).unwrap_or(22)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{last_line, quoted};

    #[test]
    fn words_reach_a_shell_as_they_are() {
        for word in ["", "a b", "it's", "$(false) `x` \"\\", "ä\n*"] {
            let script = format!("printf %s {}", quoted(word));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }

    #[test]
    fn a_failure_is_one_line() {
        assert_eq!(last_line(b"Warning\nRefused.\r\n"), "ssh: Refused.");
        assert_eq!(last_line(b""), "ssh: it does not respond");
    }
}
