//! Services of a compose file: what the Compose Specification says of one of them, as far as a duel
//! gives it to a container. Whatever else would make it another service is refused, and not left
//! out silently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_model::suite::volume::Volume;
use serde_json::{Map, Value};

use crate::duel::compose::variables::{filled, variables_of};

/// The keys of a service that are taken.
const TAKEN: [&str; 9] = [
    "build",
    "command",
    "depends_on",
    "env_file",
    "environment",
    "expose",
    "image",
    "ports",
    "volumes",
];
/// The keys that do not affect its responses, or that the duel decides.
const WITHOUT_EFFECT: [&str; 26] = [
    "annotations",
    "attach",
    "container_name",
    "cpu_count",
    "cpu_percent",
    "cpu_shares",
    "cpus",
    "cpuset",
    "deploy",
    "develop",
    "healthcheck",
    "hostname",
    "labels",
    "logging",
    "mem_limit",
    "mem_reservation",
    "memswap_limit",
    "networks",
    "profiles",
    "pull_policy",
    "restart",
    "scale",
    "stdin_open",
    "stop_grace_period",
    "stop_signal",
    "tty",
];
/// The keys of an image's build that are taken.
const BUILD_TAKEN: [&str; 4] = ["args", "context", "dockerfile", "target"];

/// A service by its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Composed {
    pub(super) image: Option<String>,
    pub(super) build: Option<Build>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) arguments: Vec<String>,
    /// The port on which the service listens in its container.
    pub(super) port: Option<u16>,
    /// Files and folders of this host that the service sees.
    pub(super) volumes: Vec<Volume>,
    /// The services that this one calls.
    pub(super) depends_on: Vec<String>,
}

/// The sources of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Build {
    pub(super) context: String,
    pub(super) dockerfile: Option<String>,
    pub(super) target: Option<String>,
    pub(super) args: BTreeMap<String, String>,
}

/// A file as one value, anchors and merges resolved.
pub(super) fn document(text: &str) -> Result<Value, Problem> {
    let yaml: Result<serde_norway::Value, _> = serde_norway::from_str(text);
    let mut yaml = yaml.map_err(|error| format!("no YAML: {error}"))?;
    let merged = yaml.apply_merge();
    merged.map_err(|error| format!("no YAML: {error}"))?;
    serde_json::to_value(yaml).map_err(|error| format!("no compose file: {error}").into())
}

/// Reads services of one file.
pub(super) struct Reading<'a> {
    /// The folder to which paths are relative.
    pub(super) folder: &'a Path,
    /// Returns the value of `$NAME`.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Reading<'_> {
    pub(super) fn service(&self, document: &Value, name: &str) -> Result<Composed, Problem> {
        let services = document.get("services").and_then(Value::as_object);
        let services = services.ok_or("no compose file: it has no `services`")?;
        let Some(Value::Object(service)) = services.get(name) else {
            let list: Vec<&str> = services.keys().map(String::as_str).collect();
            return Err(format!("no service {name}; it has {}", list.join(", ")).into());
        };
        let service: Map<String, Value> = service
            .iter()
            .map(|(key, value)| Ok((key.clone(), self.filled(value)?)))
            .collect::<Result<_, Problem>>()?;
        refuse(&service, name)?;
        let mut env = BTreeMap::new();
        for path in self.env_files(&service)? {
            let text = fs::read_to_string(self.folder.join(&path));
            let text = text.map_err(|error| format!("{path}: {error}"))?;
            env.extend(variables_of(&text));
        }
        env.extend(self.table(service.get("environment"), "environment")?);
        Ok(Composed {
            image: service.get("image").and_then(as_text),
            build: self.build(service.get("build"))?,
            env,
            arguments: words(service.get("command"))?,
            port: port(&service)?,
            volumes: self.volumes(service.get("volumes"))?,
            depends_on: depends_on(service.get("depends_on"))?,
        })
    }

    /// The services that one depends on, directly or not, each after those that it depends on.
    pub(super) fn needed(
        &self,
        document: &Value,
        composed: &Composed,
    ) -> Result<Vec<(String, Composed)>, Problem> {
        let mut found: Vec<(String, Composed)> = Vec::new();
        let mut path: Vec<String> = Vec::new();
        self.collect(document, composed, &mut path, &mut found)?;
        Ok(found)
    }

    fn collect(
        &self,
        document: &Value,
        composed: &Composed,
        path: &mut Vec<String>,
        found: &mut Vec<(String, Composed)>,
    ) -> Result<(), Problem> {
        for name in &composed.depends_on {
            if path.contains(name) {
                return Err(format!("{name} depends on itself").into());
            }
            if found.iter().any(|(known, _)| known == name) {
                continue;
            }
            let needed = self.service(document, name)?;
            path.push(name.clone());
            self.collect(document, &needed, path, found)?;
            path.pop();
            found.push((name.clone(), needed));
        }
        Ok(())
    }

    /// Files and folders of this host among the volumes. Others start empty, as everything in a
    /// container does.
    fn volumes(&self, value: Option<&Value>) -> Result<Vec<Volume>, Problem> {
        let list = match value {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err("`volumes` is not a list".into()),
        };
        let bound = list.iter().filter_map(|one| match one {
            Value::Object(table) => {
                let text = |key: &str| table.get(key).and_then(as_text);
                (text("type").as_deref() == Some("bind")).then(|| (text("source"), text("target")))
            }
            one => {
                let text = as_text(one)?;
                let (source, target) = text.split_once(':')?;
                let target = target.split(':').next().unwrap_or(target);
                let is_path = source.starts_with(['.', '/', '~']);
                is_path.then(|| (Some(source.to_owned()), Some(target.to_owned())))
            }
        });
        let mounts = bound.map(|(source, target)| {
            let pair = source.zip(target);
            let (source, target) = pair.ok_or("a volume has no `source` or no `target`")?;
            let source = match (source.strip_prefix("~/"), env::var("HOME")) {
                (Some(rest), Ok(home)) => PathBuf::from(home).join(rest),
                _ => self.folder.join(&source),
            };
            let source = std::path::absolute(&source).unwrap_or(source);
            if !source.exists() {
                return Err(format!("there is no {}", source.display()).into());
            }
            let source = source.display().to_string();
            Ok(Volume { source, target })
        });
        mounts.collect()
    }

    fn build(&self, build: Option<&Value>) -> Result<Option<Build>, Problem> {
        let table = match build {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(table)) => table,
            Some(context) => {
                return Ok(Some(Build {
                    context: as_text(context).ok_or("`build` is neither a folder nor a table")?,
                    ..Build::default()
                }));
            }
        };
        if let Some(key) = table
            .keys()
            .find(|key| !BUILD_TAKEN.contains(&key.as_str()))
        {
            return Err(format!("it is built with `{key}`, which a duel does not know").into());
        }
        let text = |key: &str| table.get(key).and_then(as_text);
        Ok(Some(Build {
            context: text("context").unwrap_or_else(|| ".".to_owned()),
            dockerfile: text("dockerfile"),
            target: text("target"),
            args: self.table(table.get("args"), "args")?,
        }))
    }

    /// A table of variables, or a list of `NAME=VALUE`. What has no value has that of our own
    /// environment, if it is there.
    fn table(&self, value: Option<&Value>, key: &str) -> Result<BTreeMap<String, String>, Problem> {
        let pairs: Vec<(String, Option<String>)> = match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(table)) => {
                let pairs = table
                    .iter()
                    .map(|(name, value)| (name.clone(), as_text(value)));
                pairs.collect()
            }
            Some(Value::Array(list)) => {
                let texts = list.iter().filter_map(as_text);
                let pairs = texts.map(|text| match text.split_once('=') {
                    Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                    None => (text, None),
                });
                pairs.collect()
            }
            Some(_) => return Err(format!("`{key}` is neither a table nor a list").into()),
        };
        let known = pairs.into_iter().filter_map(|(name, value)| {
            let value = value.or_else(|| (self.variable)(&name))?;
            Some((name, value))
        });
        Ok(known.collect())
    }

    /// The files of variables: a path, or a list of paths and tables `path`, `required`.
    fn env_files(&self, service: &Map<String, Value>) -> Result<Vec<String>, Problem> {
        let list = match service.get("env_file") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) => list.clone(),
            Some(one) => vec![one.clone()],
        };
        let mut paths = Vec::new();
        for one in &list {
            let path = as_text(one).or_else(|| one.get("path").and_then(as_text));
            let path = path.ok_or("`env_file` has something that is not a path")?;
            let optional = one.get("required") == Some(&Value::Bool(false));
            if !optional || self.folder.join(&path).is_file() {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// The value with what variables stand for.
    fn filled(&self, value: &Value) -> Result<Value, Problem> {
        Ok(match value {
            Value::String(text) => Value::String(filled(text, self.variable)?),
            Value::Array(list) => Value::Array(
                list.iter()
                    .map(|one| self.filled(one))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(table) => {
                let pairs = table
                    .iter()
                    .map(|(key, one)| Ok((key.clone(), self.filled(one)?)));
                Value::Object(pairs.collect::<Result<_, Problem>>()?)
            }
            other => other.clone(),
        })
    }
}

/// Says what of a service a container here would lack.
fn refuse(service: &Map<String, Value>, name: &str) -> Result<(), Problem> {
    let known = |key: &String| {
        let key = key.as_str();
        TAKEN.contains(&key) || WITHOUT_EFFECT.contains(&key) || key.starts_with("x-")
    };
    match service.keys().find(|key| !known(key)) {
        Some(key) => Err(format!("{name} has `{key}`, which a duel does not give it").into()),
        None => Ok(()),
    }
}

/// The services that a service depends on.
fn depends_on(value: Option<&Value>) -> Result<Vec<String>, Problem> {
    match value {
        Some(Value::Array(list)) => Ok(list.iter().filter_map(as_text).collect()),
        Some(Value::Object(table)) => {
            let mut services = table.iter();
            let job = services.find(|(_, one)| {
                one.get("condition").and_then(Value::as_str)
                    == Some("service_completed_successfully")
            });
            match job {
                Some((name, _)) => Err(format!(
                    "{name} has to end before the service starts, and a dependency keeps running"
                )
                .into()),
                None => Ok(table.keys().cloned().collect()),
            }
        }
        _ => Ok(Vec::new()),
    }
}

/// The words of a command.
fn words(command: Option<&Value>) -> Result<Vec<String>, Problem> {
    match command {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list.iter().filter_map(as_text).collect()),
        Some(text) => {
            let words = as_text(text).and_then(|text| shlex::split(&text));
            words.ok_or_else(|| "`command` has a quote or a backslash without an end".into())
        }
    }
}

/// The first port of the container that is published, or else exposed.
fn port(service: &Map<String, Value>) -> Result<Option<u16>, Problem> {
    let lists = ["ports", "expose"].map(|key| service.get(key).and_then(Value::as_array));
    let Some(first) = lists.into_iter().flatten().find_map(|list| list.first()) else {
        return Ok(None);
    };
    let text = first
        .get("target")
        .and_then(as_text)
        .or_else(|| as_text(first));
    let text = text.unwrap_or_default();
    let inside = text.rsplit(':').next().unwrap_or_default();
    let number = inside.split('/').next().unwrap_or_default().parse();
    number
        .map(Some)
        .map_err(|_| format!("`{text}` is not a port that a duel understands").into())
}

#[cfg(test)]
mod tests {
    use bakeoff_base::problem::Problem;
    use std::collections::BTreeMap;
    use std::fs;

    use super::{Build, Composed, Reading, document};
    use crate::duel::compose::variables::tests::variable;
    use bakeoff_model::suite::volume::Volume;

    const FILE: &str = r#"
x-common: &common
  restart: always
  environment: { MODE: fast, PORT: 9000, TAG: , GONE: }
services:
  web:
    <<: *common
    image: shop:${TAG:-latest}
    command: serve --name 'a b' $$HOME
    ports: ["127.0.0.1:80:9000/tcp", "81:9001"]
    healthcheck: { test: ["CMD", "true"] }
  built:
    build: { context: ./app, dockerfile: Dockerfile.prod, args: ["A=1"] }
    env_file: web.env
    environment: ["MODE=slow"]
    expose: ["9000"]
    ports: [{ target: 8000, published: 80 }]
  needy:
    image: a
    depends_on: { db: { condition: service_healthy }, cache: {} }
  db: { image: postgres, volumes: ["./data:/data:ro", "kept:/var/lib", "/var/log"] }
  cache: { image: redis, depends_on: [db] }
  circle: { image: a, depends_on: [round] }
  round: { image: a, depends_on: [circle] }
  waiting: { image: a, depends_on: { job: { condition: service_completed_successfully } } }
  lost: { image: a, volumes: ["./lost:/lost"] }
  keeper: { image: a, privileged: true }
"#;

    fn read(name: &str) -> Result<Composed, Problem> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("web.env"),
            "# of the web\nKEY=\"a b\"\nMODE=x\n",
        )
        .unwrap();
        let reading = Reading {
            folder: folder.path(),
            variable: &variable,
        };
        reading.service(&document(FILE).unwrap(), name)
    }

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_service_is_its_image_environment_command_and_port() {
        let words = ["serve", "--name", "a b", "$HOME"];
        assert_eq!(
            read("web").unwrap(),
            Composed {
                image: Some("shop:1.5".to_owned()),
                build: None,
                env: env(&[("MODE", "fast"), ("PORT", "9000"), ("TAG", "1.5")]),
                arguments: words.map(str::to_owned).to_vec(),
                port: Some(9000),
                volumes: Vec::new(),
                depends_on: Vec::new(),
            }
        );
        assert_eq!(
            read("built").unwrap(),
            Composed {
                image: None,
                build: Some(Build {
                    context: "./app".to_owned(),
                    dockerfile: Some("Dockerfile.prod".to_owned()),
                    target: None,
                    args: env(&[("A", "1")]),
                }),
                env: env(&[("KEY", "a b"), ("MODE", "slow")]),
                arguments: Vec::new(),
                port: Some(8000),
                volumes: Vec::new(),
                depends_on: Vec::new(),
            }
        );
    }

    #[test]
    fn what_a_service_depends_on_comes_before_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let reading = Reading {
            folder: folder.path(),
            variable: &variable,
        };
        let document = document(FILE).unwrap();
        let needed = |name: &str| {
            let composed = reading.service(&document, name).unwrap();
            reading.needed(&document, &composed)
        };
        let needy = needed("needy").unwrap();
        let names: Vec<&str> = needy.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["db", "cache"]);
        let volumes = &needy[0].1.volumes;
        let expect = Volume {
            source: folder.path().join("data").display().to_string(),
            target: "/data".to_owned(),
        };
        assert_eq!(volumes, &[expect]);
        assert_eq!(
            needed("circle").unwrap_err().to_string(),
            "round depends on itself"
        );
        assert!(needed("web").unwrap().is_empty());
    }

    #[test]
    fn what_a_container_here_would_lack_is_refused() {
        for (name, text) in [
            (
                "waiting",
                "job has to end before the service starts, and a dependency keeps running",
            ),
            (
                "keeper",
                "keeper has `privileged`, which a duel does not give it",
            ),
        ] {
            assert_eq!(read(name).unwrap_err().to_string(), text);
        }
        let lost = read("lost").unwrap_err();
        assert!(
            lost.message().starts_with("there is no /") && lost.message().ends_with("/lost"),
            "{lost}"
        );
        let unknown = read("unknown").unwrap_err();
        assert!(
            unknown
                .message()
                .starts_with("no service unknown; it has web, "),
            "{unknown}"
        );
        assert!(document("a: [").is_err());
    }
}
