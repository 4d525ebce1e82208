//! The few lines that run in a new process before the contender's own program: they enter the
//! groups, so that not one page or cycle of the contender is counted elsewhere, and stamp the
//! clock.
//!
//! This is a separate program (our binary, re-executed) because code between fork and exec would
//! have to be `unsafe` and could not report what went wrong.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::CpuSet;

use crate::local::network::Line;
use crate::ready::monotonic_ns;

/// Open files that a contender may have: what container engines grant.
const NOFILE: u64 = 1 << 20;

/// The start of a stamp whose program cannot be executed; the reason follows.
pub(super) const NO_PROGRAM: &str = "no program ";

/// The start of a stamp whose shim failed; the reason follows.
pub(super) const FAILED: &str = "error ";

/// Why the shim could not execute the program.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ShimError(String);

/// The arguments of the shim, and their form on a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShimArgs {
    /// Files to write the own process number to.
    pub(crate) entrances: Vec<PathBuf>,
    /// Where the time of the execution goes, or why there was none.
    pub(crate) stamp: PathBuf,
    /// The process that must be alive.
    pub(crate) parent: u32,
    /// Cores to confine itself to; empty = all.
    pub(crate) cores: Vec<usize>,
    /// The separate network that the contender moves into.
    pub(crate) network: Option<Line>,
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
}

impl ShimArgs {
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        for entrance in &self.entrances {
            args.extend(["--enter".into(), entrance.into()]);
        }
        for core in &self.cores {
            args.extend(["--core".into(), core.to_string().into()]);
        }
        if let Some(line) = &self.network {
            args.extend(["--network".into(), line.to_arg().into()]);
        }
        args.extend(["--stamp".into(), self.stamp.clone().into()]);
        args.extend([
            "--parent".into(),
            self.parent.to_string().into(),
            "--".into(),
        ]);
        args.extend(self.command.iter().cloned());
        args
    }

    fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Self, ShimError> {
        let mut order = Self::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                order.command = args.collect();
                return Ok(order);
            }
            let value = args
                .next()
                .ok_or_else(|| ShimError(format!("{arg:?} has no value")))?;
            let number = || {
                let text = value.to_str().and_then(|text| text.parse::<u32>().ok());
                text.ok_or_else(|| ShimError(format!("{arg:?} {value:?} is not a number")))
            };
            match arg.to_str() {
                Some("--enter") => order.entrances.push(value.into()),
                Some("--stamp") => order.stamp = value.into(),
                Some("--parent") => order.parent = number()?,
                Some("--core") => order.cores.push(number()? as usize),
                Some("--network") => {
                    let line = value.to_str().and_then(Line::from_arg);
                    let unknown = || ShimError(format!("{arg:?} {value:?} is not a network"));
                    order.network = Some(line.ok_or_else(unknown)?);
                }
                _ => return Err(ShimError(format!("unknown option {arg:?}"))),
            }
        }
        Err(ShimError("no command".to_owned()))
    }
}

/// Enters the groups and becomes the program. `args` are those behind the hidden sub-command, as
/// the process runtime made them. Returns only when that failed; the reason is in the stamp file
/// as well, where the runtime looks for it. Exit with 127 then, as shells do.
///
/// # Errors
/// A group could not be entered, or the program could not be executed.
pub fn shim_main(args: impl IntoIterator<Item = OsString>) -> Result<Infallible, ShimError> {
    let order = ShimArgs::from_args(args)?;
    let (kind, error) = match prepare(&order) {
        Err(error) => (FAILED, error),
        Ok(mut program) => {
            let error = program.exec();
            let name = Path::new(program.get_program()).display();
            let error = ShimError(format!("cannot execute {name}: {error}"));
            (NO_PROGRAM, error)
        }
    };
    // When even this cannot be written, the exit code and the log still say so.
    let _ = fs::write(&order.stamp, format!("{kind}{error}"));
    Err(error)
}

/// Does everything before the execution of the program, and returns its command.
fn prepare(order: &ShimArgs) -> Result<Command, ShimError> {
    let fail = |what: &str, error: &dyn std::fmt::Display| ShimError(format!("{what}: {error}"));
    let (program, args) = order
        .command
        .split_first()
        .ok_or_else(|| ShimError("no command".to_owned()))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| fail("cannot tie itself to its parent", &error))?;
    let parent = rustix::process::getppid().map(Pid::as_raw_nonzero);
    if parent.is_none_or(|parent| u32::try_from(parent.get()).ok() != Some(order.parent)) {
        return Err(ShimError("its parent has ended".to_owned()));
    }
    // A separate session: no terminal, no signals from a terminal, and a name for the tree.
    rustix::process::setsid().map_err(|error| fail("cannot make a session", &error))?;
    for entrance in &order.entrances {
        fs::write(entrance, std::process::id().to_string())
            .map_err(|error| fail(&format!("cannot enter {}", entrance.display()), &error))?;
    }
    if let Some(line) = &order.network {
        line.move_in()
            .map_err(|error| fail("cannot make a separate network", &error))?;
    }
    raise_nofile();
    if !order.cores.is_empty() {
        let mut set = CpuSet::new();
        order
            .cores
            .iter()
            .filter(|core| **core < CpuSet::MAX_CPU)
            .for_each(|core| set.set(*core));
        rustix::thread::sched_setaffinity(None, &set)
            .map_err(|error| fail(&format!("cannot run on cores {:?}", order.cores), &error))?;
    }
    let mut command = Command::new(program);
    command.args(args);
    fs::write(&order.stamp, monotonic_ns().to_string())
        .map_err(|error| fail(&format!("cannot write {}", order.stamp.display()), &error))?;
    Ok(command)
}

/// Raises the limit of open files as far as possible: to what container engines grant if permitted,
/// else to the hard limit.
fn raise_nofile() {
    let now = rustix::process::getrlimit(Resource::Nofile);
    let hard = now.maximum.map_or(NOFILE, |hard| hard.max(NOFILE));
    let wish = Rlimit {
        current: Some(NOFILE),
        maximum: Some(hard),
    };
    if rustix::process::setrlimit(Resource::Nofile, wish).is_err() {
        // A lower limit is not an error here: the host's description names the one in force.
        let soft = now.maximum.map_or(NOFILE, |hard| hard.min(NOFILE));
        let own = Rlimit {
            current: Some(soft),
            maximum: now.maximum,
        };
        let _ = rustix::process::setrlimit(Resource::Nofile, own);
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, ShimArgs};

    #[test]
    fn an_order_survives_the_command_line() {
        let order = ShimArgs {
            entrances: vec!["/a/cgroup.procs".into(), "/b c/cgroup.procs".into()],
            stamp: "/tmp/stamp".into(),
            parent: 7,
            cores: vec![0, 3],
            network: Line::from_arg("bko7x1,198.18.7.1,198.18.7.3"),
            command: vec!["java".into(), "--enter".into(), "--".into(), "x".into()],
        };
        assert_eq!(ShimArgs::from_args(order.to_args()).unwrap(), order);
    }

    #[test]
    fn bad_orders_are_refused() {
        let check = |args: &[&str], expect: &str| {
            let error = ShimArgs::from_args(args.iter().map(Into::into)).unwrap_err();
            assert_eq!(error.to_string(), expect);
        };
        check(&[], "no command");
        check(&["--enter"], "\"--enter\" has no value");
        check(&["--core", "x", "--"], "\"--core\" \"x\" is not a number");
        let expect = "\"--network\" \"x,y,z\" is not a network";
        check(&["--network", "x,y,z", "--"], expect);
        check(&["--other", "x", "--"], "unknown option \"--other\"");
    }
}
