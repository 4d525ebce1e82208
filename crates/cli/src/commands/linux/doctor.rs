//! `bakeoff doctor`: what this machine can and cannot do for a fair measurement.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_analysis::data::number::{enumerated, significant};
use bakeoff_base::text::counted;
use bakeoff_build::toolchain;
use bakeoff_model::measure::core_sharing::CoreSharing;
use bakeoff_model::record::{Cores, GeneratorCeiling};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::cluster_settings::ClusterSettings;
use bakeoff_places::host::{self, topology};
use bakeoff_places::place::{cluster, node_images};
use bakeoff_places::sweep::RunFolder;
use bakeoff_places::{ceiling, images, this_host};
use bakeoff_session::clock;
use bakeoff_session::placement::place;
use bakeoff_session::session::Audience;
use bakeoff_store::event::NullObserver;
use bakeoff_workflows::duel::Duel;
use bakeoff_workflows::noise::{self, HostNoise};
use clap::{Args, Parser};
use serde::Serialize;

use super::duel::{self, DuelArgs};
use super::signals::interrupted;
use crate::args::linux::ClusterArgs;
use crate::exit;
use crate::output::text::human;
use crate::values::{RuntimeKind, Time};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Measure what the load engine can do here at best, for two seconds.
    #[arg(long)]
    pub(crate) load: bool,
    /// Measure a service against itself for this time, 1m if none is given, and say which
    /// differences this host finds in what time.
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = "1m")]
    pub(crate) compare: Option<Time>,
    /// Look at the cluster, too.
    #[arg(long, value_enum)]
    pub(crate) runtime: Option<RuntimeKind>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

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
    let cores = session_cores();
    let mut findings = tokio::runtime::Runtime::new()?.block_on(findings(&cores));
    if matches!(args.runtime, Some(RuntimeKind::Kubernetes)) {
        let settings = args.cluster.settings();
        findings.extend(tokio::runtime::Runtime::new()?.block_on(cluster_findings(&settings)));
    }
    if args.load {
        findings.extend(load_findings(&cores)?);
    }
    if let Some(time) = args.compare {
        findings.extend(compare_findings(time.0)?);
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

/// The cores that the parts of a session have if the contender's quota is one CPU and there is no
/// backend; no separate ones if the host has one core.
fn session_cores() -> Cores {
    let limits = Limits {
        cpus: Some(1.0),
        memory_bytes: None,
    };
    place(&topology::read(), &limits, false).cores
}

/// Measures the highest rate of the load generator, with one core for it and, if there are two, one
/// for the server.
fn load_findings(cores: &Cores) -> anyhow::Result<Vec<Finding>> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let first = |cores: &[usize]| cores.iter().take(1).copied().collect();
    let cores = Cores {
        contender: first(&cores.contender),
        generator: first(&cores.generator),
        backend: Vec::new(),
    };
    let ceiling = ceiling::measure(&program, &cores)?;
    let finding = |(what, found): (&str, String)| Finding {
        what: what.to_owned(),
        good: true,
        found,
    };
    Ok(describe(&ceiling).map(finding).into())
}

/// A duel with all that its command line has by default.
#[derive(Debug, Parser)]
struct AskedDuel {
    #[command(flatten)]
    duel: DuelArgs,
}

/// CPU time per response of the service that is measured against itself, us, as in a small
/// service.
const WORK_US: u32 = 30;

/// Measures a service against itself, and says what this host finds.
fn compare_findings(within: Duration) -> anyhow::Result<Vec<Finding>> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let program = program.display().to_string();
    let program = shlex::try_quote(&program)?;
    let service = format!("exec {program} null-server --listen 0.0.0.0:$PORT --work-us {WORK_US}");
    let service = shlex::try_quote(&service)?;
    let [one, itself] = ["one", "itself"].map(|name| format!("{name}=sh -c {service}"));
    let within = format!("{}ms", within.as_millis());
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let port = port.to_string();
    let words = ["bakeoff", &one, &itself, "--get", "/"];
    let words = [&words[..], &["--port", &port, "--within", &within]].concat();
    let asked = AskedDuel::try_parse_from(words)?;
    let duel = Duel {
        control: false,
        latency: false,
        ..duel::wanted(&asked.duel)?
    };
    let scratch = RunFolder::temporary()?;
    let folder = scratch.path().join("results");
    let mut audience = Audience {
        watcher: &mut NullObserver,
        interruption: || Box::pin(interrupted()),
        sitting: None,
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let measured = noise::measure(&duel, clock::fresh_seed(), &folder, &mut audience);
    Ok(vec![match runtime.block_on(measured) {
        Ok(noise) => Finding {
            what: "compare".to_owned(),
            good: true,
            found: describe_noise(&noise),
        },
        Err(error) => Finding {
            what: "compare".to_owned(),
            good: false,
            found: format!("{error:#}"),
        },
    }])
}

/// `this host finds 5 % in 40 s, 2 % in 2 min, 1 % in 9 min; noise ...`.
fn describe_noise(noise: &HostNoise) -> String {
    let percent = |share: f64| format!("{} %", significant(share * 100.0));
    // A larger difference that takes as long as a smaller one, the least number of sets, says
    // nothing more.
    let next = noise.finds.iter().skip(1).map(|(_, time)| Some(*time));
    let told = noise.finds.iter().zip(next.chain([None]));
    let told = told.filter(|((_, time), next)| Some(*time) != *next);
    let times = told.map(|((difference, time), _)| match time {
        Some(time) => format!("{:.0} % in {}", difference * 100.0, human(*time)),
        None => format!("{:.0} % never", difference * 100.0),
    });
    let times: Vec<String> = times.collect();
    format!(
        "this host finds {}, in four of five sessions; a service varies by {} from block to block \
         ({} ms each) and by {} against itself in the same block; a disturbance is forgotten after \
         {} s ({})",
        enumerated(&times),
        percent(noise.of_blocks),
        noise.block.as_millis(),
        percent(noise.of_pairs),
        significant(noise.memory.as_secs_f64()),
        counted(noise.sets as u64, "set"),
    )
}

/// Returns the findings on everything that a session in a cluster needs.
async fn cluster_findings(settings: &ClusterSettings) -> Vec<Finding> {
    let finding = |what: &str, good, found: String| Finding {
        what: what.to_owned(),
        good,
        found,
    };
    let connected = match cluster::connect(settings, true).await {
        Ok(connected) => connected,
        Err(error) => return vec![finding("kubernetes", false, format!("{error:#}"))],
    };
    let found = &connected.cluster;
    let version = format!("{} of context {}", found.version(), found.context());
    let sharing = connected.placed.sharing();
    let map = connected.placed.describe();
    let mut findings = vec![
        finding("kubernetes", true, version),
        finding("nodes", sharing.is_empty(), map),
    ];
    findings.extend(
        sharing
            .into_iter()
            .map(|text| finding("nodes", false, text)),
    );
    let missing = found.not_allowed(settings.namespace.as_deref()).await;
    findings.push(match missing {
        Ok(missing) if missing.iter().all(|line| line.ends_with("-meter")) => {
            let meters = match missing.as_slice() {
                [] => "meters on the nodes".to_owned(),
                _ => format!("meters as sidecars ({})", missing.join(", ")),
            };
            finding(
                "authority",
                true,
                format!("all that a session needs, {meters}"),
            )
        }
        Ok(missing) => {
            let list = missing.join(", ");
            let hint = "`bakeoff kubernetes manifest` prints a role with all of it";
            finding("authority", false, format!("not allowed: {list}; {hint}"))
        }
        Err(error) => finding("authority", false, error.to_string()),
    });
    let delivery = match (&settings.registry, settings.loader(found.context())) {
        (Some(registry), _) => (true, format!("pushed to {registry}")),
        (None, Some(command)) => (true, format!("loaded by `{command}`")),
        (None, None) => (
            false,
            "--image-registry or --image-loader must say how".to_owned(),
        ),
    };
    findings.push(finding("images", delivery.0, delivery.1));
    findings.push(match node_images::pod_program(settings) {
        Ok(program) => finding("pod program", true, program.display().to_string()),
        Err(error) => finding("pod program", false, format!("{error:#}")),
    });
    findings
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

/// Whether load generator and contender have separate physical cores, measured for a second.
fn sharing_finding(cores: &Cores) -> Finding {
    let (good, found) = if cores.generator.is_empty() {
        let found = "load generator and contender have one core between them";
        (false, found.to_owned())
    } else {
        match bakeoff_load::core_sharing(&cores.contender, &cores.generator) {
            Ok(sharing) => (
                sharing.slowdown <= CoreSharing::SEPARATE,
                sharing.to_string(),
            ),
            Err(error) => (false, format!("cannot be measured: {error}")),
        }
    };
    Finding {
        what: "core sharing".to_owned(),
        good,
        found,
    }
}

async fn findings(cores: &Cores) -> Vec<Finding> {
    let mut findings = host_findings();
    findings.push(sharing_finding(cores));
    let process = this_host::process_runtime();
    findings.push(match process {
        Ok(runtime) => {
            let enforcement = bakeoff_places::Runtime::enforcement(&runtime);
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
    findings.push(match images::docker_engine().await {
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
                found: found
                    .version
                    .unwrap_or_else(|| found.path.display().to_string()),
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
    let topology = topology::read();
    let cores = match topology.physical_cores() {
        physical if physical < topology.cpus.len() => {
            format!(
                "{cores}, hyper-threads of {}",
                counted(physical as u64, "physical core")
            )
        }
        _ => cores,
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
