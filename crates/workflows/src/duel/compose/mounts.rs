//! Files and folders that a service sees: its volumes, secrets and configs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_model::parse::digest_with;
use bakeoff_model::suite::volume::Volume;
use serde_json::{Map, Value};

use crate::duel::compose::paths::{absolute, is_path};
use crate::duel::compose::project::Project;
use crate::duel::compose::values::asks;

/// The files and folders that a service sees, and those that it can write to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Mounts {
    /// Files and folders of this host.
    pub(super) volumes: Vec<Volume>,
    /// Folders in memory: `PATH` or `PATH:OPTIONS`.
    pub(super) tmpfs: Vec<String>,
    /// Volumes of the project. They start empty, as everything in a container does.
    pub(super) empty: Vec<String>,
    /// Which of them would not be empty with Compose, or are no volumes in the file: a sentence
    /// each.
    pub(super) notes: Vec<String>,
    /// The texts of secrets and configs that are no files: the path of each on this host.
    pub(super) texts: BTreeMap<PathBuf, String>,
}

/// Reads the volumes, secrets and configs of a service. What cannot be given to it is added to
/// `refused`, a fragment each.
///
/// # Errors
/// A source is missing on this host, or an entry is not understood.
pub(super) fn mounts(
    project: &Project<'_>,
    service: &Map<String, Value>,
    refused: &mut Vec<String>,
) -> Result<Mounts, Problem> {
    let mut mounts = Mounts::default();
    for entry in list(service, "volumes")? {
        match entry {
            Value::Object(table) => mounts.add_table(project, table, refused)?,
            entry => mounts.add_text(project, &as_text(entry).unwrap_or_default())?,
        }
    }
    for (kind, folder) in [("secrets", "/run/secrets/"), ("configs", "/")] {
        for entry in list(service, kind)? {
            let of = |key: &str| entry.get(key).and_then(as_text);
            let name = as_text(entry).or_else(|| of("source")).unwrap_or_default();
            match source_of(project, kind, &name)? {
                Ok(source) => {
                    let target = of("target").unwrap_or_else(|| name.clone());
                    let target = match target.starts_with('/') {
                        true => target,
                        false => format!("{folder}{target}"),
                    };
                    mounts.add_source(source, target)?;
                }
                Err(why) => refused.push(format!("`{kind}`: {name} {why}")),
            }
        }
    }
    Ok(mounts)
}

impl Mounts {
    fn add_source(&mut self, source: Source, target: String) -> Result<(), Problem> {
        self.volumes.push(match source {
            Source::File(file) => there(file, target)?,
            Source::Text(text) => {
                // The same text is kept once, so that a suite that is saved finds it.
                let digest = digest_with("", "", text.as_bytes());
                let path = bakeoff_build::cache_dir().join("compose").join(digest);
                let source = path.display().to_string();
                self.texts.insert(path, text);
                Volume { source, target }
            }
        });
        Ok(())
    }

    fn add_text(&mut self, project: &Project<'_>, text: &str) -> Result<(), Problem> {
        match text.split_once(':') {
            None => self.empty.push(text.to_owned()),
            Some((source, rest)) => {
                let target = rest.split(':').next().unwrap_or(rest).to_owned();
                match is_path(source) {
                    true => self.bind(source.to_owned(), target)?,
                    false => self.name(project, source, target)?,
                }
            }
        }
        Ok(())
    }

    /// Adds a file or folder of this host. Compose makes a folder that is not there; what has the
    /// name of a file is more likely missing by mistake.
    fn bind(&mut self, source: String, target: String) -> Result<(), Problem> {
        let path = Path::new(&source);
        let is_file = path.extension().is_some_and(|ending| ending != "d");
        if path.exists() || is_file {
            self.volumes.push(there(source, target)?);
        } else {
            self.notes
                .push(format!("there is no {source}: {target} starts empty"));
            self.empty.push(target);
        }
        Ok(())
    }

    /// Adds a volume of the project, which may be a folder of this host by its options.
    fn name(&mut self, project: &Project<'_>, name: &str, target: String) -> Result<(), Problem> {
        let entry = project.entry("volumes", name)?;
        let table = entry.as_ref().map(|entry| &entry.table);
        let option = |key: &str| {
            let options = table?.get("driver_opts")?;
            options.get(key).and_then(as_text)
        };
        let is_bound = option("o").is_some_and(|o| o.split(',').any(|one| one.ends_with("bind")));
        match (option("device").filter(|_| is_bound), &entry) {
            (Some(device), Some(entry)) => {
                return self.bind(absolute(&device, entry.folder()), target);
            }
            (_, Some(entry)) if entry.table.get("external").is_some_and(asks) => {
                let note = format!("{name} is a volume outside of the file: {target} starts empty");
                self.notes.push(note);
            }
            _ => {}
        }
        self.empty.push(target);
        Ok(())
    }

    fn add_table(
        &mut self,
        project: &Project<'_>,
        table: &Map<String, Value>,
        refused: &mut Vec<String>,
    ) -> Result<(), Problem> {
        let text = |key: &str| table.get(key).and_then(as_text);
        let target = text("target").ok_or("a volume has no `target`")?;
        match text("type").as_deref() {
            None | Some("volume") => match text("source") {
                Some(name) => self.name(project, &name, target)?,
                None => self.empty.push(target),
            },
            Some("tmpfs") => {
                let own = table.get("tmpfs");
                let option = |key: &str| own.and_then(|own| own.get(key)).and_then(as_text);
                let options = ["size", "mode"]
                    .into_iter()
                    .filter_map(|key| Some(format!("{key}={}", option(key)?)));
                let options: Vec<String> = options.collect();
                self.tmpfs.push(match options.is_empty() {
                    true => target,
                    false => format!("{target}:{}", options.join(",")),
                });
            }
            Some("bind") => {
                let source = text("source").ok_or("a volume has no `source`")?;
                self.bind(source, target)?;
            }
            Some(kind) => refused.push(format!("`volumes`: {target} is of the type {kind}")),
        }
        Ok(())
    }
}

fn list<'v>(service: &'v Map<String, Value>, key: &str) -> Result<&'v [Value], Problem> {
    match service.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(format!("`{key}` is not a list").into()),
    }
}

/// A file or folder of this host that is there.
fn there(source: String, target: String) -> Result<Volume, Problem> {
    match Path::new(&source).exists() {
        true => Ok(Volume { source, target }),
        false => Err(format!("there is no {source}").into()),
    }
}

/// The source of a secret or config.
enum Source {
    File(String),
    Text(String),
}

/// The file or the text of a secret or config, or why there is none, as the end of a sentence.
fn source_of(
    project: &Project<'_>,
    kind: &str,
    name: &str,
) -> Result<Result<Source, &'static str>, Problem> {
    let Some(entry) = project.entry(kind, name)? else {
        return Ok(Err("is not in the file"));
    };
    let of = |key: &str| entry.table.get(key).and_then(as_text);
    if let Some(variable) = of("environment") {
        let value = project.variable(&entry, &variable).map(Source::Text);
        return Ok(value.ok_or("is a variable that is not set"));
    }
    Ok(match (of("file"), of("content")) {
        (Some(file), _) => Ok(Source::File(absolute(&file, entry.folder()))),
        (None, Some(text)) => Ok(Source::Text(text)),
        _ if entry.table.get("external").is_some_and(asks) => Err("is outside of the file"),
        _ => Err("is not a file"),
    })
}
