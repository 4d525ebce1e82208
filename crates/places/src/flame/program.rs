//! The sampling programs: their paths, their output, and names in it.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use tokio::process::{Child, Command};

/// How long a program may take for what ends by itself.
const LIMIT: Duration = Duration::from_secs(120);
/// The length of a program's complaint in a message, characters.
const SHOWN_MAX: usize = 300;

/// Where a program is: in the folder, or else on the PATH.
pub(super) fn found(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = folder.map(Path::to_owned).into_iter();
    let mut all = folders
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(name));
    all.find(|path| path.is_file())
}

/// A tool of the JDK that runs the program, or of another one.
pub(super) fn tool(java: &Path, name: &str) -> Result<PathBuf, Problem> {
    found(name, java.parent()).ok_or_else(|| {
        format!("its Java has no {name}, and none is on the PATH; a JDK has it (not a JRE)").into()
    })
}

/// A method that is made at run time has a number in its name, which is another one each time, and
/// goes without it.
pub(super) fn without_number(name: &str) -> String {
    match name.split_once("$$Lambda") {
        Some((owner, rest)) => {
            let method = rest.rsplit_once('.').map_or("", |(_, method)| method);
            format!("{owner}$$Lambda.{method}")
        }
        None => name.to_owned(),
    }
}

/// Runs a program to its end; what it prints goes into a file, or is returned.
pub(super) async fn said(
    program: &Path,
    args: &[&OsStr],
    into: Option<&Path>,
) -> Result<String, Problem> {
    let name = program.display();
    let output: Stdio = match into {
        Some(path) => {
            let file = File::create(path);
            let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
            file.into()
        }
        None => Stdio::piped(),
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn();
    let child = child.map_err(|error| format!("{name} cannot be started: {error}"))?;
    let ended = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
    let ended = ended.map_err(|_| format!("{name} did not end within {} s", LIMIT.as_secs()))?;
    let ended = ended.map_err(|error| format!("{name} cannot be waited for: {error}"))?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.success() {
        return Ok(text);
    }
    let complaint = one_line(&format!(
        "{}\n{text}",
        String::from_utf8_lossy(&ended.stderr)
    ));
    Err(format!("{name} failed ({}): {complaint}", ended.status).into())
}

/// Starts a program that ends on a signal; all its output goes into a file.
pub(super) fn spawned(program: &Path, args: &[&OsStr], log: &Path) -> Result<Child, Problem> {
    let file = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = file.map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        // A terminal's Ctrl-C is ours to handle.
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn();
    child.map_err(|error| format!("{} cannot be started: {error}", program.display()).into())
}

/// A complaint of several lines as one, without what would not fit.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [] => "it says nothing".to_owned(),
        words => words.join(" ").chars().take(SHOWN_MAX).collect(),
    }
}
