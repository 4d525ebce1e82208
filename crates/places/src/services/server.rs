//! A PostgreSQL that runs already: databases of ours are made in it and dropped again, and
//! nothing else is touched. All that is made carries a mark, and only what carries it is dropped.
//!
//! While a session uses a server it holds a connection to its own database there. Another session
//! refuses to start then; without such a connection, what is marked was left by a session that was
//! killed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use bakeoff_base::problem::Problem;
use bakeoff_model::text::database_url::DatabaseUrl;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Child;

use crate::services::psql::{failed, output, psql};

/// The prefix of names of our databases.
pub(super) const PREFIX: &str = "bakeoff_";

/// The database to which a session is connected as long as it uses the server.
const SESSION: &str = "bakeoff__session";

/// The comment of databases that are ours.
const MARK: &str = "made by bakeoff, which drops it";

/// The oldest server whose databases can be dropped while a client is connected.
const VERSION_MIN: u32 = 13;

/// A server of the user's own, in use by this session.
#[derive(Debug)]
pub(super) struct Server {
    psql: PathBuf,
    url: DatabaseUrl,
    /// The databases that were made in it and must be dropped.
    made: Mutex<BTreeSet<String>>,
    /// Connected to [`SESSION`]. It ends with its input, so also when this process is killed.
    holder: Option<Child>,
}

impl Server {
    /// Looks whether the server can be used, removes what a killed session left in it, and marks it
    /// as in use for other sessions.
    pub(super) async fn claim(psql: PathBuf, url: DatabaseUrl) -> Result<Self, Problem> {
        let mut server = Self {
            psql,
            url,
            made: Mutex::default(),
            holder: None,
        };
        server.check().await?;
        server.sweep().await?;
        server.create(SESSION, None).await?;
        server.hold().await?;
        Ok(server)
    }

    /// Name and password of contenders: those of the URL.
    pub(super) fn login(&self) -> (&str, &str) {
        (self.url.user(), self.url.password().unwrap_or_default())
    }

    /// Makes a database, empty or a copy of another of ours, and replaces one that is there.
    pub(super) async fn create(
        &self,
        database: &str,
        template: Option<&str>,
    ) -> Result<(), Problem> {
        let template = template.map(|name| format!(" TEMPLATE \"{name}\""));
        let template = template.unwrap_or_default();
        self.drop_ours(database).await?;
        let create = format!("CREATE DATABASE \"{database}\"{template}");
        self.run(self.url.database(), &create).await?;
        self.made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(database.to_owned());
        let mark = format!("COMMENT ON DATABASE \"{database}\" IS '{MARK}'");
        self.run(self.url.database(), &mark).await?;
        Ok(())
    }

    /// Drops a database if it is there.
    ///
    /// # Errors
    /// It is there, and was not made by us.
    async fn drop_ours(&self, database: &str) -> Result<(), Problem> {
        let comment = format!(
            "SELECT 'comment: ' || coalesce(shobj_description(oid, 'pg_database'), '') \
             FROM pg_database WHERE datname = '{database}'"
        );
        let found = self.run(self.url.database(), &comment).await?;
        if !found.is_empty() && found != format!("comment: {MARK}") {
            return Err(self.refused(
                format!("its database {database} was not made by bakeoff, and is left alone"),
                "drop or rename it, or name another server".to_owned(),
            ));
        }
        self.run(self.url.database(), &drop_statement(database))
            .await?;
        Ok(())
    }

    /// Runs statements, and returns their output.
    pub(super) async fn run(&self, database: &str, statements: &str) -> Result<String, Problem> {
        let mut command = self.psql(database);
        command.args(["--set", "ON_ERROR_STOP=1", "--command", statements]);
        output(command, "psql").await
    }

    fn psql(&self, database: &str) -> Command {
        let mut command = psql(&self.psql);
        command
            .args(["--no-password", "--username", self.url.user()])
            .args(["--host", self.url.host()])
            .args(["--port", &self.url.port().to_string()])
            .args(["--dbname", database])
            .env("PGAPPNAME", "bakeoff")
            .env("PGCONNECT_TIMEOUT", "10");
        // Not an argument, which all users of the host could read.
        if let Some(password) = self.url.password() {
            command.env("PGPASSWORD", password);
        }
        command
    }

    /// Whether a server listens, lets us in, and lets us make databases.
    async fn check(&self) -> Result<(), Problem> {
        let question = "SELECT current_setting('server_version_num') || ' ' || rolsuper || ' ' || \
                        rolcreatedb FROM pg_roles WHERE rolname = current_user";
        let answer = match self.run(self.url.database(), question).await {
            Ok(answer) => answer,
            Err(error) => {
                let (sentence, hint) = explained(&error.to_string());
                return Err(self.refused(sentence, hint));
            }
        };
        judge(&answer, self.url.user()).map_err(|(why, hint)| self.refused(why, hint))
    }

    /// Drops what a session left that was killed.
    async fn sweep(&self) -> Result<(), Problem> {
        let pattern = PREFIX.replace('_', "\\_");
        let marked = format!(
            "SELECT datname FROM pg_database WHERE datname LIKE '{pattern}%' \
             AND shobj_description(oid, 'pg_database') = '{MARK}'"
        );
        let left = self.run(self.url.database(), &marked).await?;
        let connected =
            format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{SESSION}'");
        let connected = self.run(self.url.database(), &connected).await?;
        if connected != "0" {
            return Err(self.refused(
                "another session of bakeoff is using it".to_owned(),
                "wait for its end, or name another server".to_owned(),
            ));
        }
        for database in left.lines() {
            self.drop_ours(database).await?;
        }
        Ok(())
    }

    /// Connects to the session's own database until the end.
    async fn hold(&mut self) -> Result<(), Problem> {
        let mut command = tokio::process::Command::from(self.psql(SESSION));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let no_connection = || failed(format!("psql does not stay connected to {SESSION}"));
        let mut holder = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(stdin), Some(stdout)) = (holder.stdin.as_mut(), holder.stdout.as_mut()) else {
            return Err(no_connection());
        };
        let asked = stdin.write_all(b"SELECT 'connected';\n").await;
        asked.map_err(|_| no_connection())?;
        let mut line = String::new();
        let answered = BufReader::new(stdout).read_line(&mut line).await;
        if answered.is_err() || line.trim() != "connected" {
            return Err(no_connection());
        }
        self.holder = Some(holder);
        Ok(())
    }

    fn refused(&self, why: String, hint: String) -> Problem {
        Problem::new(why).context(&self.url).with_hint(hint)
    }
}

impl Drop for Server {
    /// Drops what was made, also when a session is interrupted and nothing awaits anything more.
    fn drop(&mut self) {
        self.holder = None;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_empty() {
            return;
        }
        let mut command = self.psql(self.url.database());
        command.env("PGOPTIONS", "-c statement_timeout=20s");
        for database in made.iter() {
            command.args(["--command", &drop_statement(database)]);
        }
        // Databases that cannot be dropped now are left to the next session.
        let _ = command.stdin(Stdio::null()).output();
    }
}

fn drop_statement(database: &str) -> String {
    format!("DROP DATABASE IF EXISTS \"{database}\" WITH (FORCE)")
}

/// Returns the meaning of psql's complaint about a connection, and the remedy.
fn explained(complaint: &str) -> (String, String) {
    let because = |words: &[&str]| words.iter().any(|&word| complaint.contains(word));
    let (why, hint) = if because(&["password authentication failed"]) {
        (
            "the password is wrong, or there is no such user",
            "write the right one into --backend-url, percent-encoded, or into PGPASSWORD",
        )
    } else if because(&["no password supplied"]) {
        (
            "it asks for a password, and none was given",
            "write it into --backend-url (`postgres://USER:PASSWORD@HOST`) or into PGPASSWORD",
        )
    } else if because(&[
        "Connection refused",
        "timeout expired",
        "could not translate host",
    ]) {
        (
            "nothing listens there",
            "start the server, or correct host and port of --backend-url",
        )
    } else if because(&["no pg_hba.conf entry"]) {
        (
            "it does not let this user in from this host",
            "add a line to its pg_hba.conf",
        )
    } else {
        return (complaint.to_owned(), "see the server's own log".to_owned());
    };
    (why.to_owned(), hint.to_owned())
}

/// Whether a server with this reply can be used: its version as a number, whether the user may do
/// everything, and whether the user may make databases.
fn judge(answer: &str, user: &str) -> Result<(), (String, String)> {
    let mut words = answer.split(' ');
    let version: u32 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let major = version / 10_000;
    if major < VERSION_MIN {
        return Err((
            format!("it is PostgreSQL {major}, and {VERSION_MIN} is the oldest that can be used"),
            "name a newer server, or omit --backend-url: then one is started".to_owned(),
        ));
    }
    if !words.any(|word| word == "true") {
        return Err((
            format!("{user} may not make databases there"),
            format!("have its administrator say: ALTER ROLE \"{user}\" CREATEDB"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{explained, judge};

    #[test]
    fn who_may_make_databases_on_a_new_enough_server_may_begin() {
        let check = |answer: &str, expect: &str| {
            let judged = judge(answer, "ann").map_err(|(why, _)| why);
            assert_eq!(judged.err().unwrap_or_default(), expect);
        };
        check("150008 false true", "");
        check("130000 true false", "");
        check("150008 false false", "ann may not make databases there");
        check(
            "120022 true true",
            "it is PostgreSQL 12, and 13 is the oldest that can be used",
        );
        check(
            "90400 true true",
            "it is PostgreSQL 9, and 13 is the oldest that can be used",
        );
    }

    #[test]
    fn complaints_about_connections_become_sentences() {
        for (complaint, expect) in [
            ("...failed: Connection refused", "nothing listens there"),
            (
                "FATAL:  password authentication failed for user \"ann\"",
                "the password is wrong, or there is no such user",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(explained(complaint).0, expect);
        }
    }
}
