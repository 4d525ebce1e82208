//! A compose file with everything that it is made of: its override, the files that it includes and
//! those whose services it extends. Only the service that is asked for is filled in: what another
//! one lacks is no mistake here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use serde_json::{Map, Value};

use crate::duel::compose::dotenv::variables_of;
use crate::duel::compose::paths::{absolute, made_absolute};
use crate::duel::compose::variables::{Variables, filled};
use crate::duel::compose::{merge, yaml};

/// The name of the project in variables.
const PROJECT_NAME: &str = "COMPOSE_PROJECT_NAME";

/// A file with those that it includes.
pub(super) struct Project<'a> {
    /// Returns the value of an environment variable of the caller.
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// The file itself comes first.
    parts: Vec<Part>,
    /// The variables that had no value when they were filled in.
    unset: RefCell<BTreeSet<String>>,
}

/// A file that is read, or several that override each other.
#[derive(Default)]
struct Part {
    path: PathBuf,
    /// The folder to which paths are relative.
    folder: PathBuf,
    document: Map<String, Value>,
    /// The values of variables that the caller does not have.
    defaults: BTreeMap<String, String>,
}

/// A service or another entry, filled in.
pub(super) struct Found<'p> {
    /// The keys of the entry.
    pub(super) table: Map<String, Value>,
    part: &'p Part,
}

impl<'a> Project<'a> {
    /// Reads a file and what it includes; the later ones of several files override the earlier.
    ///
    /// # Errors
    /// A file cannot be read or is no compose file.
    pub(super) fn read(
        paths: &[PathBuf],
        environment: &'a dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Problem> {
        let mut project = Self {
            environment,
            parts: Vec::new(),
            unset: RefCell::default(),
        };
        let folder = paths.first().and_then(|path| path.parent());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let files = vec![folder.join(".env")];
        project.add(paths, folder, &files, BTreeMap::new())?;
        Ok(project)
    }

    /// Adds files that override each other, and what they include.
    fn add(
        &mut self,
        paths: &[PathBuf],
        folder: PathBuf,
        env_files: &[PathBuf],
        mut defaults: BTreeMap<String, String>,
    ) -> Result<(), Problem> {
        let path = paths.first().cloned().unwrap_or_default();
        if self.parts.iter().any(|part| part.path == path) {
            return Ok(());
        }
        for file in env_files.iter().filter(|file| file.is_file()) {
            let known = |name: &str| self.value(&defaults, name);
            let own = variables_of(&text(file)?, &known);
            let own = own.map_err(|why| why.context(file.display()))?;
            for (name, value) in own {
                defaults.entry(name).or_insert(value);
            }
        }
        let mut document = Map::new();
        for path in paths {
            document = merge::documents(document, read(path)?);
        }
        let name = document.get("name").and_then(as_text);
        let name = name.or_else(|| Some(folder.file_name()?.to_str()?.to_lowercase()));
        if let Some(name) = name {
            let value = |name: &str| self.value(&defaults, name);
            let name = filled(&name, &Variables::new(&value))?;
            defaults.entry(PROJECT_NAME.to_owned()).or_insert(name);
        }
        let part = Part {
            path,
            folder,
            document,
            defaults,
        };
        let included = self.included(&part)?;
        let defaults = part.defaults.clone();
        self.parts.push(part);
        for Include { paths, folder, env } in included {
            self.add(&paths, folder, &env, defaults.clone())?;
        }
        Ok(())
    }

    fn included(&self, part: &Part) -> Result<Vec<Include>, Problem> {
        let list = match part.document.get("include") {
            Some(Value::Array(list)) => list.as_slice(),
            _ => &[],
        };
        let included = list.iter().map(|one| {
            let one = self.filled(one, part)?;
            let texts = |value: Option<&Value>| -> Vec<PathBuf> {
                let list = match value {
                    Some(Value::Array(list)) => list.iter().filter_map(as_text).collect(),
                    Some(one) => Vec::from_iter(as_text(one)),
                    None => Vec::new(),
                };
                let paths = list.iter().map(|path| absolute(path, &part.folder).into());
                paths.collect()
            };
            let paths = texts(one.get("path").or(Some(&one)));
            let first = paths
                .first()
                .ok_or("`include` has something that is not a path")?;
            let folder = texts(one.get("project_directory")).into_iter().next();
            let folder = folder.or_else(|| first.parent().map(Path::to_owned));
            let folder = folder.unwrap_or_default();
            let env = match texts(one.get("env_file")) {
                none if none.is_empty() => vec![folder.join(".env")],
                files => files,
            };
            Ok(Include { paths, folder, env })
        });
        included.collect()
    }

    /// Returns a service, with what it extends, its variables filled in, and its paths absolute.
    ///
    /// # Errors
    /// There is no such service, or a variable of it has no value.
    pub(super) fn service(&self, name: &str) -> Result<Found<'_>, Problem> {
        let services = |part: &'_ Part| part.document.get("services").cloned();
        let has = |part: &&Part| services(part).is_some_and(|all| all.get(name).is_some());
        let Some(part) = self.parts.iter().find(has) else {
            let names = self.parts.iter().filter_map(services);
            let names = names.filter_map(|all| Some(all.as_object()?.keys().cloned().collect()));
            let names: Vec<String> = names.flat_map(|some: Vec<String>| some).collect();
            if names.is_empty() {
                return Err("no compose file: it has no `services`".into());
            }
            return Err(format!("no service {name}; it has {}", names.join(", ")).into());
        };
        let table = self.extended(part, name, &mut Vec::new())?;
        let table = match merge::unmarked(Value::Object(table)) {
            Some(Value::Object(table)) => table,
            _ => Map::new(),
        };
        Ok(Found { table, part })
    }

    /// Whether there is a service of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        let services = self
            .parts
            .iter()
            .filter_map(|part| part.document.get("services"));
        services.filter_map(|all| all.get(name)).next().is_some()
    }

    fn extended(
        &self,
        part: &Part,
        name: &str,
        seen: &mut Vec<(PathBuf, String)>,
    ) -> Result<Map<String, Value>, Problem> {
        let this = (part.path.clone(), name.to_owned());
        if seen.contains(&this) {
            return Err(format!("{name} extends itself").into());
        }
        seen.push(this);
        let service = part.document.get("services").and_then(|all| all.get(name));
        let mut service = match service {
            Some(table @ Value::Object(_)) => match self.filled(table, part)? {
                Value::Object(table) => table,
                _ => Map::new(),
            },
            Some(_) => return Err(format!("the service {name} is not a table").into()),
            None => {
                let file = part.path.display();
                return Err(format!("it extends {name}, which is not in {file}").into());
            }
        };
        made_absolute(&mut service, &part.folder);
        let Some(base) = service.remove("extends").filter(|base| !base.is_null()) else {
            return Ok(service);
        };
        let text = |key: &str| base.get(key).and_then(as_text);
        let name = as_text(&base).or_else(|| text("service"));
        let name = name.ok_or("`extends` names no service")?;
        let base = match text("file") {
            None => self.extended(part, &name, seen)?,
            Some(file) => {
                let path = PathBuf::from(absolute(&file, &part.folder));
                let other = Part {
                    document: read(&path)?,
                    folder: path.parent().unwrap_or(Path::new(".")).to_owned(),
                    path,
                    defaults: part.defaults.clone(),
                };
                self.extended(&other, &name, seen)?
            }
        };
        Ok(merge::services(base, service))
    }

    /// Returns an entry of `secrets`, `configs` or `volumes`; `None` if there is none.
    ///
    /// # Errors
    /// A variable of it has no value.
    pub(super) fn entry(&self, kind: &str, name: &str) -> Result<Option<Found<'_>>, Problem> {
        for part in &self.parts {
            let entry = part.document.get(kind).and_then(|all| all.get(name));
            if let Some(entry) = entry {
                let table = match self.filled(entry, part)? {
                    Value::Object(table) => table,
                    _ => Map::new(),
                };
                return Ok(Some(Found { table, part }));
            }
        }
        Ok(None)
    }

    /// Returns the value of a variable where something was found.
    pub(super) fn variable(&self, found: &Found<'_>, name: &str) -> Option<String> {
        self.value(&found.part.defaults, name)
    }

    /// Returns the pairs of which the value is known: those without one have that of the caller, if
    /// it is there.
    pub(super) fn valued(
        &self,
        found: &Found<'_>,
        pairs: Vec<(String, Option<String>)>,
    ) -> BTreeMap<String, String> {
        let known = pairs.into_iter().filter_map(|(name, value)| {
            let value = value.or_else(|| self.variable(found, &name))?;
            Some((name, value))
        });
        known.collect()
    }

    /// Returns the names of the variables that had no value, and no other text instead, when they
    /// were filled in.
    pub(super) fn unset(&self) -> BTreeSet<String> {
        self.unset.borrow().clone()
    }

    fn value(&self, defaults: &BTreeMap<String, String>, name: &str) -> Option<String> {
        (self.environment)(name).or_else(|| defaults.get(name).cloned())
    }

    /// The value with what variables stand for.
    fn filled(&self, value: &Value, part: &Part) -> Result<Value, Problem> {
        Ok(match value {
            Value::String(text) => {
                let variables = Variables {
                    value: &|name| self.value(&part.defaults, name),
                    unset: &|name| {
                        self.unset.borrow_mut().insert(name.to_owned());
                    },
                };
                Value::String(filled(text, &variables)?)
            }
            Value::Array(list) => {
                let list = list.iter().map(|one| self.filled(one, part));
                Value::Array(list.collect::<Result<_, _>>()?)
            }
            Value::Object(table) => {
                let pairs = table
                    .iter()
                    .map(|(key, one)| Ok((key.clone(), self.filled(one, part)?)));
                Value::Object(pairs.collect::<Result<_, Problem>>()?)
            }
            other => other.clone(),
        })
    }
}

impl Found<'_> {
    /// Returns the folder to which its paths are relative.
    pub(super) fn folder(&self) -> &Path {
        &self.part.folder
    }
}

/// Files that override each other, as another file includes them.
struct Include {
    paths: Vec<PathBuf>,
    folder: PathBuf,
    env: Vec<PathBuf>,
}

fn text(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn read(path: &Path) -> Result<Map<String, Value>, Problem> {
    let document = yaml::document(&text(path)?);
    match document.map_err(|why| why.context(path.display()))? {
        Value::Object(table) => Ok(table),
        _ => Ok(Map::new()),
    }
}
