//! The engine's limits on this host: its highest rate and its shortest time, measured
//! against a server that does nothing. Every number of a session is below this ceiling and above
//! this floor, whatever the contender does.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};
use bakeoff_base::number::{as_f64, length_as_f64};
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadInterval, LoadSpec, Pace, RequestSpec, StepSpec, Target};
use bakeoff_model::record::totals::{Times, Totals};
use bakeoff_model::record::{Cores, GeneratorCeiling};

/// Connections at the ceiling: where a server that does nothing is busiest.
const CONNECTIONS: u32 = 64;
/// Lengths of the steps, ns: warm-up, ceiling, floor.
const STEPS: [(u32, u64); 3] = [
    (CONNECTIONS, 300_000_000),
    (CONNECTIONS, 1_000_000_000),
    (1, 700_000_000),
];
const TIMEOUT_NS: u64 = 5_000_000_000;

/// A running null server; ends with its value.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It holds nothing that could be lost, and may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(program: &Path, cores: &[usize]) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        command.args(["null-server", "--until-input-ends"]);
        if !cores.is_empty() {
            let list: Vec<String> = cores.iter().map(usize::to_string).collect();
            command.args(["--cores", &list.join(",")]);
        }
        let mut child = command
            // Kept open by the child's handle, and closed with us.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the null server")?;
        let output = child.stdout.take();
        let mut server = Self {
            child,
            address: String::new(),
        };
        let output = output.context("the null server has no standard output")?;
        BufReader::new(output).read_line(&mut server.address)?;
        server.address.truncate(server.address.trim_end().len());
        if server.address.is_empty() {
            bail!("the null server ended before it listened");
        }
        Ok(server)
    }
}

/// Measures for two seconds. `program` is this binary; the null server gets the contender's
/// cores, the load generator its own. Blocks.
///
/// # Errors
/// Neither server nor engine could be started, or nothing was measured.
pub fn measure(program: &Path, cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
    let server = Server::start(program, &cores.contender)?;
    let spec = load_spec(&server.address, cores);
    let mut steps: Vec<Vec<LoadInterval>> = STEPS.iter().map(|_| Vec::new()).collect();
    let mut kind = String::new();
    // In a separate thread, because the engine binds the one that calls it.
    std::thread::scope(|scope| {
        let body = || {
            bakeoff_load::run(
                &spec,
                &Stop::default(),
                &mut |_| Go::On,
                &mut |event| match event {
                    LoadEvent::Ready { reactor, .. } => kind = reactor,
                    LoadEvent::Interval(interval) => steps[interval.step].push(*interval),
                    _ => {}
                },
            )
        };
        let engine = std::thread::Builder::new().spawn_scoped(scope, body);
        let engine = engine.context("cannot start a thread")?;
        let ended = engine.join();
        ended
            .map_err(|_| anyhow::anyhow!("the engine panicked"))?
            .map_err(anyhow::Error::new)
    })?;
    let [_, ceiling, floor] = &steps[..] else {
        bail!("the engine left steps out");
    };
    let floor = Times::of(floor.iter());
    let at_us = |share| floor.stated().quantile_ns(share).map(|ns| as_f64(ns) / 1e3);
    let (Some(p50), Some(p99)) = (at_us(0.5), at_us(0.99)) else {
        bail!("the null server sent no response");
    };
    let threads = ceiling.last().map_or(1, |slice| slice.generator_threads);
    let ceiling: Totals = ceiling.iter().collect();
    let cpu_ns = ceiling.generator_cpu.total_ns();
    let Some(cpu_us_per_request) = ceiling.cpu_us_per_request(cpu_ns) else {
        bail!("the null server sent no response");
    };
    Ok(GeneratorCeiling {
        reactor: kind,
        threads,
        connections: CONNECTIONS,
        requests_per_s: ceiling.requests_per_s(),
        cpu_us_per_request,
        busy: ceiling.generator_cores() / length_as_f64(threads.max(1)),
        floor_p50_us: p50,
        floor_p99_us: p99,
    })
}

fn load_spec(address: &str, cores: &Cores) -> LoadSpec {
    let steps = STEPS.map(|(connections, duration_ns)| StepSpec {
        connections,
        duration_ns,
        pace: Pace::Closed,
        warm_up: false,
        requests_max: 0,
        close_after: false,
        ..StepSpec::default()
    });
    LoadSpec {
        target: Target {
            address: address.to_owned(),
            ..Target::default()
        },
        requests: vec![RequestSpec {
            method: "GET".to_owned(),
            path: "/".to_owned(),
            weight: 1,
            ..RequestSpec::default()
        }],
        steps: steps.to_vec(),
        threads: cores.generator.len().max(1),
        cores: cores.generator.clone(),
        timeout_connect_ns: TIMEOUT_NS,
        timeout_answer_ns: TIMEOUT_NS,
        ..LoadSpec::default()
    }
}
