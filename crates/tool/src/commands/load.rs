//! `bakeoff load`: the engine alone, on a URL or on an order from standard input.

use std::io::{BufRead as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use bakeoff_model::load::{
    LoadEvent, LoadSpec, Pace, Protocol, ReactorChoice, RequestSpec, StepSpec, Target,
};
use bakeoff_model::parse;

use crate::args::LoadArgs;
use crate::commands::load_summary::Summary;
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
    let mut summary = Summary::new(&spec);
    let mut failure = None;
    let live = !args.json && std::io::IsTerminal::is_terminal(&std::io::stderr());
    bakeoff_load::run(&spec, &mut |_| true, &mut |event| match event {
        LoadEvent::Ready {
            connections,
            reactor,
            streams,
            ..
        } => summary.ready(connections, &reactor, streams),
        LoadEvent::Interval(interval) => {
            summary.add(&interval);
            if live {
                // The live view is a courtesy; a closed terminal must not end the load.
                let _ = write!(
                    std::io::stderr(),
                    "\r\x1b[K{}",
                    summary.live_line(&interval)
                );
            }
        }
        LoadEvent::Failed { message } => failure = Some(message),
        LoadEvent::StepDone { .. } | LoadEvent::Done => {}
    })?;
    if live {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    if let Some(message) = failure {
        bail!("{}: {message}", args.url);
    }
    let text = if args.json {
        summary.json()?
    } else {
        summary.text()
    };
    std::io::stdout().write_all(text.as_bytes())?;
    judge(&conditions, &summary)
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
    if args.connections == 0 {
        bail!("--connections: must be at least 1");
    }
    if args.streams == Some(0) {
        bail!("--streams: must be at least 1");
    }
    Ok(LoadSpec {
        target,
        requests: vec![request(args, path)?],
        steps: vec![StepSpec {
            connections: args.connections,
            duration_ns: duration_ns("--duration", &args.duration)?,
            pace: pace(args)?,
            warm_up: false,
            requests_max: args.requests,
        }],
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
        in_flight: args.streams.unwrap_or(1),
    })
}

fn duration_ns(flag: &str, text: &str) -> anyhow::Result<u64> {
    let duration = parse::duration(text).map_err(|message| anyhow::anyhow!("{flag}: {message}"))?;
    if duration.is_zero() {
        bail!("{flag}: must be longer than nothing");
    }
    Ok(u64::try_from(duration.as_nanos())?)
}

fn reactor(name: &str) -> anyhow::Result<ReactorChoice> {
    Ok(match name {
        "auto" => ReactorChoice::Auto,
        "epoll" => ReactorChoice::Epoll,
        "uring" => ReactorChoice::Uring,
        other => bail!("--reactor: unknown {other}\n  hint: known: auto, epoll, uring"),
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
    let tls = match scheme {
        "http" => false,
        "https" => true,
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
    let protocol = if args.http2 {
        Protocol::Http2
    } else {
        Protocol::Http1
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
        expect: None,
        weight: 1,
    })
}
