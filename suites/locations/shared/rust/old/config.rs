//! The environment, read once at the start. Not for anything that changes at run time.

use std::{fmt, net::Ipv6Addr};

use elasticsearch::http::Url;

/// Where the service finds what it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The address of Elasticsearch.
    pub elastic: Url,
    /// Who shares a client of it.
    pub client_scope: ClientScope,
    /// Workers; the framework's own number if not given.
    pub workers: Option<usize>,
}

/// Whether each worker has an Elasticsearch client of its own or all have one together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientScope {
    PerWorker,
    Global,
}

/// Everything that is wrong with the environment, in one sentence.
#[derive(Debug, PartialEq)]
pub struct ConfigError(Vec<String>);

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the environment is incomplete: {}", self.0.join(", "))
    }
}

impl Config {
    /// Reads the process's environment.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::parse(|name| std::env::var(name).ok())
    }

    fn parse(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let required = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| format!("{name} is not set"))
        };
        let host = required("GOOUT_ELASTIC_HOST");
        let port = required("GOOUT_ELASTIC_PORT").and_then(|value| {
            value
                .parse::<u16>()
                .map_err(|_| format!("GOOUT_ELASTIC_PORT is not a port: {value}"))
        });
        let client_scope = client_scope(variable("ELASTIC_CLIENT").as_deref());
        let workers = workers(variable("ACTIX_WORKERS").as_deref());
        match (host, port, client_scope, workers) {
            (Ok(host), Ok(port), Ok(client_scope), Ok(workers)) => Ok(Self {
                elastic: elastic_url(&host, port).map_err(|problem| ConfigError(vec![problem]))?,
                client_scope,
                workers,
            }),
            (host, port, client_scope, workers) => Err(ConfigError(
                [host.err(), port.err(), client_scope.err(), workers.err()]
                    .into_iter()
                    .flatten()
                    .collect(),
            )),
        }
    }
}

fn client_scope(value: Option<&str>) -> Result<ClientScope, String> {
    match value {
        None | Some("" | "per-worker") => Ok(ClientScope::PerWorker),
        Some("global") => Ok(ClientScope::Global),
        Some(other) => Err(format!(
            "ELASTIC_CLIENT is neither per-worker nor global: {other}"
        )),
    }
}

fn workers(value: Option<&str>) -> Result<Option<usize>, String> {
    match value {
        None | Some("") => Ok(None),
        Some(value) => match value.parse() {
            Ok(workers) if workers > 0 => Ok(Some(workers)),
            _ => Err(format!("ACTIX_WORKERS is not a number of workers: {value}")),
        },
    }
}

fn elastic_url(host: &str, port: u16) -> Result<Url, String> {
    let url = match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("http://[{address}]:{port}"),
        Err(_) => format!("http://{host}:{port}"),
    };
    Url::parse(&url).map_err(|_| format!("GOOUT_ELASTIC_HOST is not a host name: {host}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(host: &str, port: &str) -> Result<String, String> {
        let variable = |name: &str| match name {
            "GOOUT_ELASTIC_HOST" => Some(host.to_owned()),
            "GOOUT_ELASTIC_PORT" => Some(port.to_owned()),
            _ => None,
        };
        Config::parse(variable)
            .map(|config| config.elastic.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn address() {
        assert_eq!(parse("es", "9200"), Ok("http://es:9200/".to_owned()));
        assert_eq!(parse("::1", "9200"), Ok("http://[::1]:9200/".to_owned()));
    }

    #[test]
    fn clients() {
        assert_eq!(client_scope(None), Ok(ClientScope::PerWorker));
        assert_eq!(client_scope(Some("global")), Ok(ClientScope::Global));
        assert!(client_scope(Some("shared")).is_err());
    }

    #[test]
    fn workers_are_counted() {
        assert_eq!(workers(None), Ok(None));
        assert_eq!(workers(Some("2")), Ok(Some(2)));
        assert!(workers(Some("0")).is_err());
        assert!(workers(Some("many")).is_err());
    }

    #[test]
    fn every_problem_is_named() {
        let error = Config::parse(|_| None).unwrap_err().to_string();
        assert!(error.contains("GOOUT_ELASTIC_HOST is not set"), "{error}");
        assert!(error.contains("GOOUT_ELASTIC_PORT is not set"), "{error}");
        for (host, port) in [("", "9200"), ("es", ""), ("es", "http"), ("e s", "9200")] {
            assert!(parse(host, port).is_err(), "{host:?} {port:?}");
        }
    }
}
