//! The installed wrk as a second engine: the same step, so that the numbers of the built-in engine
//! can be checked against a tool that people know. wrk prints only some quantiles, of service
//! times of closed load.

use std::io::Write as _;
use std::process::Command;

use anyhow::{Context as _, bail};
use bakeoff_model::load::{LoadSpec, Pace, Protocol, StepSpec};
use bakeoff_session::hint::hinted;
use bakeoff_session::selection::host_cores;
use serde_json::{Value, json};

const SECOND_NS: u64 = 1_000_000_000;

/// What wrk printed about one step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrkFigures {
    pub(crate) requests: u64,
    pub(crate) duration_s: f64,
    pub(crate) requests_per_s: f64,
    /// Sockets that could not be connected, read or written, and time-outs.
    pub(crate) socket_errors: u64,
    /// Responses beyond 2xx and 3xx; wrk counts them as requests too.
    pub(crate) bad_statuses: u64,
    pub(crate) p50_us: f64,
    pub(crate) p75_us: f64,
    pub(crate) p90_us: f64,
    pub(crate) p99_us: f64,
}

impl WrkFigures {
    /// The documented JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({
            "requests": self.requests,
            "duration_s": self.duration_s,
            "requests_per_s": self.requests_per_s,
            "socket_errors": self.socket_errors,
            "bad_statuses": self.bad_statuses,
            "service_time_us": {
                "p50": self.p50_us,
                "p75": self.p75_us,
                "p90": self.p90_us,
                "p99": self.p99_us,
            },
        })
    }
}

/// Refuses load specs that wrk cannot carry out.
pub(crate) fn check(spec: &LoadSpec) -> anyhow::Result<()> {
    let cannot = |what: &str| bail!("--engine wrk: wrk cannot do {what}");
    if spec.scenario.is_some() {
        return cannot("--feed");
    }
    if spec.target.unix_socket.is_some() {
        return cannot("--unix-socket");
    }
    match spec.target.protocol {
        Protocol::Http1 if spec.in_flight > 1 => return cannot("--pipeline"),
        Protocol::Http1 => {}
        Protocol::Http2 => return cannot("--http2"),
        Protocol::Websocket(_) => return cannot("WebSocket"),
    }
    if spec.target.tls && !spec.target.insecure {
        return cannot("TLS with a check of the certificate; add --insecure");
    }
    for step in &spec.steps {
        if step.pace != Pace::Closed {
            return cannot("--rate");
        }
        if step.requests_max > 0 {
            return cannot("--requests");
        }
        if step.duration_ns % SECOND_NS != 0 {
            return Err(hinted(
                "--engine wrk: wrk measures whole seconds",
                "for example --duration 10s",
            ));
        }
    }
    Ok(())
}

/// Lets wrk carry out one step. Blocks.
pub(crate) fn run(spec: &LoadSpec, step: &StepSpec) -> anyhow::Result<WrkFigures> {
    let request = spec.requests.first().context("there is no request")?;
    // wrk opens it by its descriptor: a file without a name is never left behind.
    let mut script = tempfile::tempfile()?;
    writeln!(script, "wrk.method = {}", lua(request.method.as_bytes()))?;
    if !request.body.is_empty() {
        writeln!(script, "wrk.body = {}", lua(request.body.as_bytes()))?;
    }
    for (name, value) in &request.headers {
        writeln!(
            script,
            "wrk.headers[{}] = {}",
            lua(name.as_bytes()),
            lua(value.as_bytes())
        )?;
    }
    if spec.keep_alive_off {
        writeln!(script, "wrk.headers[\"Connection\"] = \"close\"")?;
    }
    let threads = match spec.threads {
        0 => host_cores(),
        threads => threads,
    };
    let seconds = step.duration_ns / SECOND_NS;
    let timeout = spec.timeout_answer_ns.div_ceil(SECOND_NS);
    let scheme = if spec.target.tls { "https" } else { "http" };
    let host = spec.target.host.as_ref().unwrap_or(&spec.target.address);
    let mut command = match spec.cores.as_slice() {
        [] => Command::new("wrk"),
        cores => {
            let list: Vec<String> = cores.iter().map(usize::to_string).collect();
            let mut command = Command::new("taskset");
            command.args(["-c", &list.join(","), "wrk"]);
            command
        }
    };
    command
        .arg("--latency")
        .arg(format!("-t{}", threads.min(step.connections as usize)))
        .arg(format!("-c{}", step.connections))
        .arg(format!("-d{seconds}s"))
        .arg(format!("--timeout={timeout}s"))
        .args(["-s", "/dev/stdin"])
        .arg(format!("{scheme}://{host}{}", request.path))
        .stdin(script);
    let output = command.output().map_err(|error| {
        hinted(
            format_args!("cannot start wrk: {error}"),
            "install it, for example `apt install wrk`",
        )
    })?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("wrk failed ({}): {}{text}", output.status, why.trim());
    }
    read(&text).with_context(|| format!("cannot read what wrk printed:\n{text}"))
}

/// Bytes as Lua writes them, whatever they are.
fn lua(bytes: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() {
            quoted.push(char::from(byte));
        } else {
            quoted.push_str(&format!("\\{byte:03}"));
        }
    }
    quoted + "\""
}

/// Reads wrk's page; `None` when a figure is not where it should be.
fn read(text: &str) -> Option<WrkFigures> {
    let after = |label: &str| {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(label))?;
        Some(line.trim_start()[label.len()..].trim())
    };
    let quantile = |label: &str| time_us(after(label)?);
    let total = text.lines().find(|line| line.contains(" requests in "))?;
    let mut words = total.split_whitespace();
    let requests = words.next()?.parse().ok()?;
    let duration_us = time_us(words.nth(2)?.trim_end_matches(','))?;
    let count = |text: &str| {
        let numbers = text.split(|c: char| !c.is_ascii_digit());
        numbers
            .filter_map(|number| number.parse::<u64>().ok())
            .sum()
    };
    Some(WrkFigures {
        requests,
        duration_s: duration_us / 1e6,
        requests_per_s: after("Requests/sec:")?.parse().ok()?,
        socket_errors: after("Socket errors:").map_or(0, count),
        bad_statuses: after("Non-2xx or 3xx responses:").map_or(0, count),
        p50_us: quantile("50%")?,
        p75_us: quantile("75%")?,
        p90_us: quantile("90%")?,
        p99_us: quantile("99%")?,
    })
}

/// `1.23ms` and the like in microseconds.
fn time_us(text: &str) -> Option<f64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 = text[..split].parse().ok()?;
    Some(match &text[split..] {
        "us" => number,
        "ms" => number * 1e3,
        "s" => number * 1e6,
        "m" => number * 60e6,
        "h" => number * 3600e6,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{lua, read};

    const PAGE: &str = "\
Running 2s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.21ms  301.22us   5.02ms   81.03%
    Req/Sec    53.01k     1.20k   55.10k    70.00%
  Latency Distribution
     50%    1.19ms
     75%    1.30ms
     90%  980.00us
     99%    2.05s
  105432 requests in 2.01s, 14.48MB read
  Socket errors: connect 1, read 2, write 0, timeout 3
  Non-2xx or 3xx responses: 17
Requests/sec:  52454.11
Transfer/sec:      7.20MB
";

    #[test]
    fn pages_of_wrk_are_read() {
        let figures = read(PAGE).unwrap();
        assert_eq!((figures.requests, figures.socket_errors), (105_432, 6));
        assert_eq!(figures.bad_statuses, 17);
        let found = [
            figures.p50_us,
            figures.p90_us,
            figures.p99_us,
            figures.requests_per_s,
        ];
        for (found, expected) in found.into_iter().zip([1190.0, 980.0, 2.05e6, 52454.11]) {
            assert!((found - expected).abs() < 1e-6, "{found}");
        }
        assert!((figures.duration_s - 2.01).abs() < 1e-9);
        assert_eq!(read("unable to connect"), None);
        assert_eq!(lua(b"a\"\n\xff"), "\"a\\034\\010\\255\"");
    }
}
