//! The load spec that the flags of `bakeoff load` describe.

use std::time::Duration;

use anyhow::bail;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::load::{LoadSpec, Pace, Protocol, RequestSpec, StepSpec, Target, WebSocket};
use bakeoff_model::request::grpc;

use super::args::LoadArgs;
use super::{captured, url};
use crate::commands::linux::proto;
use crate::values::{Header, Rate, Time, feed};

/// Slices of a step started by hand: fine enough for a live view.
const SLICE: Duration = Duration::from_secs(1);

/// A step without `--duration` and `--requests`.
const DURATION: Duration = Duration::from_secs(10);

/// A step that ends with its last request: the longest that the engine takes.
const DURATION_LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The load spec that the flags describe.
pub(crate) fn spec(args: &LoadArgs) -> anyhow::Result<LoadSpec> {
    let spec = typed(args)?;
    match &args.captured {
        Some(folder) => captured::played(args, spec, folder),
        None => Ok(spec),
    }
}

/// The load spec without a capture.
fn typed(args: &LoadArgs) -> anyhow::Result<LoadSpec> {
    let timeout = args.timeout.as_ns();
    let (target, path) = target(args)?;
    let in_flight = args.streams.or(args.pipeline).unwrap_or(1);
    let (duration_ns, pace) = (step_duration(args).as_ns(), pace(args));
    let request = request(args, path)?;
    let grpc = proto::read(&args.proto)?;
    feed::check(&args.feed, &request, &args.body)?;
    let steps = args.connections.iter().map(|connections| StepSpec {
        connections: *connections,
        duration_ns,
        pace,
        warm_up: false,
        requests_max: args.requests,
        close_after: false,
        ..StepSpec::default()
    });
    Ok(LoadSpec {
        target,
        requests: vec![request],
        recorded: Vec::new(),
        scenario: feed::scenario(&args.feed)?,
        steps: steps.collect(),
        threads: args.threads,
        cores: args.cores.clone(),
        timeout_connect_ns: timeout,
        timeout_answer_ns: timeout,
        slice_ns: Time(SLICE).as_ns(),
        seed: args.seed,
        check_body_every: 0,
        stepwise: false,
        reactor: args.reactor.into(),
        keep_alive_off: args.no_keep_alive || args.headers.iter().any(closes),
        in_flight,
        grpc: grpc.map(|schema| schema.descriptors().into()),
        part: None,
        further_targets: Vec::new(),
    })
}

/// How long each step is at most.
fn step_duration(args: &LoadArgs) -> Time {
    let default = match args.requests {
        0 => DURATION,
        _ => DURATION_LONGEST,
    };
    args.duration.unwrap_or(Time(default))
}

fn pace(args: &LoadArgs) -> Pace {
    match args.rate {
        None => Pace::Closed,
        Some(Rate(rate_per_s)) if args.poisson => Pace::Poisson { rate_per_s },
        Some(Rate(rate_per_s)) => Pace::Constant { rate_per_s },
    }
}

/// Where to connect, and what to ask there.
fn target(args: &LoadArgs) -> anyhow::Result<(Target, String)> {
    let url = url::read(&args.url)?;
    let is_http2 = args.http2 || !args.proto.is_empty();
    let protocol = match (is_http2, url.websocket) {
        (true, true) => bail!(
            "{}: WebSocket needs HTTP/1.1, neither --http2 nor --proto",
            args.url
        ),
        (true, false) => Protocol::Http2,
        (false, true) => Protocol::Websocket(WebSocket {
            messages: args.messages,
            timestamp: args.timestamp.map(Into::into),
        }),
        (false, false) if args.messages > 0 || args.timestamp.is_some() => {
            bail!("--messages and --timestamp: need a URL that starts with ws:// or wss://")
        }
        (false, false) => Protocol::Http1,
    };
    let target = Target {
        address: url.address,
        device: None,
        host: Some(url.host),
        tls: url.tls,
        insecure: args.insecure,
        trust: Some(Tls {
            ca: args.cacert.clone().map(Into::into),
            certificate: args.cert.clone().map(Into::into),
            key: args.key.clone().map(Into::into),
            resume: args.tls_resume,
            ..Tls::default()
        })
        .filter(|tls| *tls != Tls::default()),
        unix_socket: args.unix_socket.clone(),
        protocol,
        cpu_counter: None,
    };
    Ok((target, url.path))
}

fn request(args: &LoadArgs, path: String) -> anyhow::Result<RequestSpec> {
    let headers = args.headers.iter().cloned();
    let is_call = !args.proto.is_empty();
    Ok(RequestSpec {
        name: is_call.then(|| proto::name(&path)),
        method: match is_call {
            true => grpc::POST.to_owned(),
            false => args.method.to_uppercase(),
        },
        path,
        headers: headers.map(|Header(name, value)| (name, value)).collect(),
        body: args.body.read()?.into(),
        events: args.events,
        weight: 1,
        ..RequestSpec::default()
    })
}

/// Whether a header forbids further requests on its connection (RFC 9112, section 9.6).
fn closes(Header(name, value): &Header) -> bool {
    name.eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{LoadArgs, spec};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: LoadArgs,
    }

    #[test]
    fn requests_have_the_time_that_they_need() {
        let check = |flags: &str, expect_s: u64| {
            let line = format!("load http://h/ {flags}");
            let line = Line::try_parse_from(line.split_whitespace()).unwrap();
            let step = &spec(&line.args).unwrap().steps[0];
            assert_eq!(step.duration_ns, expect_s * 1_000_000_000, "{flags}");
        };
        check("", 10);
        check("-d 3s", 3);
        check("-n 5 -d 3s", 3);
        check("-n 5", 7 * 24 * 3600);
        check("-n 0", 10);
    }
}
