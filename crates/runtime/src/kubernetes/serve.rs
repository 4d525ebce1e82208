//! What runs in Pods beside the load generator: asks a service, waits for it, reads the meters of a
//! container. One question a line on standard input, one reply a line on standard output.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bakeoff_model::resource::ResourceSample;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::backend::{ReplayNotes, elasticsearch};
use crate::meter::Meter;
use crate::ready::{monotonic_ns, wall_ns};
use crate::{host, http};

use super::pods::{CGROUP_MOUNT, RECORDINGS, SCRATCH};
use super::question::{Question, Reply, Request};
use super::sidecar;
use super::watch::{await_program, meter, watch};

/// Replies to questions until standard input ends. Blocks.
///
/// # Errors
/// A line is no question, or the reply cannot be written.
pub fn serve() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut meters = HashMap::new();
    let root = Some(Path::new(CGROUP_MOUNT)).filter(|mount| mount.is_dir());
    let notes = ReplayNotes::in_folder(Path::new(SCRATCH));
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let reply = match serde_json::from_str(&line?)? {
            Question::Ask(request) => runtime.block_on(response(&request)),
            Question::Watch(watched) => watch(&watched, |deadline| match root {
                Some(root) => await_program(root, &watched, deadline),
                None => sidecar::await_program(deadline),
            }),
            Question::Notes => Reply::Notes {
                requests: runtime.block_on(notes.requests()),
                unknown: notes.unknown(),
            },
            Question::Sample { container } => sample(&mut meters, root, container),
            Question::Fill { node, warm_up_ns } => runtime.block_on(fill(node, warm_up_ns)),
            Question::Statistics { node } => Reply::Notes {
                requests: runtime.block_on(elasticsearch::requests(node)),
                unknown: Vec::new(),
            },
            Question::Host => Reply::Host(Box::new(host::describe())),
            Question::Clock => Reply::Clock(wall_ns()),
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

async fn fill(node: SocketAddr, warm_up_ns: u64) -> Reply {
    let warm_up = Duration::from_nanos(warm_up_ns);
    match elasticsearch::prepare(node, Path::new(RECORDINGS), warm_up).await {
        Ok(()) => Reply::Filled,
        Err(error) => Reply::NoAnswer(error.to_string()),
    }
}

async fn response(request: &Request) -> Reply {
    let body = STANDARD.decode(&request.body).unwrap_or_default();
    let limit = Duration::from_nanos(request.limit_ns);
    let (method, path, headers) = (&request.method, &request.path, &request.headers);
    match http::ask(request.to, method, path, headers, &body, limit).await {
        Ok(answer) => Reply::Response {
            status: answer.status,
            headers: answer.headers,
            body: STANDARD.encode(answer.body),
        },
        Err(error) => Reply::NoResponse(error.to_string()),
    }
}

fn sample(meters: &mut HashMap<String, Meter>, root: Option<&Path>, container: String) -> Reply {
    let found = || match root {
        Some(root) => meter(root, &container),
        None => sidecar::meter(),
    };
    if !meters.contains_key(&container)
        && let Some(meter) = found()
    {
        // Contenders come one after the other: the files of former ones lead nowhere.
        meters.retain(|_, meter: &mut Meter| !meter.processes().is_empty());
        meters.insert(container.clone(), meter);
    }
    let sample = meters.get(&container).map(Meter::sample);
    let absent = || ResourceSample {
        at_ns: monotonic_ns(),
        ..ResourceSample::default()
    };
    Reply::Sample(Box::new(sample.unwrap_or_else(absent)), host::time())
}
