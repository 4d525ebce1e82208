//! Settings of containers as the engine has them, and the outcome of its health checks.

use bakeoff_model::parse::DurationText;
use bakeoff_model::suite::container::Healthcheck;
use bollard::models::{
    ContainerCreateBody, ContainerState, HealthConfig, HealthStatusEnum, HostConfig, Mount,
    MountType, ResourcesUlimits,
};

use crate::api::{ContainerOptions, Health, HealthState};

/// The name of the limit of open files.
pub(super) const NOFILE_NAME: &str = "nofile";

/// The container with its settings.
pub(super) fn settled(
    container: ContainerCreateBody,
    options: &ContainerOptions,
) -> ContainerCreateBody {
    let own = &options.settings;
    let host = container.host_config.unwrap_or_default();
    let list = |texts: &[String]| Some(texts.to_vec()).filter(|texts| !texts.is_empty());
    let ulimits = own.ulimits.iter();
    let ulimits = ulimits.map(|(name, limit)| ulimit(name, limit.soft, limit.hard));
    let ulimits: Vec<_> = host
        .ulimits
        .unwrap_or_default()
        .into_iter()
        .chain(ulimits)
        .collect();
    let mounts = host.mounts.unwrap_or_default().into_iter();
    let mounts = mounts.chain(own.empty_volumes.iter().map(|one| empty_volume(one)));
    let tmpfs = own.tmpfs.iter().map(|text| {
        let (path, options) = text.split_once(':').unwrap_or((text, ""));
        (path.to_owned(), options.to_owned())
    });
    let host = HostConfig {
        ulimits: Some(ulimits).filter(|ulimits| !ulimits.is_empty()),
        mounts: Some(mounts.collect()),
        tmpfs: Some(tmpfs.collect()).filter(|_| !own.tmpfs.is_empty()),
        readonly_rootfs: own.read_only.then_some(true),
        init: own.init.then_some(true),
        shm_size: own.shm_size.and_then(|size| i64::try_from(size.0).ok()),
        pids_limit: own.pids_max.map(i64::from),
        sysctls: Some(own.sysctls.clone().into_iter().collect())
            .filter(|_| !own.sysctls.is_empty()),
        cap_add: list(&own.cap_add),
        cap_drop: list(&own.cap_drop),
        security_opt: list(&own.security_opt),
        group_add: list(&own.group_add),
        extra_hosts: list(&own.extra_hosts),
        dns: list(&own.dns),
        dns_options: list(&own.dns_options),
        dns_search: list(&own.dns_search),
        ..host
    };
    ContainerCreateBody {
        user: own.user.clone(),
        working_dir: own.workdir.clone().or(container.working_dir),
        hostname: own.hostname.clone(),
        stop_signal: own.stop_signal.clone(),
        healthcheck: options.healthcheck.as_ref().map(healthcheck),
        host_config: Some(host),
        ..container
    }
}

/// A limit of a process.
pub(super) fn ulimit(name: &str, soft: i64, hard: i64) -> ResourcesUlimits {
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(soft),
        hard: Some(hard),
    }
}

/// A volume without a name: the engine fills it with what the image has there, and it is removed
/// with its container.
fn empty_volume(target: &str) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        target: Some(target.to_owned()),
        ..Mount::default()
    }
}

fn healthcheck(check: &Healthcheck) -> HealthConfig {
    let ns = |time: Option<DurationText>| {
        let ns = time.map(|time| i64::try_from(time.0.as_nanos()));
        ns.map(|ns| ns.unwrap_or(i64::MAX))
    };
    HealthConfig {
        test: Some(check.test.clone()).filter(|test| !test.is_empty()),
        interval: ns(check.interval),
        timeout: ns(check.timeout),
        retries: check.retries.map(i64::from),
        start_period: ns(check.start_period),
        start_interval: ns(check.start_interval),
    }
}

/// Returns the outcome of a container's health checks; `None` if it has none.
pub(super) fn health_of(state: ContainerState) -> Option<Health> {
    let health = state.health?;
    let state = match health.status? {
        HealthStatusEnum::HEALTHY => HealthState::Healthy,
        HealthStatusEnum::UNHEALTHY => HealthState::Unhealthy,
        HealthStatusEnum::STARTING => HealthState::Starting,
        HealthStatusEnum::EMPTY | HealthStatusEnum::NONE => return None,
    };
    let last = health.log.unwrap_or_default().pop();
    let last = last.and_then(|last| last.output).unwrap_or_default();
    Some(Health {
        state,
        last: last.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::parse::{DurationText, SizeText};
    use bakeoff_model::suite::container::{ContainerSettings, Healthcheck, Ulimit};
    use bollard::models::{
        ContainerCreateBody, ContainerState, Health as EngineHealth, HealthStatusEnum,
        HealthcheckResult, HostConfig,
    };

    use super::{health_of, settled, ulimit};
    use crate::api::{ContainerOptions, Health, HealthState};

    #[test]
    fn settings_reach_the_engine() {
        let list = |text: &str| vec![text.to_owned()];
        let container = ContainerCreateBody {
            working_dir: Some("/app".to_owned()),
            host_config: Some(HostConfig {
                ulimits: Some(vec![ulimit("nofile", 5, 5)]),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        let usual = settled(container.clone(), &ContainerOptions::default());
        let host = usual.host_config.unwrap();
        assert_eq!(usual.working_dir.as_deref(), Some("/app"));
        assert_eq!((usual.user, usual.healthcheck), (None, None));
        assert_eq!(
            (host.readonly_rootfs, host.tmpfs, host.cap_add),
            (None, None, None)
        );
        assert_eq!(host.ulimits.map(|all| all.len()), Some(1));
        let options = ContainerOptions {
            settings: ContainerSettings {
                user: Some("1:2".to_owned()),
                workdir: Some("/w".to_owned()),
                read_only: true,
                tmpfs: vec!["/tmp:size=1m".to_owned(), "/run".to_owned()],
                empty_volumes: list("/data"),
                shm_size: Some(SizeText(64 << 20)),
                ulimits: [("nproc".to_owned(), Ulimit { soft: 1, hard: 2 })].into(),
                extra_hosts: list("a:1.1.1.1"),
                ..ContainerSettings::default()
            },
            healthcheck: Some(Healthcheck {
                interval: Some(DurationText(Duration::from_millis(5))),
                ..Healthcheck::default()
            }),
            ..ContainerOptions::default()
        };
        let found = settled(container, &options);
        let host = found.host_config.unwrap();
        assert_eq!(
            (found.user.as_deref(), found.working_dir.as_deref()),
            (Some("1:2"), Some("/w"))
        );
        assert_eq!(
            (host.readonly_rootfs, host.shm_size),
            (Some(true), Some(64 << 20))
        );
        let tmpfs = host.tmpfs.unwrap();
        assert_eq!(
            (tmpfs["/tmp"].as_str(), tmpfs["/run"].as_str()),
            ("size=1m", "")
        );
        let volume = &host.mounts.unwrap()[0];
        assert_eq!(
            (volume.target.as_deref(), volume.source.as_deref()),
            (Some("/data"), None)
        );
        assert_eq!(host.ulimits.unwrap()[1], ulimit("nproc", 1, 2));
        let check = found.healthcheck.unwrap();
        assert_eq!((check.test, check.interval), (None, Some(5_000_000)));
    }

    #[test]
    fn the_state_of_the_engine_is_that_of_its_checks() {
        let check = |status, expect: Option<HealthState>| {
            let result = |text: &str| HealthcheckResult {
                output: Some(text.to_owned()),
                ..HealthcheckResult::default()
            };
            let state = ContainerState {
                health: Some(EngineHealth {
                    status: Some(status),
                    log: Some(vec![result("first"), result("last\n")]),
                    ..EngineHealth::default()
                }),
                ..ContainerState::default()
            };
            let expect = expect.map(|state| Health {
                state,
                last: "last".to_owned(),
            });
            assert_eq!(health_of(state), expect, "{status}");
        };
        check(HealthStatusEnum::STARTING, Some(HealthState::Starting));
        check(HealthStatusEnum::HEALTHY, Some(HealthState::Healthy));
        check(HealthStatusEnum::UNHEALTHY, Some(HealthState::Unhealthy));
        check(HealthStatusEnum::NONE, None);
        assert_eq!(health_of(ContainerState::default()), None);
    }
}
