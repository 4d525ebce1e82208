//! Settings of exports in the environment, by the specification of OpenTelemetry: the encoding,
//! headers (for authorization), and attributes of the resource. Nothing is sent here.

use std::env;

use anyhow::{Context as _, bail};
use percent_encoding::percent_decode_str;

/// A variable for all signals and the one for metrics, which wins.
struct Variable {
    metrics: &'static str,
    all: &'static str,
}

const PROTOCOL: Variable = Variable {
    metrics: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    all: "OTEL_EXPORTER_OTLP_PROTOCOL",
};
const HEADERS: Variable = Variable {
    metrics: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    all: "OTEL_EXPORTER_OTLP_HEADERS",
};
const RESOURCE: &str = "OTEL_RESOURCE_ATTRIBUTES";

/// How a request is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// The default of the specification, which some receivers take alone.
    Protobuf,
    /// For receivers that are scripts, and for people.
    Json,
}

/// The settings of all exports.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) encoding: Encoding,
    /// Headers of each request.
    pub(super) headers: Vec<(String, String)>,
    /// Attributes of the resource.
    pub(super) resource: Vec<(String, String)>,
}

impl Settings {
    /// Reads the environment.
    pub(super) fn of_environment() -> anyhow::Result<Self> {
        let (name, protocol) = PROTOCOL.read()?;
        let (headers_name, headers) = HEADERS.read()?;
        Ok(Self {
            encoding: encoding(&protocol).context(name)?,
            headers: pairs(&headers).context(headers_name)?,
            resource: pairs(&read(RESOURCE)?).context(RESOURCE)?,
        })
    }
}

impl Variable {
    /// Returns the name and the value of the variable for metrics if it is set, else of the one for
    /// all signals; an absent value is empty.
    fn read(&self) -> anyhow::Result<(&'static str, String)> {
        let own = read(self.metrics)?;
        match own.is_empty() {
            true => Ok((self.all, read(self.all)?)),
            false => Ok((self.metrics, own)),
        }
    }
}

/// A variable without a value is an absent one.
fn read(name: &str) -> anyhow::Result<String> {
    match env::var(name) {
        Ok(value) => Ok(value.trim().to_owned()),
        Err(env::VarError::NotPresent) => Ok(String::new()),
        Err(error) => Err(error).context(name.to_owned()),
    }
}

fn encoding(protocol: &str) -> anyhow::Result<Encoding> {
    match protocol {
        "" | "http/protobuf" => Ok(Encoding::Protobuf),
        "http/json" => Ok(Encoding::Json),
        _ => bail!(
            "--otlp speaks http/protobuf and http/json, not {protocol}; \
             {} changes it for metrics alone",
            PROTOCOL.metrics
        ),
    }
}

/// `key=value,key=value`, with values in percent-encoding.
fn pairs(list: &str) -> anyhow::Result<Vec<(String, String)>> {
    let parts = list.split(',').map(str::trim);
    let pairs = parts.filter(|part| !part.is_empty()).map(pair);
    pairs.collect()
}

fn pair(part: &str) -> anyhow::Result<(String, String)> {
    // The value may be a secret.
    let (key, value) = part.split_once('=').context("a part is not KEY=VALUE")?;
    let value = percent_decode_str(value.trim()).decode_utf8();
    let value = value.context("a value is not UTF-8 in percent-encoding")?;
    Ok((key.trim().to_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Encoding, encoding, pairs};

    #[test]
    fn lists_are_read_as_the_specification_has_them() {
        let check = |list: &str, expect: &[(&str, &str)]| {
            let expect = expect.iter();
            let expect = expect.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            assert_eq!(pairs(list).unwrap(), expect.collect::<Vec<_>>(), "{list}");
        };
        check("", &[]);
        check("team=web", &[("team", "web")]);
        check(
            "Authorization=Basic%20dXNlcjpzZWNyZXQ=, x-tenant = 1 ,",
            &[
                ("Authorization", "Basic dXNlcjpzZWNyZXQ="),
                ("x-tenant", "1"),
            ],
        );
        let error = pairs("secret").unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn protobuf_is_the_default_and_grpc_is_refused() {
        assert_eq!(encoding("").unwrap(), Encoding::Protobuf);
        assert_eq!(encoding("http/json").unwrap(), Encoding::Json);
        assert!(encoding("grpc").is_err());
    }
}
