//! A PostgreSQL server and the databases in it, as its administrator sees them. The server is
//! started by [`crate::services::postgres`], by a cluster, or by its owner:
//! [`crate::services::server`].

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bakeoff_base::problem::Problem;
use rustix::process::{Pid, Signal, kill_process};

use crate::api::BoxFuture;
use crate::services::psql::{as_administrator, failed, output};
use crate::services::server::{PREFIX, Server};

/// The database that holds the schema and nothing else; those of contenders are copies of it. No
/// contender has a name that starts with two underscores here.
const TEMPLATE: &str = "bakeoff__template";

/// The file of a suite's data folder that is run in every new database.
const SCHEMA: &str = "schema.sql";

/// The user that contenders log in as, with this as password too: owner of their databases, nothing
/// else.
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

/// The databases of contenders in a PostgreSQL server, as its administrator sees them.
#[derive(Debug)]
pub struct Databases {
    server: Whose,
}

#[derive(Debug)]
enum Whose {
    /// A server that was started for this session.
    Ours(Box<dyn Administrator>),
    /// The user's own.
    Theirs(Box<Server>),
}

/// The way to a server that was started for us.
pub(crate) trait Administrator: Debug + Send + Sync {
    /// Runs statements as administrator, and returns their output.
    fn run<'a>(
        &'a self,
        database: &'a str,
        statements: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>>;

    /// Returns the first process of the server, which starts all others, if it is on this host.
    fn process(&self) -> Option<u32>;
}

impl Databases {
    /// In a server that was started for us.
    pub(crate) fn ours(administrator: impl Administrator + 'static) -> Self {
        Self {
            server: Whose::Ours(Box::new(administrator)),
        }
    }

    /// In the user's own server.
    pub(super) fn theirs(server: Server) -> Self {
        Self {
            server: Whose::Theirs(Box::new(server)),
        }
    }

    /// Makes the role, if contenders get one of ours, and the database that has the suite's schema,
    /// which is a file in this folder.
    pub(crate) async fn fill_template(&self, data: &Path) -> Result<(), Problem> {
        let schema = data.join(SCHEMA);
        let text = fs::read_to_string(&schema)
            .map_err(|error| failed(format!("{}: {error}", schema.display())))?;
        match &self.server {
            Whose::Ours(ours) => {
                let role = format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'");
                ours.run("postgres", &role).await?;
                let database = format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}");
                ours.run("postgres", &database).await?;
                let schema = format!("SET ROLE {ROLE};\n{text}");
                ours.run(TEMPLATE, &schema).await?;
            }
            Whose::Theirs(server) => {
                server.create(TEMPLATE, None).await?;
                server.run(TEMPLATE, &text).await?;
            }
        }
        Ok(())
    }

    /// Makes a contender's database empty, with the schema, whatever was there before.
    ///
    /// # Errors
    /// The server refuses, or is gone.
    pub async fn prepare(&self, contender: &str) -> Result<(), Problem> {
        let database = database_name(contender);
        match &self.server {
            Whose::Ours(ours) => {
                let drop = format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)");
                ours.run("postgres", &drop).await?;
                let template = format!("TEMPLATE {TEMPLATE} OWNER {ROLE}");
                let create = format!("CREATE DATABASE \"{database}\" {template}");
                ours.run("postgres", &create).await?;
            }
            Whose::Theirs(server) => {
                server.create(&database, Some(TEMPLATE)).await?;
            }
        }
        Ok(())
    }

    /// Returns the result of a query in a contender's database, a line for each row.
    ///
    /// # Errors
    /// There is no such database, or the query fails.
    pub async fn query(&self, contender: &str, query: &str) -> Result<String, Problem> {
        self.run(&database_name(contender), query).await
    }

    /// The server's version, as it says it.
    pub async fn version(&self) -> Option<String> {
        self.run(TEMPLATE, "SHOW server_version").await.ok()
    }

    /// Name and password of contenders.
    #[must_use]
    pub fn login(&self) -> (&str, &str) {
        match &self.server {
            Whose::Ours(_) => (ROLE, ROLE),
            Whose::Theirs(server) => server.login(),
        }
    }

    /// Asks a running server of ours to end at once: on SIGTERM alone it waits until all clients
    /// have disconnected, a query of a contender that was killed included.
    pub(super) fn shut_down(&self) {
        let process = self.process().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = process.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::INT);
        }
    }

    /// Returns the first process of a server of ours, if it is on this host.
    pub(super) fn process(&self) -> Option<u32> {
        match &self.server {
            Whose::Ours(ours) => ours.process(),
            Whose::Theirs(_) => None,
        }
    }

    /// Whether the server responds.
    pub(crate) async fn answer(&self) -> bool {
        self.run("postgres", "SELECT 1").await.is_ok()
    }

    async fn run(&self, database: &str, statements: &str) -> Result<String, Problem> {
        match &self.server {
            Whose::Ours(ours) => ours.run(database, statements).await,
            Whose::Theirs(server) => server.run(database, statements).await,
        }
    }
}

/// A server on this host that asks no password on its socket.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) psql: PathBuf,
    /// Holds the socket.
    pub(super) folder: PathBuf,
    pub(super) port: u16,
}

impl Administrator for Socket {
    fn run<'a>(
        &'a self,
        database: &'a str,
        statements: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        let folder = self.folder.display().to_string();
        let mut command = Command::new(&self.psql);
        command.args(as_administrator(&folder, self.port, database, statements));
        Box::pin(output(command, "psql"))
    }

    fn process(&self) -> Option<u32> {
        let file = fs::read_to_string(self.folder.join("data/postmaster.pid")).ok()?;
        file.lines().next()?.trim().parse().ok()
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
