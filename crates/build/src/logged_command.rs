//! Commands whose output goes to a log.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::log::{last_lines, tail};

/// Variables by which a user's Cargo puts artifacts other than where a build's are looked for.
const ARTIFACTS_ELSEWHERE: [&str; 2] = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"];

/// A command whose output goes to a log, and whose processes all end with it: it builds something,
/// or fills a dependency.
#[derive(Debug, Clone, Copy)]
pub struct LoggedCommand<'a> {
    /// The program and its arguments; at least the program.
    pub words: &'a [String],
    /// Variables that are set in its environment besides our own.
    pub env: &'a BTreeMap<String, String>,
    /// The folder in which the command runs.
    pub folder: &'a Path,
    /// The file that takes the command's output.
    pub log: &'a Path,
    /// A command that takes longer is killed.
    pub limit: Duration,
}

impl LoggedCommand<'_> {
    /// Runs it. All its processes end with the future.
    ///
    /// # Errors
    /// It could not be started, failed, or took too long: a fragment that follows the name of
    /// the command.
    pub async fn run(&self) -> Result<(), Problem> {
        let program = self.words.first().map_or("", String::as_str);
        let log = File::create(self.log).and_then(|out| Ok((out.try_clone()?, out)));
        let log = log.map_err(|error| format!("has no log: {}: {error}", self.log.display()))?;
        let mut command = tokio::process::Command::new(program);
        for name in ARTIFACTS_ELSEWHERE {
            command.env_remove(name);
        }
        let group = CommandProcesses::new();
        let group = group.map_err(|error| format!("cannot be started: sh: {error}"))?;
        command
            .args(self.words.iter().skip(1))
            .envs(self.env)
            .current_dir(self.folder)
            .process_group(group.id())
            .kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(log.0).stderr(log.1);
        let child = command.spawn();
        let mut child = child.map_err(|error| format!("cannot be started: {program}: {error}"))?;
        match tokio::time::timeout(self.limit, child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("failed with {status}").into()),
            Ok(Err(error)) => Err(format!("cannot be waited for: {error}").into()),
            Err(_) => {
                let limit = self.limit.as_secs();
                Err(format!("did not end within {limit} s and was ended").into())
            }
        }
    }

    /// Returns the last lines of the command's output.
    #[must_use]
    pub fn last_lines(&self) -> String {
        last_lines(&tail(self.log))
    }
}

/// The group of a command's processes, since compilers and tests are children of the command. They
/// end with its value, and with this process: the first of them waits for the end of its input,
/// which nothing else holds open.
struct CommandProcesses(tokio::process::Child);

impl CommandProcesses {
    fn new() -> io::Result<Self> {
        let mut first = tokio::process::Command::new("sh");
        first
            .args(["-c", "read -r line; kill -9 0"])
            .process_group(0);
        first.stdin(Stdio::piped()).stdout(Stdio::null());
        first.stderr(Stdio::null()).spawn().map(Self)
    }

    /// The number of the group: that of its first process, which has not been waited for.
    fn id(&self) -> i32 {
        let id = self.0.id().and_then(|id| i32::try_from(id).ok());
        id.unwrap_or_default()
    }
}

impl Drop for CommandProcesses {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.id()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}
