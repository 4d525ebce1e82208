//! Services of a compose file as sides of a duel: their images are made, and the services that they
//! depend on become dependencies of the suite.

mod service;
mod variables;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{env, fs};

use anyhow::{Context as _, bail};
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_places::images::find_engine;
use tokio::process::Command;

use crate::duel::compose::service::{Build, Composed, Reading, document};
use crate::duel::compose::variables::variables_of;
use crate::duel::definition::{DuelService, ServiceImage, ServiceSource, common_port};

/// The names of a compose file, in the order in which Compose looks.
const NAMES: [&str; 4] = [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];

/// Services in which images stand for those of a compose file.
#[derive(Debug)]
pub(crate) struct LookedUp {
    /// The services.
    pub(crate) sides: Vec<DuelService>,
    /// The services that the sides depend on.
    pub(crate) dependencies: Vec<Dependency>,
    /// The port on which all of them listen, if it is stated.
    pub(crate) port: Option<u16>,
    /// Notes for the user, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// Looks services up in a compose file: the one that is named, or the first of the usual names in a
/// folder. Those that are built of something are built. Sides that are images of their own get the
/// environment, the arguments and the volumes of the first service. `port` is the one that the user
/// names.
///
/// # Errors
/// There is no such file or service, a service needs what it is not given, or an image cannot be
/// built.
pub(crate) async fn look_up(
    sides: &[DuelService],
    file: Option<&Path>,
    workdir: &Path,
    port: Option<u16>,
) -> anyhow::Result<LookedUp> {
    let mut found = LookedUp {
        sides: sides.to_vec(),
        dependencies: Vec::new(),
        port,
        notes: Vec::new(),
    };
    let is_composed = |side: &DuelService| matches!(side.service, ServiceSource::Compose(_));
    if !sides.iter().any(is_composed) {
        return Ok(found);
    }
    let path = compose_file(file, workdir)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let dotenv = fs::read_to_string(folder.join(".env")).unwrap_or_default();
    let dotenv = variables_of(&dotenv);
    let variable = |name: &str| env::var(name).ok().or_else(|| dotenv.get(name).cloned());
    let document = document(&text).map_err(|why| why.context(path.display()))?;
    let reading = Reading {
        folder,
        variable: &variable,
    };
    let mut first: Option<(String, ServiceImage)> = None;
    for side in &mut found.sides {
        let ServiceSource::Compose(name) = &side.service else {
            continue;
        };
        let refused = |why: Problem| {
            hinted(
                format_args!("{}: {}: {why}", side.name, path.display()),
                "start it yourself, and name it NAME=url:URL: checked and loaded, not limited",
            )
        };
        let composed = reading.service(&document, name).map_err(refused)?;
        let needed = reading.needed(&document, &composed).map_err(refused)?;
        for (name, composed) in needed {
            if found.dependencies.iter().all(|one| one.name != name) {
                let dependency = dependency(name, composed, folder).await?;
                found.dependencies.push(dependency);
            }
        }
        // A port that is named is the one that they take from PORT.
        let own = composed.port.filter(|_| port.is_none());
        found.port = common_port(&side.name, own, found.port)?;
        let reference = image(&composed, name, folder).await?;
        let image = ServiceImage {
            reference,
            entrypoint: Vec::new(),
            arguments: composed.arguments,
            env: composed.env,
            volumes: composed.volumes,
        };
        first.get_or_insert_with(|| (side.name.clone(), image.clone()));
        side.service = ServiceSource::Image(image);
    }
    if let Some((name, image)) = first {
        like_the_first(&mut found, sides, &name, &image);
    }
    Ok(found)
}

/// Starts the sides that are images of their own as the first service of the compose file is
/// started, so that the image is the only difference.
fn like_the_first(
    found: &mut LookedUp,
    wanted: &[DuelService],
    first: &str,
    started: &ServiceImage,
) {
    for (side, wanted) in found.sides.iter_mut().zip(wanted) {
        if let ServiceSource::Image(own) = &wanted.service {
            side.service = ServiceSource::Image(ServiceImage {
                reference: own.reference.clone(),
                ..started.clone()
            });
            found.notes.push(format!(
                "{} gets the environment, the arguments and the volumes of {first}",
                side.name
            ));
        }
    }
}

/// The image of a service, built if need be.
async fn image(composed: &Composed, name: &str, folder: &Path) -> anyhow::Result<String> {
    match (&composed.build, &composed.image) {
        (Some(build), _) => built(build, name, folder).await,
        (None, Some(image)) => Ok(image.clone()),
        (None, None) => bail!("the service {name} of the compose file has no image"),
    }
}

/// A service that others call, as a dependency of the suite.
async fn dependency(name: String, composed: Composed, folder: &Path) -> anyhow::Result<Dependency> {
    let image = image(&composed, &name, folder).await?;
    Ok(Dependency {
        name,
        image: Some(image),
        command: composed.arguments,
        env: composed.env,
        port: composed.port,
        volumes: composed.volumes,
        ready_path: None,
        start_timeout: Dependency::START_TIMEOUT,
        setup: Vec::new(),
        reset: Vec::new(),
    })
}

/// The compose file that is named, or the first of the usual ones.
fn compose_file(named: Option<&Path>, workdir: &Path) -> anyhow::Result<PathBuf> {
    if let Some(path) = named {
        return Ok(path.to_owned());
    }
    let all = NAMES.iter().map(|name| workdir.join(name));
    let mut there = all.filter(|path| path.is_file());
    there.next().ok_or_else(|| {
        hinted(
            format_args!("no compose file is in {}", workdir.display()),
            "name it with --compose FILE",
        )
    })
}

/// Builds the image of a service as Compose does, by the engine's own program.
async fn built(build: &Build, service: &str, folder: &Path) -> anyhow::Result<String> {
    let reference = format!("bakeoff-compose/{}:latest", service.to_lowercase());
    let context = folder.join(&build.context);
    // The engine that runs the containers must be the one that has the image.
    let engine = find_engine().await?;
    let mut command = Command::new("docker");
    command.args(["--host", engine.host(), "build", "--tag", &reference]);
    if let Some(dockerfile) = &build.dockerfile {
        command.arg("--file").arg(context.join(dockerfile));
    }
    if let Some(target) = &build.target {
        command.args(["--target", target]);
    }
    for (name, value) in &build.args {
        command.arg("--build-arg").arg(format!("{name}={value}"));
    }
    command
        .arg(&context)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await;
    let output = output.map_err(|error| {
        hinted(
            format_args!("the image of {service} cannot be built: docker: {error}"),
            "install Docker's command line, or build it and name it as NAME=image:IMAGE",
        )
    })?;
    if !output.status.success() {
        // Without BuildKit the output of a build's own commands is on standard output.
        let mut last = last_lines(&output.stdout);
        last.extend(last_lines(&output.stderr));
        let last = last.join("\n    ");
        bail!("the image of {service} cannot be built:\n    {last}");
    }
    Ok(reference)
}

/// The last lines of a program's output that have a word.
fn last_lines(output: &[u8]) -> Vec<String> {
    const LINES: usize = 10;
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| (*line).to_owned()).collect()
}
