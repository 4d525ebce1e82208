//! The environment, read once at the start. Not for anything that changes at run time.

use std::{fmt, net::Ipv6Addr};

use elasticsearch::http::Url;

/// Where the service finds what it needs.
#[derive(Debug, PartialEq)]
pub struct Config {
    /// The address of Elasticsearch.
    pub elastic: Url,
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
        match (host, port) {
            (Ok(host), Ok(port)) => Ok(Self {
                elastic: elastic_url(&host, port).map_err(|problem| ConfigError(vec![problem]))?,
            }),
            (host, port) => Err(ConfigError(
                [host.err(), port.err()].into_iter().flatten().collect(),
            )),
        }
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
    fn every_problem_is_named() {
        let error = Config::parse(|_| None).unwrap_err().to_string();
        assert!(error.contains("GOOUT_ELASTIC_HOST is not set"), "{error}");
        assert!(error.contains("GOOUT_ELASTIC_PORT is not set"), "{error}");
        for (host, port) in [("", "9200"), ("es", ""), ("es", "http"), ("e s", "9200")] {
            assert!(parse(host, port).is_err(), "{host:?} {port:?}");
        }
    }
}
