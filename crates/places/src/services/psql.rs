//! PostgreSQL's own programs: their calls and results.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bakeoff_base::problem::Problem;

/// The name by which suites call the backend.
pub(super) const NAME: &str = "postgres";

/// The administrator of a server that is made for a session.
const ADMINISTRATOR: &str = "postgres";

/// How long one of PostgreSQL's programs may take; `initdb` syncs a thousand files.
const PROGRAM: Duration = Duration::from_secs(120);

/// The options with which it prints nothing but results of statements.
const PLAIN: [&str; 4] = ["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"];

/// The program that runs statements.
pub(super) fn psql(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(PLAIN);
    command
}

/// Returns the arguments of `psql` for an administrator's statements to a server whose socket is in
/// this folder.
pub(super) fn as_administrator(
    folder: &str,
    port: u16,
    database: &str,
    statements: &str,
) -> Vec<String> {
    let port = port.to_string();
    let of_server = [
        "--username",
        ADMINISTRATOR,
        "--host",
        folder,
        "--port",
        &port,
    ];
    let to_run = ["--dbname", database, "--command", statements];
    let all = PLAIN
        .into_iter()
        .chain(["--set", "ON_ERROR_STOP=1"])
        .chain(of_server)
        .chain(to_run);
    all.map(str::to_owned).collect()
}

/// Returns the output of a program; its complaint as an error.
pub(super) async fn output(command: Command, name: &str) -> Result<String, Problem> {
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let done = tokio::time::timeout(PROGRAM, command.output()).await;
    let done = done
        .map_err(|_| failed(format!("{name} takes more than {} s", PROGRAM.as_secs())))?
        .map_err(|error| failed(format!("{name}: {error}")))?;
    if !done.status.success() {
        let complaint = String::from_utf8_lossy(&done.stderr);
        return Err(failed(format!("{name}: {}", complaint.trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

pub(crate) fn failed(why: impl Into<Problem>) -> Problem {
    why.into().context(format_args!("backend {NAME}"))
}
