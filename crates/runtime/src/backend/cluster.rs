//! A PostgreSQL server and the databases in it, as its administrator sees them. How it comes to
//! run is the business of [`super::postgres`], or of whoever runs it: [`super::server`].

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use super::error::BackendError;
use super::psql::{failed, output, psql};
use super::server::{PREFIX, Server};

/// The database that holds the schema and nothing else; those of contenders are copies of it. No
/// contender has a name that makes two underscores of its beginning.
const TEMPLATE: &str = "bakeoff__template";

/// Who contenders log in as, with this as password too: owner of their databases, nothing else.
pub(super) const ROLE: &str = "bakeoff";

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
    let name = PREFIX.chars().chain(lower.chars().map(plain));
    name.take(NAME_BYTES_MAX).collect()
}

/// A running server, as its administrator sees it.
#[derive(Debug)]
pub(super) enum Cluster {
    /// One of our own.
    Own(Own),
    /// Somebody else's.
    Theirs(Box<Server>),
}

/// A server that was started for us, and asks no password on its socket.
#[derive(Debug)]
pub(super) struct Own {
    psql: PathBuf,
    /// Holds the socket.
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// The server whose socket is in this folder.
    pub(super) fn new(psql: PathBuf, folder: PathBuf, port: u16) -> Self {
        Self::Own(Own { psql, folder, port })
    }

    /// Makes the role, where contenders get one of ours, and the database that has the suite's
    /// schema.
    pub(super) async fn fill_template(&self, schema: &Path) -> Result<(), BackendError> {
        let text = fs::read_to_string(schema)
            .map_err(|error| failed(format!("{}: {error}", schema.display())))?;
        match self {
            Self::Own(own) => {
                let role = format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'");
                own.run("postgres", &role).await?;
                let database = format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}");
                own.run("postgres", &database).await?;
                let schema = format!("SET ROLE {ROLE};\n{text}");
                own.run(TEMPLATE, &schema).await?;
            }
            Self::Theirs(server) => {
                server.create(TEMPLATE, None).await?;
                server.run(TEMPLATE, &text).await?;
            }
        }
        Ok(())
    }

    /// Makes an empty database with the schema, whatever was there before.
    pub(super) async fn empty(&self, database: &str) -> Result<(), BackendError> {
        match self {
            Self::Own(own) => {
                let drop = format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)");
                own.run("postgres", &drop).await?;
                let template = format!("TEMPLATE {TEMPLATE} OWNER {ROLE}");
                let create = format!("CREATE DATABASE \"{database}\" {template}");
                own.run("postgres", &create).await?;
            }
            Self::Theirs(server) => {
                server.create(database, Some(TEMPLATE)).await?;
            }
        }
        Ok(())
    }

    /// The server's version, as it says it.
    pub(super) async fn version(&self) -> Option<String> {
        self.run(TEMPLATE, "SHOW server_version").await.ok()
    }

    /// Name and password of contenders.
    pub(super) fn login(&self) -> (&str, &str) {
        match self {
            Self::Own(_) => (ROLE, ROLE),
            Self::Theirs(server) => server.login(),
        }
    }

    /// Asks a running server of ours to end at once: on SIGTERM alone it waits until everybody has
    /// disconnected, a query of a contender that was killed included.
    pub(super) fn shut_down(&self) {
        let server = self.server().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = server.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// The first process of a server of ours, which starts all others.
    pub(super) fn server(&self) -> Option<u32> {
        let Self::Own(own) = self else {
            return None;
        };
        let file = fs::read_to_string(own.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
    }

    /// Runs statements as administrator; what they print.
    pub(super) async fn run(
        &self,
        database: &str,
        statements: &str,
    ) -> Result<String, BackendError> {
        match self {
            Self::Own(own) => own.run(database, statements).await,
            Self::Theirs(server) => server.run(database, statements).await,
        }
    }
}

impl Own {
    async fn run(&self, database: &str, statements: &str) -> Result<String, BackendError> {
        let mut command = psql(&self.psql);
        command
            .args(["--set", "ON_ERROR_STOP=1"])
            .args(["--username", "postgres", "--host"])
            .arg(&self.folder)
            .args(["--port", &self.port.to_string()])
            .args(["--dbname", database, "--command", statements]);
        output(command, "psql").await
    }
}

#[cfg(test)]
mod tests {
    use super::database_name;

    #[test]
    fn names_of_databases() {
        let long = "x".repeat(100);
        for (contender, expect) in [
            ("axum", "bakeoff_axum"),
            ("akka-http/equal", "bakeoff_akka_http_equal"),
            ("Tapir 1.9\"", "bakeoff_tapir_1_9_"),
            (&long, &format!("bakeoff_{}", &long[..55])),
        ] {
            assert_eq!(database_name(contender), expect);
        }
    }
}
