//! The load spec that plays a capture.

use std::io::Write as _;
use std::path::Path;

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_base::text::counted;
use bakeoff_model::load::{LoadSpec, Pace, Protocol, RecordedRequest, StepSpec};
use bakeoff_model::text::duration_ns;
use bakeoff_session::environment;
use bakeoff_workflows::captured;

use super::args::LoadArgs;
use crate::values::Header;

/// Returns a load spec with the requests of a capture at their times. Notes go to standard error.
pub(super) fn played(args: &LoadArgs, spec: LoadSpec, folder: &Path) -> anyhow::Result<LoadSpec> {
    if spec.requests.iter().any(|request| request.path != "/") {
        return Err(hinted(
            format_args!("{}: a capture has paths itself", args.url),
            "name the service alone: http://HOST:PORT",
        ));
    }
    let mut found = captured::read(folder)?;
    environment::fill(&mut found.suite, &|name| std::env::var(name).ok())?;
    let timed = found.timed(args.writes)?;
    let left_out = [
        (timed.writes, "that may change data; --writes plays them"),
        (timed.others, "over another version of HTTP"),
    ];
    for (count, which) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        let requests = counted(count as u64, "request");
        writeln!(std::io::stderr(), "note: left out: {requests} {which}")?;
    }
    let protocol = match timed.protocol {
        Protocol::Http1 if spec.target.protocol == Protocol::Http2 => Protocol::Http2,
        captured => captured,
    };
    let speed = args.speed.0;
    let mut recorded = Vec::with_capacity(timed.arrivals.len());
    for (at, index) in &timed.arrivals {
        recorded.push(RecordedRequest {
            at_ns: duration_ns::whole(*at),
            request: u32::try_from(*index)?,
        });
    }
    let Some(last) = timed.arrivals.last() else {
        bail!("{}: no requests", folder.display());
    };
    // No further request is due after the last one; its response is awaited.
    let whole_ns = duration_ns::whole(last.0.div_f64(speed)) + 1_000_000;
    let duration_ns = args
        .duration
        .map_or(whole_ns, |time| time.as_ns().min(whole_ns));
    let mut requests = timed.requests;
    for request in &mut requests {
        let headers = args.headers.iter().cloned();
        request
            .headers
            .extend(headers.map(|Header(name, value)| (name, value)));
    }
    let steps = spec.steps.into_iter().map(|step| StepSpec {
        duration_ns,
        awaited_ns: spec.timeout_answer_ns,
        pace: Pace::Recorded { speed },
        ..step
    });
    Ok(LoadSpec {
        steps: steps.collect(),
        requests,
        recorded,
        target: bakeoff_model::load::Target {
            protocol,
            ..spec.target
        },
        ..spec
    })
}
