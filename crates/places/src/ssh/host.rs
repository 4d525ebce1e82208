//! Another host with a copy of this program in a separate folder, which is removed with this
//! process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use bakeoff_base::problem::Problem;
use bakeoff_model::load::ClockOffset;
use bakeoff_model::record::Host;
use bakeoff_model::text::ssh_address::SshAddress;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;
use tokio::sync::{Mutex, OnceCell};

use crate::clock_offset::clock_offset;
use crate::ready::{monotonic_ns, wall_ns};
use crate::remote::SERVE;
use crate::remote::client::{RemoteClient, strange};
use crate::remote::protocol::{RemoteReply, RemoteRequest};
use crate::round_trip::{CONNECTIONS, CONNECTIONS_SSH, Distance};
use crate::ssh::connection::{self, Held, READY, host_and_port, quoted};
use crate::ssh::way::{SshWay, client};
use crate::sweep::PREFIX;

/// The name of this program there.
const PROGRAM: &str = "bakeoff";

/// The remedy if this program does not start.
const STATIC: &str = "a bakeoff that is linked statically (target *-linux-musl) runs on every \
                      Linux of its architecture";

/// Another host with a copy of this program. What is there goes with this process.
#[derive(Debug)]
pub struct SshHost {
    address: SshAddress,
    /// The folder there.
    folder: String,
    /// Keeps the folder.
    held: std::sync::Mutex<Held>,
    name: String,
    host: Host,
    answers: Mutex<RemoteClient<SshWay>>,
    distance: OnceCell<Distance>,
    /// Digest of what was copied -> its path there.
    pub(super) sent: Mutex<BTreeMap<String, String>>,
}

/// The clocks of another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FarClock {
    /// The wall clock of the host.
    pub wall: ClockOffset,
    /// From a time of that host's monotonic clock to the same instant by this host's, ns.
    pub shift_ns: i64,
}

impl SshHost {
    /// Copies this program to a host, once as long as this process lives and the way is open.
    ///
    /// # Errors
    /// There is no way, no room, or the program does not start there.
    pub async fn open(address: &SshAddress, program: &Path) -> Result<Arc<Self>, Problem> {
        static OPENED: Mutex<BTreeMap<SshAddress, Arc<SshHost>>> =
            Mutex::const_new(BTreeMap::new());
        let mut opened = OPENED.lock().await;
        if let Some(host) = opened.get(address).filter(|host| host.is_open()) {
            return Ok(Arc::clone(host));
        }
        let host = Self::connect(address, program).await;
        let host = Arc::new(host.map_err(|problem| problem.context(address))?);
        opened.insert(address.clone(), Arc::clone(&host));
        Ok(host)
    }

    async fn connect(address: &SshAddress, program: &Path) -> Result<Self, Problem> {
        let held = Held::open(address, &[], &keeper()).await.map_err(|why| {
            why.with_hint(format!(
                "`{} true` must work without a question",
                address.typed()
            ))
        })?;
        let said = held.said().split_once(' ');
        let (name, folder) = said.ok_or("it does not say where its folder is")?;
        let (folder, name) = (folder.to_owned(), name.to_owned());
        copy_program(address, &folder, program).await?;
        let command = command_of(address, &folder, &[SERVE]);
        let mut answers = client(command, &name)?;
        let host = match answers.ask(&RemoteRequest::Host).await? {
            RemoteReply::Host(host) => *host,
            other => return Err(strange(other)),
        };
        Ok(Self {
            address: address.clone(),
            folder,
            held: held.into(),
            name,
            host,
            answers: answers.into(),
            distance: OnceCell::new(),
            sent: Mutex::default(),
        })
    }

    fn is_open(&self) -> bool {
        let held = self.held.lock();
        let mut held = held.unwrap_or_else(std::sync::PoisonError::into_inner);
        held.is_open()
    }

    /// Returns the SSH address of the host.
    #[must_use]
    pub fn address(&self) -> &SshAddress {
        &self.address
    }

    /// Returns the name that the host gives itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the folder of this program there.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns a command that starts a subcommand of this program there. It ends with its standard
    /// input.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        command_of(&self.address, &self.folder, arguments)
    }

    /// Asks the program there.
    pub(super) async fn ask(&self, question: &RemoteRequest) -> Result<RemoteReply, Problem> {
        self.answers.lock().await.ask(question).await
    }

    /// Starts the program there once more, for separate requests.
    pub(super) fn answers(&self) -> Result<RemoteClient<SshWay>, Problem> {
        client(self.command(&[SERVE]), &self.name)
    }

    /// Runs a subcommand of this program there to its end. Returns its output.
    ///
    /// # Errors
    /// The complaint of it, or of `ssh`.
    pub async fn output(&self, arguments: &[&str]) -> Result<String, Problem> {
        let script = script(&self.folder, arguments);
        let ran = connection::run(&self.address, &script, Stdio::null()).await;
        ran.map_err(|problem| problem.context(&self.name))
    }

    /// Measures how far its clocks are ahead of this host's.
    ///
    /// # Errors
    /// The way is cut.
    pub async fn clock(&self) -> Result<FarClock, Problem> {
        let mut answers = self.answers.lock().await;
        let mut there_ahead_ns = 0;
        let ask = async || match answers.ask(&RemoteRequest::Clock).await? {
            RemoteReply::Clock { wall_ns, ahead_ns } => {
                there_ahead_ns = ahead_ns;
                Ok(Some(wall_ns))
            }
            other => Err(strange(other)),
        };
        let wall = clock_offset(ask).await?;
        let wall = wall.ok_or_else(|| format!("{} does not say what time it is", self.name))?;
        let here_ahead_ns = wall_ns().saturating_sub(monotonic_ns());
        let shift =
            i128::from(there_ahead_ns) - i128::from(wall.ahead_ns) - i128::from(here_ahead_ns);
        Ok(FarClock {
            wall,
            shift_ns: i64::try_from(shift).unwrap_or(0),
        })
    }

    /// Measures the median round trip from that host to a port of another one, ns; `None` if there
    /// is no way. `is_ssh` says that an SSH server listens there, which is spared.
    pub async fn round_trip(&self, to: SocketAddr, is_ssh: bool) -> Option<u64> {
        let connections = if is_ssh { CONNECTIONS_SSH } else { CONNECTIONS };
        match self
            .ask(&RemoteRequest::RoundTrip { to, connections })
            .await
        {
            Ok(RemoteReply::RoundTrip(time_ns)) => time_ns,
            _ => None,
        }
    }

    /// Measures the way from here, once.
    pub(super) async fn distance(&self) -> Result<Distance, Problem> {
        let measuring = self.distance.get_or_try_init(|| async {
            let (name, port) = host_and_port(&self.address).await?;
            Distance::to(&name, port, CONNECTIONS_SSH).await
        });
        measuring.await.copied()
    }
}

/// The command of a shell that makes a folder, and removes it when its standard input ends.
fn keeper() -> String {
    let pid = std::process::id();
    in_sh(&format!(
        "umask 077; \
         folder=$(mktemp -d \"${{TMPDIR:-/tmp}}/{PREFIX}{pid}-far-XXXXXX\") || exit 1; \
         trap 'rm -rf \"$folder\"' EXIT; trap 'exit 1' HUP INT TERM; \
         echo \"{READY} $(uname -n) $folder\"; cat > /dev/null"
    ))
}

/// A command that any login shell has `sh` carry out.
pub(super) fn in_sh(script: &str) -> String {
    format!("exec sh -c {}", quoted(script))
}

/// The command of a shell that becomes a subcommand of the program in a folder.
fn script(folder: &str, arguments: &[&str]) -> String {
    let program = quoted(&format!("{folder}/{PROGRAM}"));
    let arguments = arguments.iter().map(|argument| quoted(argument));
    let words: Vec<String> = std::iter::once(program).chain(arguments).collect();
    format!("exec {}", words.join(" "))
}

fn command_of(address: &SshAddress, folder: &str, arguments: &[&str]) -> Command {
    connection::command(&address.words(&[]), &script(folder, arguments))
}

/// Copies this program, and sees that it arrived as it is and starts.
async fn copy_program(address: &SshAddress, folder: &str, program: &Path) -> Result<(), Problem> {
    let own = program.to_owned();
    let reading = tokio::task::spawn_blocking(move || opened(&own)).await;
    let read = reading.map_err(Problem::new)?;
    let (file, digest) = read.map_err(|error| Problem::new(error).context(program.display()))?;
    let there = quoted(&format!("{folder}/{PROGRAM}"));
    let copying = in_sh(&format!(
        "cat > {there} && chmod 700 {there} && sha256sum < {there} && {there} --version"
    ));
    let said = connection::run(address, &copying, file).await;
    let said = said.map_err(|problem| {
        problem
            .context("bakeoff cannot be started there")
            .with_hint(STATIC)
    })?;
    match said.starts_with(&digest) {
        true => Ok(()),
        false => Err("bakeoff did not arrive there as it is here".into()),
    }
}

/// Returns a file, rewound, and its digest.
fn opened(path: &Path) -> io::Result<(File, String)> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    io::copy(&mut file, &mut hash)?;
    file.rewind()?;
    Ok((file, format!("{:x}", hash.finalize())))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::{READY, keeper, script};

    #[test]
    fn the_folder_goes_with_the_way_to_it() {
        let base = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh")
            .args(["-c", &keeper()])
            .env("TMPDIR", base.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(shell.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let said = line.trim().strip_prefix(READY).unwrap().trim();
        let (name, folder) = said.split_once(' ').unwrap();
        assert!(!name.is_empty(), "{line}");
        let folder = Path::new(folder);
        assert!(folder.starts_with(base.path()) && folder.is_dir(), "{line}");
        drop(shell.stdin.take());
        assert!(shell.wait().unwrap().success());
        assert!(!folder.exists());
    }

    #[test]
    fn a_subcommand_replaces_the_shell() {
        let script = script("/tmp/a b", &["load", "-"]);
        assert_eq!(script, "exec '/tmp/a b/bakeoff' 'load' '-'");
    }
}
