//! The way to an engine on another host by SSH: one `ssh` that forwards the engine's socket. It
//! ends with this process, also where that is killed: its standard input ends then, and with that
//! the command that it runs on the other host.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use url::Url;

use crate::sweep::RunFolder;

/// The engine's socket on the other host, unless the URL has a path.
const SOCKET: &str = "/var/run/docker.sock";

/// The other host says this when the way is open, whatever its shell prints before.
const READY: &str = "bakeoff-ready";

/// How long the connection may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A forwarded socket. It is there until this is dropped.
#[derive(Debug)]
pub(super) struct Forwarded {
    _ssh: Child,
    folder: RunFolder,
}

impl Forwarded {
    /// Opens the way to `ssh://[USER@]HOST[:PORT][/SOCKET]`. Keys and agents log in; a password is
    /// not asked for.
    ///
    /// # Errors
    /// There is no `ssh`, or its own words.
    pub(super) async fn open(url: &Url) -> Result<Self, Problem> {
        let folder = RunFolder::temporary().map_err(Problem::new)?;
        let log = folder.path().join("ssh.log");
        let errors = fs::File::create(&log).map_err(Problem::new)?;
        let mut command = Command::new("ssh");
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ControlPath=none"]);
        command.args(["-o", "ExitOnForwardFailure=yes"]);
        command.args(["-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15"]);
        let theirs = match url.path() {
            "" | "/" => SOCKET,
            path => path,
        };
        let forward = format!("{}:{theirs}", socket_in(&folder).display());
        command.args(["-L", &forward]);
        if let Some(port) = url.port() {
            command.args(["-p", &port.to_string()]);
        }
        command
            .arg("--")
            .arg(destination(url)?)
            .arg(format!("echo {READY}; exec cat"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            // An interrupt in the terminal must leave the way open: containers are removed by it.
            .process_group(0)
            .kill_on_drop(true);
        let mut ssh = command.spawn().map_err(|error| format!("ssh: {error}"))?;
        let lines = ssh
            .stdout
            .take()
            .map(|stdout| BufReader::new(stdout).lines());
        let mut lines = lines.ok_or("ssh has no output")?;
        let opening = async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if line.trim() == READY {
                    return true;
                }
            }
            false
        };
        let opened = tokio::time::timeout(PATIENCE, opening).await;
        if opened != Ok(true) {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let last = said.trim().lines().last().unwrap_or("it does not answer");
            return Err(format!("ssh: {}", last.trim()).into());
        }
        Ok(Self { _ssh: ssh, folder })
    }

    /// Returns the address of the socket on this host.
    pub(super) fn address(&self) -> String {
        format!("unix://{}", socket_in(&self.folder).display())
    }
}

fn socket_in(folder: &RunFolder) -> PathBuf {
    folder.path().join("engine.sock")
}

/// Returns the host's name as the user's configuration of `ssh` has it, and the port there.
pub(super) async fn host_and_port(url: &Url) -> Result<(String, u16), Problem> {
    let mut command = Command::new("ssh");
    command.arg("-G").arg("--").arg(destination(url)?);
    let output = command.output().await;
    let output = output.map_err(|error| format!("ssh: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let value = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let host = value("hostname ").ok_or("ssh knows no such host")?;
    let port = value("port ").and_then(|port| port.parse().ok());
    Ok((host.to_owned(), url.port().or(port).unwrap_or(22)))
}

/// `USER@HOST` for the command line.
fn destination(url: &Url) -> Result<String, Problem> {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match (url.username(), host) {
        (_, "") => Err("it names no host".into()),
        ("", host) => Ok(host.to_owned()),
        (user, host) => Ok(format!("{user}@{host}")),
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::destination;

    #[test]
    fn destinations_are_what_ssh_takes() {
        for (url, expect) in [
            ("ssh://bench", Ok("bench")),
            ("ssh://root@bench:2222/run/docker.sock", Ok("root@bench")),
            ("ssh://me@[fd00::1]", Ok("me@fd00::1")),
            ("ssh:///x", Err("it names no host".into())),
        ] {
            let found = destination(&Url::parse(url).unwrap());
            assert_eq!(found, expect.map(str::to_owned), "{url}");
        }
    }
}
