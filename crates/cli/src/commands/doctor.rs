//! `bakeoff doctor`: what this machine can and cannot do for a fair measurement.

use std::io::Write as _;

use anyhow::Context as _;
use bakeoff_model::record::{Cores, GeneratorCeiling};
use bakeoff_runtime::build::toolchain;
use bakeoff_runtime::host;
use bakeoff_session::selection::host_cores;
use bakeoff_session::testbed::{ceiling, runtimes};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::exit;

/// Toolchains that contenders of the suites name.
const TOOLCHAINS: [&str; 5] = ["rust", "maven", "jdk-11", "jdk-17", "jdk-25"];

/// One finding.
#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    good: bool,
    found: String,
}

/// Runs the command.
pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<u8> {
    let mut findings = tokio::runtime::Runtime::new()?.block_on(findings());
    if args.load {
        findings.extend(load_findings()?);
    }
    let mut output = std::io::stdout().lock();
    if args.json {
        writeln!(output, "{}", serde_json::to_string_pretty(&findings)?)?;
        return Ok(exit::DONE);
    }
    for finding in findings {
        let mark = if finding.good { "ok  " } else { "NOTE" };
        writeln!(output, "{mark} {:<14} {}", finding.what, finding.found)?;
    }
    Ok(exit::DONE)
}

/// What the load generator can do at best, with the server on a core of its own where there are
/// two.
fn load_findings() -> anyhow::Result<Vec<Finding>> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let cores = match host_cores() {
        0 | 1 => Cores::default(),
        _ => Cores {
            contender: vec![0],
            generator: vec![1],
            backend: Vec::new(),
        },
    };
    let ceiling = ceiling::measure(&program, &cores)?;
    let finding = |(what, found): (&str, String)| Finding {
        what: what.to_owned(),
        good: true,
        found,
    };
    Ok(describe(&ceiling).map(finding).into())
}

/// The ceiling in words, two lines.
fn describe(ceiling: &GeneratorCeiling) -> [(&'static str, String); 2] {
    let limit = if ceiling.busy > 0.9 {
        "the engine was the limit"
    } else {
        "the null server was the limit, so that the engine can do more"
    };
    [
        (
            "load ceiling",
            format!(
                "{:.0} requests/s by {} on {} thread{}, {:.1} us CPU each: {limit}",
                ceiling.requests_per_s,
                ceiling.reactor,
                ceiling.threads,
                if ceiling.threads == 1 { "" } else { "s" },
                ceiling.cpu_us_per_request,
            ),
        ),
        (
            "latency floor",
            format!(
                "p50 {:.0} us, p99 {:.0} us on one connection",
                ceiling.floor_p50_us, ceiling.floor_p99_us
            ),
        ),
    ]
}

async fn findings() -> Vec<Finding> {
    let mut findings = host_findings();
    let process = runtimes::process_runtime();
    findings.push(match process {
        Ok(runtime) => {
            let enforcement = bakeoff_runtime::Runtime::enforcement(&runtime);
            Finding {
                what: "limits".to_owned(),
                good: enforcement.unlimited_because().is_none(),
                found: enforcement.to_string(),
            }
        }
        Err(error) => Finding {
            what: "limits".to_owned(),
            good: false,
            found: error.to_string(),
        },
    });
    findings.push(match runtimes::docker_engine().await {
        Ok(engine) => Finding {
            what: "docker".to_owned(),
            good: true,
            found: engine,
        },
        Err(error) => Finding {
            what: "docker".to_owned(),
            good: false,
            found: error.to_string(),
        },
    });
    for needs in TOOLCHAINS {
        findings.push(match toolchain(needs) {
            Ok(found) => Finding {
                what: needs.to_owned(),
                good: true,
                found: found.version,
            },
            Err(missing) => Finding {
                what: needs.to_owned(),
                good: false,
                found: missing.to_string(),
            },
        });
    }
    findings
}

fn host_findings() -> Vec<Finding> {
    let host = host::describe();
    let finding = |what: &str, good, found: String| Finding {
        what: what.to_owned(),
        good,
        found,
    };
    let cores = match host.cores {
        1 => "1: contender, load generator and backend share it".to_owned(),
        2 | 3 => format!(
            "{}: load generator and backend share one; profiles scale down",
            host.cores
        ),
        cores => cores.to_string(),
    };
    let memory_gib = host.memory_bytes >> 30;
    let mut findings = vec![
        finding("kernel", true, host.kernel),
        finding("cpu", true, host.cpu_model),
        finding("cores", host.cores >= 4, cores),
        finding("memory", memory_gib >= 4, format!("{memory_gib} GiB")),
        finding("open files", host.nofile >= 65_536, host.nofile.to_string()),
    ];
    match host.governor {
        Some(governor) => {
            findings.push(finding("governor", governor == "performance", governor));
        }
        None => findings.push(finding("governor", false, "cannot be read here".to_owned())),
    }
    if let Some(virtualisation) = host.virtualisation {
        findings.push(finding(
            "virtual",
            false,
            format!("{virtualisation}: watch for steal"),
        ));
    }
    findings
}
