//! The address of a database server that runs already, as people write it. Nothing is looked
//! up here, and its password is never written down.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::percent;
use serde::{Deserialize, Serialize};
use url::Url;

/// The port of a URL that names none.
const PORT: u16 = 5432;

/// The database of a URL that names none: what every server has for people to connect to.
const DATABASE: &str = "postgres";

/// `postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]`. As text, also in files, it has no password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DatabaseUrl {
    user: String,
    password: Option<String>,
    host: String,
    port: u16,
    database: String,
}

/// Why a text does not name a database server. It is not repeated: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write `postgres://USER:PASSWORD@HOST:PORT`")]
pub struct DatabaseUrlError(String);

impl DatabaseUrl {
    /// The user that logs in.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The password, if the URL has one.
    #[must_use]
    pub fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// Returns the URL with this password, or with none.
    #[must_use]
    pub fn with_password(self, password: Option<String>) -> Self {
        Self { password, ..self }
    }

    /// Name or address of the host, IPv6 without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, as people name a server.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// A database to connect to from which others are made.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |message: &str| DatabaseUrlError(message.to_owned());
        if !text.contains("://") {
            return Err(fail("a URL of a database begins with postgres://"));
        }
        let url = Url::parse(text).map_err(|error| fail(&error.to_string()))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(fail("the scheme must be postgres"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            let message = "it has parameters, which would not be passed on to contenders";
            return Err(fail(message));
        }
        let host = url.host_str().unwrap_or_default();
        if url.username().is_empty() || host.is_empty() {
            return Err(fail("it must name a user and a host"));
        }
        let decoded = |part: &str| percent::decoded(part).ok_or_else(|| fail("it must be UTF-8"));
        Ok(Self {
            user: decoded(url.username())?,
            password: url.password().map(decoded).transpose()?,
            host: host.to_owned(),
            port: url.port().unwrap_or(PORT),
            database: match url.path().trim_start_matches('/') {
                "" => DATABASE.to_owned(),
                name => decoded(name)?,
            },
        })
    }
}

impl TryFrom<String> for DatabaseUrl {
    type Error = DatabaseUrlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DatabaseUrl> for String {
    fn from(url: DatabaseUrl) -> Self {
        url.to_string()
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = percent::component(&self.user);
        let database = percent::component(&self.database);
        write!(
            f,
            "postgres://{user}@{}:{}/{database}",
            self.host, self.port
        )
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseUrl;

    #[test]
    fn it_is_read_and_never_written_with_its_password() {
        for (text, written, password) in [
            ("postgres://ann@db", "postgres://ann@db:5432/postgres", None),
            (
                "postgresql://ann:a%40b@10.0.0.5:5433/shop",
                "postgres://ann@10.0.0.5:5433/shop",
                Some("a@b"),
            ),
            (
                "postgres://ann@[::1]/",
                "postgres://ann@[::1]:5432/postgres",
                None,
            ),
        ] {
            let url: DatabaseUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), written);
            assert_eq!(url.password(), password);
            let file = serde_json::to_string(&url).unwrap();
            assert_eq!(file, format!("\"{written}\""));
            assert_eq!(format!("{url:?}"), format!("DatabaseUrl({written})"));
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_password() {
        for (text, expect) in [
            (
                "ann:secret@db",
                "a URL of a database begins with postgres://",
            ),
            ("mysql://ann:secret@db", "the scheme must be postgres"),
            ("postgres://db", "it must name a user and a host"),
            ("postgres://ann:secret@", "empty host"),
            ("postgres://ann:secret@db:x", "invalid port number"),
            (
                "postgres://ann:secret@db?sslmode=require",
                "it has parameters, which would not be passed on to contenders",
            ),
        ] {
            let error = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            let hint = "; write `postgres://USER:PASSWORD@HOST:PORT`";
            assert_eq!(error, format!("{expect}{hint}"));
        }
    }
}
