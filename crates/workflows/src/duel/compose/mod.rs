//! Services of a compose file as sides of a duel: their images are made, and the services that they
//! depend on become dependencies of the suite.

mod dotenv;
mod image;
mod keys;
mod merge;
mod mounts;
mod needs;
mod options;
mod paths;
mod ports;
mod project;
mod service;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod yaml;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::suite::container::{ContainerSettings, Healthcheck};
use bakeoff_model::suite::dependency::{Dependency, Ready};

use crate::duel::compose::image::image;
use crate::duel::compose::project::Project;
use crate::duel::compose::service::{Composed, Needed, Reading};
use crate::duel::definition::common_port;
use crate::service::{DuelService, ServiceImage, ServiceSource};

/// The names of a compose file, in the order in which Compose looks, each with that of a file that
/// overrides it.
const NAMES: [(&str, &str); 4] = [
    ("compose.yaml", "compose.override.yaml"),
    ("compose.yml", "compose.override.yml"),
    ("docker-compose.yaml", "docker-compose.override.yaml"),
    ("docker-compose.yml", "docker-compose.override.yml"),
];

/// The remedy for a service that cannot be started here.
const HINT: &str = "start it yourself, and name it NAME=url:URL: checked and loaded, not limited";

/// How long a dependency may take that has to end: others wait for it as long as it takes.
const TASK_LIMIT: Duration = Duration::from_secs(600);

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
/// folder. Those that are built of something are built, after all have been read. Sides that are
/// images of their own are started as the first service is. `port` is the one that the user names.
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
    let files = compose_files(file, workdir)?;
    let read = read(sides, &files, port, &mut found)?;
    let mut first: Option<(String, ServiceImage)> = None;
    for needed in read.needed {
        let dependency = dependency(needed).await?;
        found.dependencies.push(dependency);
    }
    for (at, name, composed) in read.sides {
        let image = ServiceImage {
            reference: image(composed.build.as_ref(), composed.image.as_ref(), &name).await?,
            entrypoint: composed.entrypoint,
            arguments: composed.arguments,
            env: composed.env,
            volumes: composed.volumes,
            container: Box::new(composed.container),
        };
        let side = &mut found.sides[at];
        first.get_or_insert_with(|| (side.name.clone(), image.clone()));
        side.service = ServiceSource::Image(image);
    }
    if let Some((name, image)) = first {
        like_the_first(&mut found, sides, &name, &image);
    }
    Ok(found)
}

/// The services that were read in a compose file.
struct Read {
    /// Sides by their places, with the names of their services.
    sides: Vec<(usize, String, Composed)>,
    needed: Vec<Needed>,
}

/// Reads all services before anything is built.
fn read(
    sides: &[DuelService],
    files: &[PathBuf],
    port: Option<u16>,
    found: &mut LookedUp,
) -> anyhow::Result<Read> {
    let file = files[0].display();
    let environment = |name: &str| env::var(name).ok();
    let project = Project::read(files, &environment);
    let mut reading = Reading {
        project: project.map_err(anyhow::Error::from)?,
        notes: Vec::new(),
        refused: Vec::new(),
        texts: BTreeMap::new(),
    };
    let mut all = Read {
        sides: Vec::new(),
        needed: Vec::new(),
    };
    for (at, side) in sides.iter().enumerate() {
        let ServiceSource::Compose(name) = &side.service else {
            continue;
        };
        let refused = |why: Problem| hinted(why.context(&file).context(&side.name), HINT);
        let composed = reading.service(name).map_err(refused)?;
        for needed in reading.needed(&composed).map_err(refused)? {
            let same = |one: &&mut Needed| one.name == needed.name;
            match all.needed.iter_mut().find(same) {
                Some(known) => {
                    known.ready = known.ready.max(needed.ready);
                    known.aliases.extend(needed.aliases);
                }
                None => all.needed.push(needed),
            }
        }
        // A port that is named is the one that they take from PORT.
        let own = composed.port.filter(|_| port.is_none());
        found.port = common_port(&side.name, own, found.port)?;
        if own.is_none() && port.is_none() {
            found.notes.push(format!(
                "the service {name} of the compose file has no port: 8080 is a guess, which \
                 --port replaces"
            ));
        }
        all.sides.push((at, name.clone(), composed));
    }
    found.notes.append(&mut reading.notes);
    let unset = reading.project.unset();
    if !unset.is_empty() {
        let names = Vec::from_iter(unset).join(", ");
        found.notes.push(format!(
            "variables of the compose file without a value, which are empty: {names}"
        ));
    }
    if reading.refused.is_empty() {
        if let Some(folder) = reading.texts.keys().find_map(|path| path.parent()) {
            keep(&reading.texts)?;
            let folder = folder.display();
            let note = format!("configs and secrets that are texts are kept in {folder}");
            found.notes.push(note);
        }
        return Ok(all);
    }
    let services = reading.refused.iter().map(|(name, reasons)| {
        format!(
            "{name} cannot be started as it is:\n    {}",
            reasons.join("\n    ")
        )
    });
    let services: Vec<String> = services.collect();
    let services = services.join("\n");
    Err(hinted(format_args!("{file}: {services}"), HINT))
}

/// Keeps the texts of configs and secrets in files. Other users cannot list them, and the user in a
/// container can read them.
fn keep(texts: &BTreeMap<PathBuf, String>) -> anyhow::Result<()> {
    for (path, text) in texts.iter().filter(|(path, _)| !path.exists()) {
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        fs::write(path, text)?;
        fs::set_permissions(path, Permissions::from_mode(0o444))?;
    }
    Ok(())
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
                "{} gets the environment, the arguments, the volumes and the other settings of \
                 {first}",
                side.name
            ));
        }
    }
}

/// A service that others call, as a dependency of the suite.
async fn dependency(needed: Needed) -> anyhow::Result<Dependency> {
    let Needed {
        name,
        ready,
        aliases,
        composed,
    } = needed;
    let image = image(composed.build.as_ref(), composed.image.as_ref(), &name).await?;
    let mut names: Vec<String> = Vec::new();
    for alias in composed.aliases.into_iter().chain(aliases) {
        if alias != name && !names.contains(&alias) {
            names.push(alias);
        }
    }
    // A check that nothing waits for would only be work of its service during the measurement.
    let healthcheck = composed.healthcheck.filter(|_| ready == Ready::Healthy);
    Ok(Dependency {
        name,
        image: Some(image),
        entrypoint: composed.entrypoint,
        command: composed.arguments,
        env: composed.env,
        volumes: composed.volumes,
        container: ContainerSettings {
            aliases: names,
            ..composed.container
        },
        ready: match (ready, composed.port) {
            (Ready::Started, Some(_)) => Ready::Connected,
            (ready, _) => ready,
        },
        port: composed.port,
        start_timeout: match ready {
            Ready::Connected | Ready::Started => Dependency::START_TIMEOUT,
            Ready::Healthy => health_limit(healthcheck.as_ref()),
            Ready::Completed => TASK_LIMIT,
        },
        healthcheck,
        ready_path: None,
        setup: Vec::new(),
        reset: Vec::new(),
    })
}

/// How long a health check takes at most until it has decided, with a minute to spare. The times of
/// an image's own check are not known here.
fn health_limit(check: Option<&Healthcheck>) -> Duration {
    const USUAL: Duration = Duration::from_secs(30);
    let Some(check) = check else {
        return TASK_LIMIT;
    };
    let time = |time: Option<bakeoff_model::parse::DurationText>| time.map(|time| time.0);
    let each = time(check.interval).unwrap_or(USUAL) + time(check.timeout).unwrap_or(USUAL);
    let start = time(check.start_period).unwrap_or_default();
    let checks = check.retries.unwrap_or(3).saturating_add(1);
    start.saturating_add(each.saturating_mul(checks)) + Dependency::START_TIMEOUT
}

/// The compose file that is named, or the first of the usual ones with its override.
fn compose_files(named: Option<&Path>, workdir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if let Some(path) = named {
        return Ok(vec![std::path::absolute(path)?]);
    }
    let all = NAMES
        .iter()
        .map(|(name, more)| [name, more].map(|one| workdir.join(one)));
    let mut there = all.filter(|[path, _]| path.is_file());
    let [path, more] = there.next().ok_or_else(|| {
        hinted(
            format_args!("no compose file is in {}", workdir.display()),
            "name it with --compose FILE",
        )
    })?;
    let more = Some(more).filter(|more| more.is_file());
    let paths = std::iter::once(path).chain(more).map(std::path::absolute);
    Ok(paths.collect::<Result<_, _>>()?)
}
