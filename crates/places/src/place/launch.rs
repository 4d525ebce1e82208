//! Starts a dependency on this host: a program, or a container.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::dependency::{Dependency, Ready};
use bakeoff_model::suite::volume::Volume;

use crate::docker::DockerRuntime;
use crate::images::pulled;
use crate::local::ProcessRuntime;
use crate::services::Setting;
use crate::services::dependency::Launched;
use crate::{ContainerOptions, Runtime as _, StartSpec, Wire};

/// Starts a program of this host. `gateway` is where contenders reach this host whose networks have
/// no way to its loopback.
pub(crate) async fn start_program(
    process: &ProcessRuntime,
    wanted: &Dependency,
    setting: &Setting<'_>,
    known: &BTreeMap<String, SocketAddr>,
    gateway: Option<IpAddr>,
) -> anyhow::Result<Launched> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let listen = gateway.map_or(loopback, |_| IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let port = match wanted.port {
        Some(port) => port,
        None => TcpListener::bind((listen, 0))?.local_addr()?.port(),
    };
    let own = SocketAddr::new(listen, port);
    let spec = StartSpec {
        command: filled(&wanted.command, own, known),
        workdir: setting.suite.canonicalize()?,
        ..spec(wanted, setting, own, known)?
    };
    Ok(Launched {
        instance: process.start(&spec).await.map_err(with_hints)?,
        address: SocketAddr::new(gateway.unwrap_or(loopback), port),
        from_here: SocketAddr::new(loopback, port),
        _way: None,
    })
}

/// Starts a container, which other containers of the session reach by its name.
pub(crate) async fn start_container(
    docker: &DockerRuntime,
    image: &str,
    wanted: &Dependency,
    setting: &Setting<'_>,
    known: &BTreeMap<String, SocketAddr>,
) -> anyhow::Result<Launched> {
    let found = pulled(docker.engine(), image).await?;
    let port = match wanted.port.or(found.port) {
        Some(port) => port,
        // Contenders are not told it, and its readiness is known without a connection.
        None if wanted.ready != Ready::Connected => 0,
        None => {
            return Err(hinted(
                format_args!("the image {image} exposes no port"),
                "name the `port` on which its program listens",
            ));
        }
    };
    let own = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
    let spec = StartSpec {
        image: Some(found.reference),
        command: wanted.entrypoint.clone(),
        arguments: filled(&wanted.command, own, known),
        container: ContainerOptions {
            alias: Some(wanted.name.clone()),
            volumes: absolute(setting.suite, &wanted.volumes),
            settings: wanted.container.clone(),
            healthcheck: wanted.healthcheck.clone(),
            takes_turns: false,
        },
        ..spec(wanted, setting, own, known)?
    };
    let instance = docker.start(&spec).await.map_err(with_hints)?;
    let address = instance.address();
    Ok(Launched {
        instance,
        address,
        from_here: address,
        _way: None,
    })
}

/// How a dependency is started that listens on `own`, but for its program.
pub(super) fn spec(
    wanted: &Dependency,
    setting: &Setting<'_>,
    own: SocketAddr,
    known: &BTreeMap<String, SocketAddr>,
) -> anyhow::Result<StartSpec> {
    let env = wanted.env.iter();
    let env = env.map(|(name, value)| (name.clone(), fill(value, own, known)));
    let logs = setting.logs.canonicalize()?;
    Ok(StartSpec {
        label: format!("dependency-{}", wanted.name),
        command: Vec::new(),
        env: env.collect(),
        arguments: Vec::new(),
        workdir: PathBuf::new(),
        limits: Limits::default(),
        cores: setting.cores.to_vec(),
        port: own.port(),
        ready_path: wanted.ready_path.clone().unwrap_or_default(),
        start_timeout: wanted.start_timeout,
        image: None,
        service: None,
        container: ContainerOptions::default(),
        wire: Wire::default(),
        log_path: logs.join(format!("dependency-{}.log", wanted.name)),
    })
}

/// The volumes of a container with absolute paths; relative ones are below `folder`.
pub fn absolute(folder: &Path, volumes: &[Volume]) -> Vec<(PathBuf, String)> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mounts = volumes.iter();
    let mounts = mounts.map(|one| (folder.join(&one.source), one.target.clone()));
    mounts.collect()
}

pub(super) fn filled(
    words: &[String],
    own: SocketAddr,
    known: &BTreeMap<String, SocketAddr>,
) -> Vec<String> {
    words.iter().map(|word| fill(word, own, known)).collect()
}

fn fill(text: &str, own: SocketAddr, known: &BTreeMap<String, SocketAddr>) -> String {
    with_dependencies(text, known)
        .replace("{host}", &own.ip().to_string())
        .replace("{port}", &own.port().to_string())
}

/// The text with the addresses of dependencies in the place of their placeholders.
pub fn with_dependencies(text: &str, known: &BTreeMap<String, SocketAddr>) -> String {
    let mut filled = text.to_owned();
    for (name, address) in known {
        let [host, port] = Dependency::placeholders(name);
        filled = filled
            .replace(&host, &address.ip().to_string())
            .replace(&port, &address.port().to_string());
    }
    filled
}
