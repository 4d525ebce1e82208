//! `bakeoff load`: the engine alone, on a URL or on an order from standard input.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::load::{
    LoadEvent, LoadSpec, Pace, Protocol, ReactorChoice, RequestSpec, StepSpec, Target, TimeUnit,
    WebSocket,
};
use bakeoff_model::parse;

use super::load_summary::{Summary, as_f64};
use super::wrk::{self, WrkFigures};
use super::{load_feed, load_page};
use crate::args::{Engine, LoadArgs};
use crate::condition::Condition;
use crate::exit;

/// Slices of a step started by hand: fine enough for a live view.
const SLICE: Duration = Duration::from_secs(1);

/// Runs the command.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<u8> {
    if args.url == "-" {
        return obey();
    }
    let conditions = args
        .fail_if
        .iter()
        .map(|text| text.parse::<Condition>().map_err(anyhow::Error::msg))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let spec = spec(args)?;
    if args.engine == Engine::Wrk {
        wrk::check(&spec)?;
    }
    let mut printer = Printer {
        args,
        spec: &spec,
        summary: Summary::new(&spec),
        live: !args.json && std::io::IsTerminal::is_terminal(&std::io::stderr()),
        conditions: &conditions,
        status: exit::DONE,
        steps: Vec::new(),
    };
    let mut failure = None;
    bakeoff_load::run(&spec, &mut |_| true, &mut |event| {
        if failure.is_none() {
            failure = printer.observe(event).err();
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    printer.compare()?;
    Ok(printer.status)
}

/// Prints each step when it is over.
struct Printer<'a> {
    args: &'a LoadArgs,
    spec: &'a LoadSpec,
    summary: Summary,
    live: bool,
    conditions: &'a [Condition],
    status: u8,
    /// The steps that are over.
    steps: Vec<Summary>,
}

impl Printer<'_> {
    fn observe(&mut self, event: LoadEvent) -> anyhow::Result<()> {
        match event {
            LoadEvent::Ready {
                connections,
                reactor,
                streams,
                ..
            } => self.summary.ready(connections, &reactor, streams),
            LoadEvent::Interval(interval) => {
                self.summary.add(&interval);
                if self.live {
                    let line = self.summary.live_line(&interval);
                    // The live view is a courtesy; a closed terminal must not end the load.
                    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
                }
            }
            LoadEvent::StepDone { step } => self.step_done(step)?,
            LoadEvent::Failed { message } => bail!("{}: {message}", self.args.url),
            LoadEvent::Done => {}
        }
        Ok(())
    }

    fn step_done(&mut self, step: usize) -> anyhow::Result<()> {
        if self.live {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        let summary = std::mem::replace(&mut self.summary, Summary::new(self.spec));
        let mut output = std::io::stdout().lock();
        match (self.args.json, self.args.engine) {
            (true, Engine::Bakeoff) => writeln!(output, "{}", summary.json())?,
            (true, Engine::Wrk) => {}
            (false, _) => {
                let gap = if step > 0 { "\n" } else { "" };
                write!(output, "{gap}{}", load_page::page(&summary))?;
            }
        }
        self.status = self.status.max(judge(self.conditions, &summary)?);
        self.steps.push(summary);
        Ok(())
    }

    /// Lets the other engine do the same, now that ours has closed its connections.
    fn compare(&self) -> anyhow::Result<()> {
        if self.args.engine == Engine::Bakeoff {
            return Ok(());
        }
        let mut output = std::io::stdout().lock();
        if !self.args.json {
            writeln!(output, "\n{}", side_by_side_head())?;
        }
        for (step, own) in self.spec.steps.iter().zip(&self.steps) {
            let other = wrk::run(self.spec, step)?;
            if self.args.json {
                let mut object = own.json();
                object["wrk"] = other.json();
                writeln!(output, "{object}")?;
            } else {
                write!(output, "{}", side_by_side(step.connections, own, &other))?;
            }
        }
        let stamped = |own: &Summary| own.reactor == "epoll-stamped";
        if !self.args.json && self.steps.iter().any(stamped) {
            writeln!(output, "{STAMPED_NOTE}")?;
        }
        Ok(())
    }
}

/// Why the times below a millisecond differ.
const STAMPED_NOTE: &str = "\
note: wrk's times end when it has read the answer, ours when the answer arrives;
      --reactor epoll does as wrk does";

fn side_by_side_head() -> String {
    format!(
        "{:>11}  {:<8} {:>12} {:>10} {:>10} {:>10} {:>7}",
        "connections", "engine", "requests/s", "p50 ms", "p90 ms", "p99 ms", "errors"
    )
}

/// Both engines' figures of a step, one below the other.
fn side_by_side(connections: u32, own: &Summary, other: &WrkFigures) -> String {
    let row = |engine: &str, rate: f64, times_ms: [f64; 3], errors: u64| {
        let [p50, p90, p99] = times_ms;
        format!(
            "{connections:>11}  {engine:<8} {rate:>12.1} {p50:>10.3} {p90:>10.3} {p99:>10.3} \
             {errors:>7}\n"
        )
    };
    let ms = |share| own.service_time.quantile_ns(share).map_or(0.0, as_f64) / 1e6;
    let own_errors = own.errors.values().sum();
    let other_ms = [other.p50_us, other.p90_us, other.p99_us].map(|us| us / 1e3);
    let other_errors = other.socket_errors + other.bad_statuses;
    row(
        "bakeoff",
        own.requests_per_s(),
        [ms(0.5), ms(0.9), ms(0.99)],
        own_errors,
    ) + &row("wrk", other.requests_per_s, other_ms, other_errors)
}

/// The status by the user's own conditions.
fn judge(conditions: &[Condition], summary: &Summary) -> anyhow::Result<u8> {
    let mut status = exit::DONE;
    for condition in conditions {
        if let Some(found) = condition.holds(summary) {
            writeln!(std::io::stderr(), "failed: {condition}: {found}")?;
            status = exit::CONDITION;
        }
    }
    Ok(status)
}

/// The loader's side of a session: one order as a line of JSON in, events as JSON Lines out, and
/// one line in before each window when the order says so.
fn obey() -> anyhow::Result<u8> {
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    input
        .read_line(&mut line)
        .context("cannot read the load order")?;
    let spec: LoadSpec = serde_json::from_str(&line)
        .context("standard input: the first line is not a load order as JSON")?;
    let mut output = std::io::stdout().lock();
    let mut gone = false;
    let mut write = |event: &LoadEvent| -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
        Ok(())
    };
    let result = bakeoff_load::run(
        &spec,
        &mut |_| input.read_line(&mut line).is_ok_and(|bytes| bytes > 0),
        &mut |event| {
            if write(&event).is_err() && !gone {
                gone = true;
                // Nobody listens any more, so nobody wants the load to go on. The engine has no
                // other way to be stopped in the middle of a window.
                #[expect(clippy::disallowed_methods, reason = "the session is gone")]
                std::process::exit(i32::from(exit::ERROR));
            }
        },
    );
    if let Err(error) = result {
        write(&LoadEvent::Failed {
            message: error.to_string(),
        })?;
        return Ok(exit::ERROR);
    }
    Ok(exit::DONE)
}

/// The order that the flags describe.
fn spec(args: &LoadArgs) -> anyhow::Result<LoadSpec> {
    let timeout = duration_ns("--timeout", &args.timeout)?;
    let (target, path) = target(args)?;
    if args.connections.contains(&0) {
        bail!("--connections: must be at least 1");
    }
    let in_flight = args.streams.or(args.pipeline).unwrap_or(1);
    if in_flight == 0 {
        bail!("--streams and --pipeline: must be at least 1");
    }
    let (duration_ns, pace) = (duration_ns("--duration", &args.duration)?, pace(args)?);
    let steps = args.connections.iter().map(|connections| StepSpec {
        connections: *connections,
        duration_ns,
        pace,
        warm_up: false,
        requests_max: args.requests,
    });
    Ok(LoadSpec {
        target,
        requests: vec![request(args, path)?],
        scenario: load_feed::scenario(&args.feed)?,
        steps: steps.collect(),
        threads: args.threads,
        cores: args.cores.clone(),
        timeout_connect_ns: timeout,
        timeout_answer_ns: timeout,
        slice_ns: u64::try_from(SLICE.as_nanos())?,
        seed: args.seed,
        check_body_every: 0,
        stepwise: false,
        reactor: reactor(&args.reactor)?,
        keep_alive_off: args.no_keep_alive,
        in_flight,
    })
}

fn duration_ns(flag: &str, text: &str) -> anyhow::Result<u64> {
    let duration = parse::duration(text).map_err(|message| anyhow::anyhow!("{flag}: {message}"))?;
    if duration.is_zero() {
        bail!("{flag}: must be longer than nothing");
    }
    Ok(u64::try_from(duration.as_nanos())?)
}

fn time_unit(name: Option<&str>) -> anyhow::Result<Option<TimeUnit>> {
    Ok(match name {
        None => None,
        Some("ms") => Some(TimeUnit::Milliseconds),
        Some("us") => Some(TimeUnit::Microseconds),
        Some("ns") => Some(TimeUnit::Nanoseconds),
        Some(other) => bail!("--timestamp: unknown {other}\n  hint: known: ms, us, ns"),
    })
}

fn reactor(name: &str) -> anyhow::Result<ReactorChoice> {
    Ok(match name {
        "auto" => ReactorChoice::Auto,
        "epoll-stamped" => ReactorChoice::EpollStamped,
        "epoll" => ReactorChoice::Epoll,
        "uring" => ReactorChoice::Uring,
        other => {
            bail!("--reactor: unknown {other}\n  hint: known: auto, epoll-stamped, epoll, uring")
        }
    })
}

fn pace(args: &LoadArgs) -> anyhow::Result<Pace> {
    let Some(rate_per_s) = args.rate else {
        return Ok(Pace::Closed);
    };
    if !(rate_per_s.is_finite() && rate_per_s > 0.0) {
        bail!("--rate: must be a positive number of requests per second");
    }
    Ok(if args.poisson {
        Pace::Poisson { rate_per_s }
    } else {
        Pace::Constant { rate_per_s }
    })
}

/// Splits the URL into where to connect and what to ask.
fn target(args: &LoadArgs) -> anyhow::Result<(Target, String)> {
    let hint = "a URL looks like http://127.0.0.1:8080/path";
    let (scheme, rest) = args.url.split_once("://").unwrap_or(("http", &args.url));
    let (tls, websocket) = match scheme {
        "http" => (false, false),
        "https" => (true, false),
        "ws" => (false, true),
        "wss" => (true, true),
        other => bail!("{}: unknown scheme {other}\n  hint: {hint}", args.url),
    };
    let split = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(split);
    if authority.is_empty() {
        bail!("{}: no host in it\n  hint: {hint}", args.url);
    }
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let default = if tls { 443 } else { 80 };
    let address = if has_port {
        authority.to_owned()
    } else {
        format!("{authority}:{default}")
    };
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let protocol = match (args.http2, websocket) {
        (true, true) => bail!(
            "{}: WebSocket is spoken over HTTP/1.1, not --http2",
            args.url
        ),
        (true, false) => Protocol::Http2,
        (false, true) => Protocol::Websocket(WebSocket {
            messages: args.messages,
            timestamp: time_unit(args.timestamp.as_deref())?,
        }),
        (false, false) if args.messages > 0 || args.timestamp.is_some() => {
            bail!("--messages and --timestamp: need a URL that begins with ws:// or wss://")
        }
        (false, false) => Protocol::Http1,
    };
    let target = Target {
        address,
        host: Some(authority.to_owned()),
        tls,
        insecure: args.insecure,
        unix_socket: args.unix_socket.clone(),
        protocol,
    };
    Ok((target, path))
}

fn request(args: &LoadArgs, path: String) -> anyhow::Result<RequestSpec> {
    let mut headers = Vec::new();
    for header in &args.headers {
        let Some((name, value)) = header.split_once(':') else {
            bail!("--header {header}: no colon in it\n  hint: write it as 'Name: value'");
        };
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let body = match args.body.strip_prefix('@') {
        Some(file) => std::fs::read_to_string(file).with_context(|| format!("--body {file}"))?,
        None => args.body.clone(),
    };
    Ok(RequestSpec {
        method: args.method.to_uppercase(),
        path,
        headers,
        body,
        weight: 1,
        ..RequestSpec::default()
    })
}
