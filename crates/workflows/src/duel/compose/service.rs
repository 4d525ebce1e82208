//! Services of a compose file: what the Compose Specification says of one of them, as far as a duel
//! gives it to a container. Whatever else would make it another service is refused, and not left
//! out silently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_model::suite::container::{ContainerSettings, Healthcheck};
use bakeoff_model::suite::dependency::Ready;
use bakeoff_model::suite::volume::Volume;
use serde_json::{Map, Value};

use crate::duel::compose::dotenv::{raw, variables_of};
use crate::duel::compose::image::{Build, build};
use crate::duel::compose::keys::refusals;
use crate::duel::compose::mounts::mounts;
use crate::duel::compose::needs::{Need, healthcheck, needs};
use crate::duel::compose::options::{aliases, settings};
use crate::duel::compose::ports::port;
use crate::duel::compose::project::{Found, Project};
use crate::duel::compose::values::{is_true, pairs, words};

/// A service by its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Composed {
    pub(super) image: Option<String>,
    pub(super) build: Option<Build>,
    pub(super) env: BTreeMap<String, String>,
    /// Replaces the entry point of the image; empty for its own.
    pub(super) entrypoint: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// The port on which the service listens in its container.
    pub(super) port: Option<u16>,
    /// Files and folders of this host that the service sees.
    pub(super) volumes: Vec<Volume>,
    pub(super) container: ContainerSettings,
    /// Other names by which services reach it.
    pub(super) aliases: Vec<String>,
    pub(super) healthcheck: Option<Healthcheck>,
    /// The services that this one calls.
    pub(super) needs: Vec<Need>,
}

/// A service on which another one depends.
#[derive(Debug)]
pub(super) struct Needed {
    pub(super) name: String,
    pub(super) ready: Ready,
    /// More names by which those that depend on it reach it.
    pub(super) aliases: Vec<String>,
    pub(super) composed: Composed,
}

/// Reads services of a project, and keeps the reasons for which they cannot be started here.
pub(super) struct Reading<'a> {
    pub(super) project: Project<'a>,
    /// Notes for the user, a sentence each.
    pub(super) notes: Vec<String>,
    /// The name of a service, and its reasons, a fragment each.
    pub(super) refused: Vec<(String, Vec<String>)>,
    /// Texts that services see as files, by their paths on this host.
    pub(super) texts: BTreeMap<PathBuf, String>,
}

impl Reading<'_> {
    /// Reads a service.
    ///
    /// # Errors
    /// It is not there, or a value is not understood.
    pub(super) fn service(&mut self, name: &str) -> Result<Composed, Problem> {
        let found = self.project.service(name)?;
        let service = &found.table;
        let mut refused = refusals(service);
        let mounts = mounts(&self.project, service, &mut refused)?;
        let env = environment(&self.project, &found)?;
        let port = port(service)?;
        let entrypoint = words(service.get("entrypoint"), "entrypoint")?;
        let arguments = words(service.get("command"), "command")?.unwrap_or_default();
        let (entrypoint, arguments) = match entrypoint {
            None => (Vec::new(), arguments),
            Some(none) if none.iter().all(String::is_empty) => {
                if arguments.is_empty() {
                    refused.push("`entrypoint`: it is empty, and there is no `command`".into());
                }
                // Without an entry point the command is the program.
                (arguments, Vec::new())
            }
            Some(words) => (words, arguments),
        };
        let composed = Composed {
            image: service.get("image").and_then(as_text),
            build: build(&self.project, &found, &mut refused)?,
            // A service listens on the port that it finds in PORT.
            port: port.or_else(|| env.get("PORT")?.parse().ok()),
            env,
            entrypoint,
            arguments,
            container: settings(service, &mounts)?,
            volumes: mounts.volumes,
            aliases: aliases(service),
            healthcheck: healthcheck(service)?,
            needs: needs(service)?,
        };
        self.texts.extend(mounts.texts);
        for note in mounts.notes {
            let note = format!("the service {name} of the compose file: {note}");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        if composed.image.is_none() && composed.build.is_none() {
            refused.push("it has neither `image` nor `build`".to_owned());
        }
        if !refused.is_empty() && self.refused.iter().all(|(known, _)| known != name) {
            self.refused.push((name.to_owned(), refused));
        }
        Ok(composed)
    }

    /// Reads the services that one depends on, directly or not, each after those that it depends
    /// on.
    ///
    /// # Errors
    /// One of them is not there, depends on itself, or is not understood.
    pub(super) fn needed(&mut self, composed: &Composed) -> Result<Vec<Needed>, Problem> {
        let mut found: Vec<Needed> = Vec::new();
        self.collect(composed, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn collect(
        &mut self,
        composed: &Composed,
        path: &mut Vec<String>,
        found: &mut Vec<Needed>,
    ) -> Result<(), Problem> {
        for need in &composed.needs {
            let Need { name, .. } = need;
            if path.contains(name) {
                return Err(format!("{name} depends on itself").into());
            }
            if let Some(known) = found.iter_mut().find(|known| known.name == *name) {
                known.ready = known.ready.max(need.ready);
                known.aliases.extend(need.alias.clone());
                continue;
            }
            if need.is_optional && !self.project.has(name) {
                continue;
            }
            let needed = self.service(name)?;
            path.push(name.clone());
            self.collect(&needed, path, found)?;
            path.pop();
            found.push(Needed {
                name: name.clone(),
                ready: need.ready,
                aliases: Vec::from_iter(need.alias.clone()),
                composed: needed,
            });
        }
        Ok(())
    }
}

/// The environment of a service: that of its files, and its own. A variable without a value has
/// that of the caller, if it is there.
fn environment(
    project: &Project<'_>,
    found: &Found<'_>,
) -> Result<BTreeMap<String, String>, Problem> {
    let mut env: BTreeMap<String, String> = BTreeMap::new();
    for EnvFile { path, is_raw } in env_files(&found.table)? {
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let own = {
            let known = |name: &str| {
                let known = project.variable(found, name);
                known.or_else(|| env.get(name).cloned())
            };
            match is_raw {
                true => raw(&text),
                false => variables_of(&text, &known).map_err(|why| why.context(&path))?,
            }
        };
        env.extend(own);
    }
    let own = pairs(found.table.get("environment"), "environment")?;
    env.extend(project.valued(found, own));
    Ok(env)
}

struct EnvFile {
    path: String,
    is_raw: bool,
}

/// The files of variables: a path, or a list of paths and tables `path`, `required`, `format`.
fn env_files(service: &Map<String, Value>) -> Result<Vec<EnvFile>, Problem> {
    let list = match service.get("env_file") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.clone(),
        Some(one) => vec![one.clone()],
    };
    let mut files = Vec::new();
    for one in &list {
        let path = as_text(one).or_else(|| one.get("path").and_then(as_text));
        let path = path.ok_or("`env_file` has something that is not a path")?;
        let is_optional = one.get("required").is_some_and(|value| !is_true(value));
        if !is_optional || Path::new(&path).is_file() {
            let is_raw = one.get("format").and_then(as_text).as_deref() == Some("raw");
            files.push(EnvFile { path, is_raw });
        }
    }
    Ok(files)
}
