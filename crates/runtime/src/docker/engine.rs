//! Finds a Docker engine and says what it can enforce.
//!
//! Podman's compatible socket is an engine like any other: name it in `DOCKER_HOST`.

use std::path::{Path, PathBuf};

use bakeoff_model::conditions::Enforcement;
use bollard::Docker;
use bollard::errors::Error;
use url::Url;

/// Where an engine of the system listens.
const SYSTEM: &str = "unix:///var/run/docker.sock";

/// Whose containers we reach how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// On this host: containers have addresses of their own that can be reached from here.
    Local,
    /// On another host of this name: containers share that host's network.
    Remote(String),
}

/// A connection to an engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) docker: Docker,
    pub(crate) place: Place,
    host: String,
    version: String,
    missing: Vec<&'static str>,
}

/// No engine answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no Docker engine answers ({})", .tried.join("; "))]
pub struct NoEngine {
    /// The engines that were tried, each with the reason why it is not used.
    pub tried: Vec<String>,
}

impl NoEngine {
    /// Returns the remedy.
    #[must_use]
    pub fn hint(&self) -> String {
        "install Docker and start it, or set DOCKER_HOST to the address of an engine, of Docker or \
         Podman"
            .to_owned()
    }
}

/// The socket of an engine that `cargo offline docker-engine start` made.
#[must_use]
pub fn own_socket(cache: &Path) -> PathBuf {
    cache.join("docker/docker.sock")
}

impl Engine {
    /// Connects to the engine that `docker_host` (the value of `DOCKER_HOST`) names. Without it,
    /// to the system's, else to our own below the cache.
    ///
    /// # Errors
    /// None answers. An engine that was named is not replaced by another one.
    pub async fn find(docker_host: Option<&str>, cache: &Path) -> Result<Self, NoEngine> {
        let own = format!("unix://{}", own_socket(cache).display());
        let candidates = match docker_host.filter(|host| !host.is_empty()) {
            Some(host) => vec![host.to_owned()],
            None => vec![SYSTEM.to_owned(), own],
        };
        let mut tried = Vec::new();
        for host in candidates {
            match Self::connect(&host).await {
                Ok(engine) => return Ok(engine),
                Err(reason) => tried.push(format!("{host}: {reason}")),
            }
        }
        Err(NoEngine { tried })
    }

    /// Connects to one engine: `unix://PATH`, `tcp://HOST:PORT` or `http://HOST:PORT`.
    ///
    /// # Errors
    /// It does not answer, in one line.
    pub async fn connect(host: &str) -> Result<Self, String> {
        let place = place(host)?;
        let docker = Docker::connect_with_host(host).map_err(|error| plain(&error))?;
        let docker = docker
            .negotiate_version()
            .await
            .map_err(|error| plain(&error))?;
        let info = docker.info().await.map_err(|error| plain(&error))?;
        let abilities = [
            (info.cpu_cfs_quota, "the CPU quota"),
            (info.cpu_set, "the CPU set"),
            (info.memory_limit, "the memory limit"),
            // Where there is no swap, nothing needs to be kept from it.
            (
                info.swap_limit.map(|able| able || !has_swap(&place)),
                "a memory limit without swap",
            ),
        ];
        let missing = abilities
            .iter()
            .filter(|(able, _)| *able == Some(false))
            .map(|(_, name)| *name);
        Ok(Self {
            place,
            host: host.to_owned(),
            version: info.server_version.unwrap_or_default(),
            missing: missing.collect(),
            docker,
        })
    }

    /// The same engine over connections of its own.
    pub(crate) fn afresh(&self) -> Option<Self> {
        let docker = Docker::connect_with_host(&self.host).ok()?;
        Some(Self {
            docker,
            ..self.clone()
        })
    }

    /// Returns the value of `DOCKER_HOST` for this engine.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The engine's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How limits are enforced.
    pub(crate) fn enforcement(&self) -> Enforcement {
        if self.missing.is_empty() {
            return Enforcement::Docker;
        }
        let missing = self.missing.join(" and ");
        Enforcement::Unlimited {
            reason: format!("this Docker engine cannot enforce {missing}"),
        }
    }
}

/// Whether the engine's host has swap; of another host that is not known.
fn has_swap(place: &Place) -> bool {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    *place != Place::Local || swaps.lines().count() > 1
}

/// Where containers of an engine are.
fn place(host: &str) -> Result<Place, String> {
    let url = Url::parse(host).map_err(|error| format!("not a URL: {error}"))?;
    match (url.scheme(), url.host_str().unwrap_or_default()) {
        ("unix", _) | ("tcp" | "http", "localhost" | "127.0.0.1" | "[::1]") => Ok(Place::Local),
        ("tcp" | "http", "") => Err("it names no host".to_owned()),
        ("tcp" | "http", name) => Ok(Place::Remote(name.to_owned())),
        (scheme, _) => Err(format!(
            "{scheme}:// is not spoken here; forward the engine's port and use tcp://"
        )),
    }
}

/// An error of the engine or of the way to it as one lower-case fragment.
pub(crate) fn plain(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        Error::DockerStreamError { error } => error.trim().to_owned(),
        Error::SocketNotFoundError(path) => format!("there is no socket {path}"),
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(error) = cause {
                text = error.to_string();
                cause = error.source();
            }
            text
        }
    }
}

/// Whether the engine says that something is not there.
pub(crate) fn is_missing(error: &Error) -> bool {
    matches!(
        error,
        Error::DockerResponseServerError {
            status_code: 404,
            ..
        }
    )
}

#[cfg(test)]
mod tests {
    use super::{Engine, Place, place};

    #[test]
    fn places_follow_from_the_url() {
        let remote = |name: &str| Ok(Place::Remote(name.to_owned()));
        for (host, expect) in [
            ("unix:///var/run/docker.sock", Ok(Place::Local)),
            ("tcp://localhost:2375", Ok(Place::Local)),
            ("tcp://bench-2:2375", remote("bench-2")),
            ("http://10.0.0.7:2375/", remote("10.0.0.7")),
            ("tcp://[::1]", Ok(Place::Local)),
            ("tcp://:2375", Err("not a URL: empty host".to_owned())),
            ("tcp:///x", Err("it names no host".to_owned())),
        ] {
            assert_eq!(place(host), expect, "{host}");
        }
        assert!(place("ssh://a").unwrap_err().contains("ssh://"));
    }

    #[tokio::test]
    async fn an_engine_that_was_named_is_not_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let error = Engine::find(Some("unix:///no/such.sock"), cache.path()).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "no Docker engine answers (unix:///no/such.sock: there is no socket /no/such.sock)"
        );
    }
}
