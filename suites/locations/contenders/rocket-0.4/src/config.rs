//! The environment, read once at the start. Not for anything that changes at run time.

use std::{fmt, net::Ipv6Addr};

use elasticsearch::http::Url;

/// Where the service finds what it needs, and how it serves.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The address of Elasticsearch.
    pub elastic: Url,
    /// Who shares a runtime for the asynchronous client.
    pub runtime_scope: RuntimeScope,
    /// Threads that serve, a connection each; `None` leaves it to Rocket.
    pub workers: Option<u16>,
    /// How long an idle connection is kept, in seconds; 0 closes each after its first answer.
    pub keep_alive: u32,
}

/// What an asynchronous runtime is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuntimeScope {
    Global,
    PerWorker,
    PerRequest,
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
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut problems = Problems::default();
        let host = problems.sift(set("GOOUT_ELASTIC_HOST").ok_or("GOOUT_ELASTIC_HOST is not set"));
        let port = problems.sift(elastic_port(set("GOOUT_ELASTIC_PORT")));
        let runtime_scope = problems.sift(runtime_scope(set("ASYNC_RUNTIME").as_deref()));
        let workers = problems.sift(workers(set("ROCKET_WORKERS").as_deref()));
        let keep_alive = problems.sift(keep_alive(set("ROCKET_KEEP_ALIVE").as_deref()));
        let elastic = host
            .zip(port)
            .and_then(|(host, port)| problems.sift(elastic_url(&host, port)));
        match (elastic, runtime_scope, workers, keep_alive) {
            (Some(elastic), Some(runtime_scope), Some(workers), Some(keep_alive)) => Ok(Self {
                elastic,
                runtime_scope,
                workers,
                keep_alive,
            }),
            _ => Err(ConfigError(problems.0)),
        }
    }
}

#[derive(Default)]
struct Problems(Vec<String>);

impl Problems {
    /// Keeps what is wrong and gives what is right.
    fn sift<T>(&mut self, result: Result<T, impl Into<String>>) -> Option<T> {
        result.map_err(|problem| self.0.push(problem.into())).ok()
    }
}

fn elastic_port(value: Option<String>) -> Result<u16, String> {
    let value = value.ok_or("GOOUT_ELASTIC_PORT is not set")?;
    value
        .parse()
        .map_err(|_| format!("GOOUT_ELASTIC_PORT is not a port: {value}"))
}

fn runtime_scope(value: Option<&str>) -> Result<RuntimeScope, String> {
    match value {
        Some("global") => Ok(RuntimeScope::Global),
        None | Some("per-worker") => Ok(RuntimeScope::PerWorker),
        Some("per-request") => Ok(RuntimeScope::PerRequest),
        Some(other) => Err(format!(
            "ASYNC_RUNTIME is neither global nor per-worker nor per-request: {other}"
        )),
    }
}

fn workers(value: Option<&str>) -> Result<Option<u16>, String> {
    match value.map(str::parse) {
        None => Ok(None),
        Some(Ok(workers)) if workers > 0 => Ok(Some(workers)),
        Some(_) => Err("ROCKET_WORKERS is not a positive number".to_owned()),
    }
}

fn keep_alive(value: Option<&str>) -> Result<u32, String> {
    value
        .unwrap_or("0")
        .parse()
        .map_err(|_| "ROCKET_KEEP_ALIVE is not a number of seconds".to_owned())
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
    fn ways_to_serve() {
        assert_eq!(runtime_scope(None), Ok(RuntimeScope::PerWorker));
        assert_eq!(runtime_scope(Some("global")), Ok(RuntimeScope::Global));
        assert!(runtime_scope(Some("per-day")).is_err());
        assert_eq!(workers(None), Ok(None));
        assert_eq!(workers(Some("16")), Ok(Some(16)));
        assert!(workers(Some("0")).is_err());
        assert_eq!(keep_alive(None), Ok(0));
        assert_eq!(keep_alive(Some("5")), Ok(5));
        assert!(keep_alive(Some("-5")).is_err());
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
