//! `bakeoff load`: the engine alone, on a URL or on an order from standard input.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_load::Stop;
use bakeoff_model::load::{
    LoadEvent, LoadSpec, Pace, Protocol, ReactorChoice, RequestSpec, StepSpec, Target, TimeUnit,
    WebSocket,
};
use bakeoff_model::parse;
use serde_json::json;

use super::load_summary::{Summary, as_f64};
use super::wrk::{self, WrkFigures};
use super::{load_feed, load_page, load_url};
use crate::args::{Engine, LoadArgs};
use crate::condition::Condition;
use crate::exit;

/// Slices of a step started by hand: fine enough for a live view.
const SLICE: Duration = Duration::from_secs(1);

/// A step without `--duration` and `--requests`.
const DURATION: Duration = Duration::from_secs(10);

/// A step that ends with its last request: the longest that the engine takes.
const DURATION_LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

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
    let stop = Stop::default();
    stop_on_signal(&stop);
    let mut failure = None;
    bakeoff_load::run(&spec, &stop, &mut |_| true, &mut |event| {
        if failure.is_none()
            && let Err(error) = printer.observe(event)
        {
            failure = Some(error);
            stop.stop();
        }
    })?;
    match failure {
        // A reader that went away must not hide what failed.
        Some(error) if exit::is_broken_pipe(&error) && printer.status != exit::DONE => {
            return Ok(printer.status);
        }
        Some(error) => return Err(error),
        None => {}
    }
    if stop.is_stopped() {
        let cut = match printer.steps.last() {
            Some(step) => format!("the last step ended after {:.1} s", step.duration_s()),
            None => "nothing was measured".to_owned(),
        };
        writeln!(std::io::stderr(), "interrupted: {cut}")?;
        return Ok(exit::INTERRUPTED);
    }
    let compared = printer.compare(&stop);
    if stop.is_stopped() {
        writeln!(std::io::stderr(), "interrupted: wrk did not do all of it")?;
        return Ok(exit::INTERRUPTED);
    }
    compared?;
    Ok(printer.status)
}

/// Lets the first signal end the load, so that what was measured is shown, and the second one end
/// the program.
fn stop_on_signal(stop: &Stop) {
    let stop = stop.clone();
    let wait = async move {
        super::interrupted().await;
        stop.stop();
        super::interrupted().await;
        #[expect(clippy::disallowed_methods, reason = "the user does not want to wait")]
        std::process::exit(i32::from(exit::INTERRUPTED));
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        // Without it a signal ends the program at once, as it does by default.
        if let Ok(runtime) = runtime {
            runtime.block_on(wait);
        }
    });
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
        let written = match (self.args.json, self.args.engine) {
            (true, Engine::Bakeoff) => writeln!(output, "{}", summary.json()),
            (true, Engine::Wrk) => Ok(()),
            (false, _) => {
                let gap = if step > 0 { "\n" } else { "" };
                write!(output, "{gap}{}", load_page::page(&summary))
            }
        };
        if summary.requests == 0 {
            self.status = self.status.max(exit::CHECK_FAILED);
        }
        self.status = self.status.max(judge(self.conditions, &summary)?);
        self.steps.push(summary);
        Ok(written?)
    }

    /// Lets the other engine do the same, now that ours has closed its connections.
    fn compare(&self, stop: &Stop) -> anyhow::Result<()> {
        if self.args.engine == Engine::Bakeoff {
            return Ok(());
        }
        let mut output = std::io::stdout().lock();
        if !self.args.json {
            writeln!(output, "\n{}", side_by_side_head())?;
        }
        // What we measured is shown whether or not wrk could.
        let mut failure = None;
        for (step, own) in self.spec.steps.iter().zip(&self.steps) {
            let other = if stop.is_stopped() {
                Err(anyhow::anyhow!("interrupted"))
            } else {
                wrk::run(self.spec, step)
            };
            if self.args.json {
                let mut object = own.json();
                object["wrk"] = json!(other.as_ref().ok().map(WrkFigures::json));
                writeln!(output, "{object}")?;
            } else if let Ok(other) = &other {
                write!(output, "{}", side_by_side(step.connections, own, other))?;
            }
            failure = failure.or(other.err());
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let stamped = |own: &Summary| own.reactor.ends_with("-stamped");
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
    let stop = Stop::default();
    let mut write = |event: &LoadEvent| -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        output.write_all(&line)?;
        output.flush()?;
        Ok(())
    };
    let result = bakeoff_load::run(
        &spec,
        &stop,
        &mut |_| input.read_line(&mut line).is_ok_and(|bytes| bytes > 0),
        &mut |event| {
            if write(&event).is_err() {
                // Nobody listens any more, so nobody wants the load to go on.
                stop.stop();
            }
        },
    );
    if stop.is_stopped() {
        return Ok(exit::ERROR);
    }
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
    let (duration_ns, pace) = (step_duration_ns(args)?, pace(args)?);
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

/// How long each step is at most.
fn step_duration_ns(args: &LoadArgs) -> anyhow::Result<u64> {
    match (&args.duration, args.requests) {
        (Some(text), _) => duration_ns("--duration", text),
        (None, 0) => Ok(u64::try_from(DURATION.as_nanos())?),
        (None, _) => Ok(u64::try_from(DURATION_LONGEST.as_nanos())?),
    }
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
        "uring-stamped" => ReactorChoice::UringStamped,
        "uring" => ReactorChoice::Uring,
        other => {
            bail!(
                "--reactor: unknown {other}\n  \
                 hint: known: auto, uring-stamped, epoll-stamped, uring, epoll"
            )
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

/// Where to connect, and what to ask there.
fn target(args: &LoadArgs) -> anyhow::Result<(Target, String)> {
    let url = load_url::read(&args.url)?;
    let protocol = match (args.http2, url.websocket) {
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
        address: url.address,
        host: Some(url.host),
        tls: url.tls,
        insecure: args.insecure,
        unix_socket: args.unix_socket.clone(),
        protocol,
    };
    Ok((target, url.path))
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
        Some(file) => std::fs::read(file).with_context(|| format!("--body {file}"))?,
        None => args.body.clone().into_bytes(),
    };
    Ok(RequestSpec {
        method: args.method.to_uppercase(),
        path,
        headers,
        body: body.into(),
        weight: 1,
        ..RequestSpec::default()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::spec;
    use crate::args::{Cli, Command};

    #[test]
    fn requests_have_the_time_that_they_need() {
        let check = |flags: &str, expect_s: u64| {
            let line = format!("bakeoff load http://h/ {flags}");
            let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
            let Command::Load(args) = cli.command else {
                unreachable!("the line says load");
            };
            let step = &spec(&args).unwrap().steps[0];
            assert_eq!(step.duration_ns, expect_s * 1_000_000_000, "{flags}");
        };
        check("", 10);
        check("-d 3s", 3);
        check("-n 5 -d 3s", 3);
        check("-n 5", 7 * 24 * 3600);
        check("-n 0", 10);
    }
}
