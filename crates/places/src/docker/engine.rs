//! Finds a Docker engine and says what it can enforce.
//!
//! Podman's compatible socket is an engine like any other: name it in `DOCKER_HOST`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::conditions::Enforcement;
use bollard::Docker;
use bollard::errors::Error;
use url::Url;

use crate::docker::far_host::FarHost;
use crate::docker::ssh::Forwarded;

/// Where an engine of the system listens.
const SYSTEM: &str = "unix:///var/run/docker.sock";

/// A connection to an engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) docker: Docker,
    /// The host of the engine, if it is another one: containers share its network. Containers on
    /// this host have separate addresses that can be reached from here.
    pub(super) far: Option<Arc<FarHost>>,
    host: String,
    /// The address for a client: `host`, or this host's end of the way there.
    address: String,
    _way: Option<Arc<Forwarded>>,
    version: String,
    missing: Vec<&'static str>,
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
    /// None responds. An engine that was named is not replaced by another one.
    pub async fn find(docker_host: Option<&str>, cache: &Path) -> Result<Self, Problem> {
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
        let tried = tried.join("; ");
        let none = Problem::new(format_args!("no Docker engine responds ({tried})"));
        Err(none.with_hint(
            "install Docker and start it, or set DOCKER_HOST to the address of an engine, of \
             Docker or Podman",
        ))
    }

    /// Connects to one engine: `unix://PATH`, `tcp://HOST:PORT`, `http://HOST:PORT` or
    /// `ssh://USER@HOST:PORT`.
    ///
    /// # Errors
    /// It does not respond, in one line.
    pub async fn connect(host: &str) -> Result<Self, Problem> {
        let url = url(host)?;
        let way = match url.scheme() {
            "ssh" => Some(Arc::new(Forwarded::open(&url).await?)),
            _ => None,
        };
        let address = way.as_ref().map_or(host.to_owned(), |way| way.address());
        let docker = Docker::connect_with_host(&address).map_err(plain)?;
        let docker = docker.negotiate_version().await.map_err(plain)?;
        let info = docker.info().await.map_err(plain)?;
        let abilities = [
            (info.cpu_cfs_quota, "the CPU quota"),
            (info.cpu_set, "the CPU set"),
            (info.memory_limit, "the memory limit"),
            // Without swap, no limit on it is needed.
            (
                info.swap_limit.map(|able| able || !has_swap(is_far(&url))),
                "a memory limit without swap",
            ),
        ];
        let missing = abilities
            .iter()
            .filter(|(able, _)| *able == Some(false))
            .map(|(_, name)| *name);
        let far = match is_far(&url) {
            true => Some(Arc::new(FarHost::of(&url, &info).await?)),
            false => None,
        };
        Ok(Self {
            far,
            host: host.to_owned(),
            address,
            _way: way,
            version: info.server_version.unwrap_or_default(),
            missing: missing.collect(),
            docker,
        })
    }

    /// Returns the engine over separate connections.
    pub(crate) fn afresh(&self) -> Option<Self> {
        let docker = Docker::connect_with_host(&self.address).ok()?;
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

    /// Returns the host of the engine, if it is another one.
    #[must_use]
    pub fn far_host(&self) -> Option<&FarHost> {
        self.far.as_deref()
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
fn has_swap(is_far: bool) -> bool {
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    is_far || swaps.lines().count() > 1
}

/// Whether the value of `DOCKER_HOST` names an engine of another host. One that is reached by SSH
/// is taken for one, wherever it is.
#[must_use]
pub fn is_elsewhere(docker_host: &str) -> bool {
    url(docker_host).is_ok_and(|url| is_far(&url))
}

fn is_far(url: &Url) -> bool {
    match (url.scheme(), url.host_str().unwrap_or_default()) {
        ("unix", _) => false,
        ("ssh", _) => true,
        (_, host) => !["localhost", "127.0.0.1", "[::1]"].contains(&host),
    }
}

/// The address of an engine.
fn url(host: &str) -> Result<Url, Problem> {
    let url = Url::parse(host).map_err(|error| format!("not a URL: {error}"))?;
    match (url.scheme(), url.host_str().unwrap_or_default()) {
        ("unix", _) => Ok(url),
        ("tcp" | "http" | "ssh", "") => Err("it names no host".into()),
        ("tcp" | "http" | "ssh", _) => Ok(url),
        (scheme, _) => Err(format!(
            "{scheme}:// is not spoken here; forward the engine's port and use tcp://"
        )
        .into()),
    }
}

/// An error of the engine or of the way to it as one lower-case fragment.
pub(crate) fn plain(error: Error) -> Problem {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().into(),
        Error::DockerStreamError { error } => error.trim().into(),
        Error::SocketNotFoundError(path) => format!("there is no socket {path}").into(),
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(&other);
            while let Some(error) = cause {
                text = error.to_string();
                cause = error.source();
            }
            text.into()
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
    use super::{Engine, is_elsewhere, url};

    #[test]
    fn places_follow_from_the_url() {
        for (host, expect) in [
            ("unix:///var/run/docker.sock", false),
            ("tcp://localhost:2375", false),
            ("tcp://bench-2:2375", true),
            ("http://10.0.0.7:2375/", true),
            ("tcp://[::1]", false),
            ("ssh://me@bench-2", true),
        ] {
            assert_eq!(is_elsewhere(host), expect, "{host}");
        }
        let refused = |host: &str| url(host).unwrap_err();
        assert_eq!(refused("tcp://:2375"), "not a URL: empty host".into());
        assert_eq!(refused("tcp:///x"), "it names no host".into());
        assert!(refused("npipe://a").message().contains("npipe://"));
    }

    #[tokio::test]
    async fn an_engine_that_was_named_is_not_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let error = Engine::find(Some("unix:///no/such.sock"), cache.path()).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "no Docker engine responds (unix:///no/such.sock: there is no socket /no/such.sock)"
        );
    }
}
