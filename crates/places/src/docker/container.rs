//! Requests to the engine for containers: limits, environment, labels, output.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::log::Log;
use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, EndpointSettings, HostConfig,
    HostConfigLogConfig, Mount, MountType, NetworkingConfig,
};
use bollard::query_parameters::{
    AttachContainerOptions, CreateContainerOptions, InspectContainerOptions, StartContainerOptions,
    WaitContainerOptions,
};
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;

use crate::api::{ExitInfo, StartSpec};
use crate::cgroup::QUOTA_PERIOD_US;
use crate::docker::engine::{Engine, is_missing, plain};
use crate::docker::session::remove_container;
use crate::docker::settings::{NOFILE_NAME, settled, ulimit};
use crate::ownership::labels;
use crate::sweep::unique_name;

/// Open files that a container may have, if permitted: far more than any step has connections.
const NOFILE: i64 = 1 << 20;

/// How long a command that is run for its output may take.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);

/// Pause before an engine that failed is asked again, and how often.
const RETRY: Duration = Duration::from_millis(100);
const RETRIES: u32 = 100;

/// Codes above this say that a signal ended the program, as shells and engines have it.
const SIGNAL_BASE: i64 = 128;

/// The container that a specification asks for, on a network.
pub(super) fn body(
    spec: &StartSpec,
    image: &str,
    network: &str,
    nofile: Option<i64>,
) -> ContainerCreateBody {
    let list = |(name, value): (&String, &String)| format!("{name}={value}");
    let cores: Vec<String> = spec.cores.iter().map(ToString::to_string).collect();
    let memory = spec
        .limits
        .memory_bytes
        .and_then(|bytes| i64::try_from(bytes).ok());
    let period = i64::try_from(QUOTA_PERIOD_US).ok();
    let quota = spec.limits.quota(spec.cores.len()).map(quota_us);
    let host_config = HostConfig {
        network_mode: Some(network.to_owned()),
        cpu_period: quota.and(period),
        cpu_quota: quota,
        cpuset_cpus: Some(cores.join(",")).filter(|cores| !cores.is_empty()),
        memory,
        // Memory and swap together: as much as memory alone is no swap at all.
        memory_swap: memory,
        mounts: Some(spec.container.volumes.iter().map(mount).collect()),
        ulimits: nofile.map(|limit| vec![ulimit(NOFILE_NAME, limit, limit)]),
        ..common()
    };
    let container = ContainerCreateBody {
        image: Some(image.to_owned()),
        // The whole command: an entry point of the image would put itself before it.
        entrypoint: Some(spec.command.clone()).filter(|command| !command.is_empty()),
        cmd: Some(spec.arguments.clone()).filter(|arguments| !arguments.is_empty()),
        env: Some(spec.env.iter().map(list).collect()),
        working_dir: (spec.workdir.to_str().filter(|path| !path.is_empty())).map(str::to_owned),
        labels: Some(labels()),
        host_config: Some(host_config),
        networking_config: spec
            .container
            .alias
            .as_ref()
            .map(|alias| aliased(network, alias, &spec.container.settings.aliases)),
        ..ContainerCreateBody::default()
    };
    settled(container, &spec.container)
}

/// A file or folder of this host, which the container can only read.
fn mount((source, target): &(PathBuf, String)) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.display().to_string()),
        target: Some(target.clone()),
        read_only: Some(true),
        ..Mount::default()
    }
}

/// Gives a container names on a network.
fn aliased(network: &str, alias: &str, more: &[String]) -> NetworkingConfig {
    let more = more.iter().cloned();
    let end = EndpointSettings {
        aliases: Some(std::iter::once(alias.to_owned()).chain(more).collect()),
        ..EndpointSettings::default()
    };
    NetworkingConfig {
        endpoints_config: Some(HashMap::from([(network.to_owned(), end)])),
    }
}

/// Limits of open files to try, best first. An engine without the right to raise its own hard limit
/// refuses more; it does not report that limit. An engine on this host often has the same limit as
/// bakeoff.
pub(super) fn nofile_choices() -> Vec<Option<i64>> {
    let own = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let own = own
        .and_then(|limit| i64::try_from(limit).ok())
        .filter(|limit| *limit < NOFILE);
    let mut choices = vec![
        Some(NOFILE),
        own.or(Some(NOFILE)),
        Some(1 << 16),
        Some(1 << 14),
        None,
    ];
    choices.sort_by(|a, b| b.cmp(a));
    choices.dedup();
    choices
}

/// Whether an engine refused a start for the limit of open files.
pub(super) fn refused_nofile(message: &str) -> bool {
    message.contains("rlimit")
}

/// The engine keeps no log: each line would cost it time while the service is measured.
fn common() -> HostConfig {
    HostConfig {
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        ..HostConfig::default()
    }
}

/// The quota of one period; the kernel takes no less than 1 ms.
fn quota_us(cpus: f64) -> i64 {
    #[expect(clippy::cast_precision_loss, reason = "the period is 100,000")]
    let quota = (cpus * QUOTA_PERIOD_US as f64).round();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to the range of the kernel"
    )]
    let quota = quota.clamp(1000.0, 1e12) as i64;
    quota
}

/// Makes a container, and returns its id.
pub(super) async fn create(
    engine: &Engine,
    label: &str,
    body: ContainerCreateBody,
) -> Result<String, Problem> {
    let options = CreateContainerOptions {
        name: Some(unique_name(label)),
        ..CreateContainerOptions::default()
    };
    let created = engine.docker.create_container(Some(options), body).await;
    created.map(|created| created.id).map_err(plain)
}

/// Starts a container; the error is the engine's own word.
pub(super) async fn start(engine: &Engine, id: &str) -> Result<(), Problem> {
    let started = engine
        .docker
        .start_container(id, None::<StartContainerOptions>)
        .await;
    started.map_err(plain)
}

/// Returns the engine's description of a container; `None` when there is no such.
pub(super) async fn inspect(
    engine: &Engine,
    id: &str,
) -> Result<Option<ContainerInspectResponse>, Problem> {
    let found = engine
        .docker
        .inspect_container(id, None::<InspectContainerOptions>)
        .await;
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(plain(error)),
    }
}

/// Writes what a container will print to a log, from its first byte on. Call it before the start.
pub(super) async fn copy_output(
    engine: &Engine,
    id: &str,
    path: &Path,
) -> Result<(Log, JoinHandle<()>), Problem> {
    let log = Log::create(path)
        .map_err(|error| format!("cannot write the log {}: {error}", path.display()))?;
    let options = AttachContainerOptions {
        stdout: true,
        stderr: true,
        stream: true,
        ..AttachContainerOptions::default()
    };
    let attached = engine.docker.attach_container(id, Some(options)).await;
    let mut output = attached.map_err(plain)?.output;
    let writing = log.clone();
    let copying = tokio::spawn(async move {
        while let Some(Ok(part)) = output.next().await {
            writing.append(&part.into_bytes());
        }
    });
    Ok((log, copying))
}

/// Waits for the end of a container that was started. An engine that stays away for long, or that
/// no longer has the container, leaves the end without code and signal.
pub(super) async fn await_exit(engine: &Engine, id: &str) -> ExitInfo {
    for _ in 0..RETRIES {
        let options = WaitContainerOptions {
            condition: "not-running".to_owned(),
        };
        // The response lacks the wanted value, and an error may mean no more than a code above
        // zero.
        let mut waiting = std::pin::pin!(engine.docker.wait_container(id, Some(options)));
        while waiting.next().await.is_some() {}
        match inspect(engine, id).await {
            Ok(None) => return ExitInfo::default(),
            Ok(Some(found)) => {
                let state = found.state.unwrap_or_default();
                if state.running != Some(true) {
                    let oom_killed = state.oom_killed == Some(true);
                    return exit_info(state.exit_code, oom_killed);
                }
            }
            Err(_) => {}
        }
        tokio::time::sleep(RETRY).await;
    }
    ExitInfo::default()
}

fn exit_info(code: Option<i64>, oom_killed: bool) -> ExitInfo {
    let code = code.and_then(|code| i32::try_from(code).ok());
    let base = i32::try_from(SIGNAL_BASE).unwrap_or(i32::MAX);
    let signal = code
        .filter(|code| (base + 1..=base + 64).contains(code))
        .map(|code| code - base);
    ExitInfo {
        code: code.filter(|_| signal.is_none()),
        signal,
        oom_killed,
    }
}

impl Engine {
    /// Runs a command in an image, without a network, and returns what it printed: version
    /// receipts.
    ///
    /// # Errors
    /// It cannot be executed, fails, or takes longer than a minute.
    pub async fn output(&self, image: &str, command: &[String]) -> Result<String, Problem> {
        let body = ContainerCreateBody {
            image: Some(image.to_owned()),
            entrypoint: Some(command.to_vec()),
            labels: Some(labels()),
            host_config: Some(HostConfig {
                network_mode: Some("none".to_owned()),
                ..common()
            }),
            ..ContainerCreateBody::default()
        };
        let id = create(self, "command", body).await?;
        let running = tokio::time::timeout(COMMAND_PATIENCE, self.run_to_end(&id)).await;
        let removed = remove_container(self, &id).await;
        let seconds = COMMAND_PATIENCE.as_secs();
        let output =
            running.unwrap_or_else(|_| Err(format!("does not end within {seconds} s").into()));
        let output = output.map_err(|error| format!("{}: {error}", command.join(" ")))?;
        removed.map(|()| output)
    }

    async fn run_to_end(&self, id: &str) -> Result<String, Problem> {
        let options = AttachContainerOptions {
            stdout: true,
            stderr: true,
            stream: true,
            ..AttachContainerOptions::default()
        };
        let attached = self.docker.attach_container(id, Some(options)).await;
        let mut parts = attached.map_err(plain)?.output;
        start(self, id).await?;
        let mut output = Vec::new();
        while let Some(Ok(part)) = parts.next().await {
            output.extend_from_slice(&part.into_bytes());
        }
        let exit = await_exit(self, id).await;
        let output = String::from_utf8_lossy(&output).into_owned();
        if exit.code == Some(0) {
            Ok(output)
        } else {
            Err(format!("{exit}: {}", output.trim()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_model::suite::Limits;

    use super::{body, exit_info, nofile_choices, quota_us};
    use crate::Wire;
    use crate::api::{ContainerOptions, StartSpec};

    #[test]
    fn limits_reach_the_engine() {
        let spec = StartSpec {
            label: "a".to_owned(),
            arguments: Vec::new(),
            command: vec!["/app/a".to_owned(), "--x".to_owned()],
            env: BTreeMap::from([("A".to_owned(), "b=c".to_owned())]),
            workdir: "/app".into(),
            limits: Limits {
                cpus: Some(1.5),
                memory_bytes: Some(512 << 20),
            },
            cores: vec![1, 3],
            port: 8080,
            ready_path: "/".to_owned(),
            start_timeout: std::time::Duration::from_secs(15),
            image: None,
            service: None,
            container: ContainerOptions::default(),
            wire: Wire::default(),
            log_path: "log".into(),
        };
        let found = body(&spec, "image", "net", Some(5));
        let host = found.host_config.unwrap();
        assert_eq!(
            (host.cpu_quota, host.cpu_period),
            (Some(150_000), Some(100_000))
        );
        assert_eq!(host.memory, Some(512 << 20));
        assert_eq!(host.memory_swap, host.memory);
        assert_eq!(host.cpuset_cpus.as_deref(), Some("1,3"));
        assert_eq!(host.ulimits.unwrap()[0].hard, Some(5));
        assert!(host.port_bindings.is_none() && host.publish_all_ports.is_none());
        assert_eq!(found.entrypoint, Some(spec.command.clone()));
        assert_eq!(
            (found.cmd, found.env),
            (None, Some(vec!["A=b=c".to_owned()]))
        );
        let pinned = StartSpec {
            cores: vec![1],
            ..spec.clone()
        };
        let host = body(&pinned, "image", "net", None).host_config.unwrap();
        assert_eq!((host.cpu_quota, host.cpu_period), (None, None));
        let free = StartSpec {
            limits: Limits::default(),
            cores: Vec::new(),
            command: Vec::new(),
            arguments: vec!["--y".to_owned()],
            workdir: "".into(),
            ..spec
        };
        let found = body(&free, "image", "net", None);
        assert_eq!((found.entrypoint, found.working_dir), (None, None));
        assert_eq!(found.cmd, Some(vec!["--y".to_owned()]));
        let host = found.host_config.unwrap();
        assert_eq!(
            (host.cpu_quota, host.cpu_period, host.memory),
            (None, None, None)
        );
        assert_eq!((host.cpuset_cpus, host.ulimits), (None, None));
        assert_eq!(quota_us(0.0), 1000);
        let choices = nofile_choices();
        assert_eq!(
            (choices.first(), choices.last()),
            (Some(&Some(1 << 20)), Some(&None))
        );
    }

    #[test]
    fn ends_are_told_apart() {
        let check = |code, expect: &str| assert_eq!(exit_info(code, false).to_string(), expect);
        check(Some(0), "exited with code 0");
        check(Some(1), "exited with code 1");
        check(Some(137), "was ended by signal 9");
        check(Some(255), "exited with code 255");
        check(None, "ended");
        assert_eq!(
            exit_info(Some(137), true).to_string(),
            "was ended by signal 9, out of memory"
        );
    }
}
