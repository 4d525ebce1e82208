//! A PostgreSQL server and the databases in it, as its administrator sees them. How it comes to
//! run is the business of [`super::postgres`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use super::error::BackendError;

/// The name by which suites call the backend.
pub(super) const NAME: &str = "postgres";

/// The database that holds the schema and nothing else; those of contenders are copies of it.
const TEMPLATE: &str = "bakeoff_template";

/// Who contenders log in as, with this as password too: owner of their databases, nothing else.
pub(super) const ROLE: &str = "bakeoff";

/// How long one of PostgreSQL's programs may take; `initdb` syncs a thousand files.
const PROGRAM: Duration = Duration::from_secs(120);

/// Bytes that PostgreSQL keeps of a name.
const NAME_BYTES_MAX: usize = 63;

/// The database of a contender, for which `{backend.database}` stands in a suite's environment.
#[must_use]
pub fn database_name(contender: &str) -> String {
    let plain = |letter: char| match letter {
        'a'..='z' | '0'..='9' => letter,
        _ => '_',
    };
    let lower = contender.to_ascii_lowercase();
    lower.chars().map(plain).take(NAME_BYTES_MAX).collect()
}

/// A running server, as its administrator sees it.
#[derive(Debug)]
pub(super) struct Cluster {
    psql: PathBuf,
    /// Holds the socket.
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// The server whose socket is in this folder.
    pub(super) fn new(psql: PathBuf, folder: PathBuf, port: u16) -> Self {
        Self { psql, folder, port }
    }

    /// Makes the role and the database that has the suite's schema.
    pub(super) async fn fill_template(&self, schema: &Path) -> Result<(), BackendError> {
        let text = fs::read_to_string(schema)
            .map_err(|error| failed(format!("{}: {error}", schema.display())))?;
        let role = format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'");
        self.run("postgres", &role).await?;
        let database = format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}");
        self.run("postgres", &database).await?;
        let schema = format!("SET ROLE {ROLE};\n{text}");
        self.run(TEMPLATE, &schema).await?;
        Ok(())
    }

    /// Makes an empty database with the schema, whatever was there before.
    pub(super) async fn empty(&self, database: &str) -> Result<(), BackendError> {
        let drop = format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)");
        self.run("postgres", &drop).await?;
        let create = format!("CREATE DATABASE \"{database}\" TEMPLATE {TEMPLATE} OWNER {ROLE}");
        self.run("postgres", &create).await?;
        Ok(())
    }

    /// Asks a running server to end at once: on SIGTERM alone it waits until everybody has
    /// disconnected, a query of a contender that was killed included.
    pub(super) fn shut_down(&self) {
        let server = self.server().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = server.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// The server's first process, which starts all others.
    pub(super) fn server(&self) -> Option<u32> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// Runs statements as administrator; what they print.
    pub(super) async fn run(
        &self,
        database: &str,
        statements: &str,
    ) -> Result<String, BackendError> {
        let mut command = Command::new(&self.psql);
        command
            .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only"])
            .args(["--set", "ON_ERROR_STOP=1", "--username", "postgres"])
            .arg("--host")
            .arg(&self.folder)
            .args(["--port", &self.port.to_string()])
            .args(["--dbname", database, "--command", statements]);
        output(command, "psql").await
    }
}

/// What a program prints; what it complains of as an error.
pub(super) async fn output(mut command: Command, name: &str) -> Result<String, BackendError> {
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

pub(super) fn failed(message: String) -> BackendError {
    BackendError::Failed {
        name: NAME,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::database_name;

    #[test]
    fn names_of_databases() {
        let long = "x".repeat(100);
        for (contender, expect) in [
            ("axum", "axum"),
            ("akka-http/equal", "akka_http_equal"),
            ("Tapir 1.9\"", "tapir_1_9_"),
            (&long, &long[..63]),
        ] {
            assert_eq!(database_name(contender), expect);
        }
    }
}
