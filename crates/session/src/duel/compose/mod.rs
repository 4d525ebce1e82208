//! Services of a compose file: what the Compose Specification says of one of them, as far as a duel
//! gives it to a container. Whatever else would make it another service is refused, and not left
//! out silently.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, anyhow, bail};
use bakeoff_import::scalar::as_text;
use serde_json::{Map, Value};
use tokio::process::Command;

use super::order::{Duel, Service, ServiceImage};
use crate::hint::hinted;

/// The names of a compose file, in the order in which Compose looks.
const NAMES: [&str; 4] = [
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
];
/// The keys of a service that are taken.
const TAKEN: [&str; 7] = [
    "build",
    "command",
    "env_file",
    "environment",
    "expose",
    "image",
    "ports",
];
/// The keys that say nothing of how it answers, or that the duel decides.
const WITHOUT_EFFECT: [&str; 27] = [
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
    "depends_on",
];
/// The keys of an image's build that are taken.
const BUILD_TAKEN: [&str; 4] = ["args", "context", "dockerfile", "target"];

/// A service by its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Composed {
    image: Option<String>,
    build: Option<Build>,
    env: BTreeMap<String, String>,
    arguments: Vec<String>,
    /// Where it listens in its container.
    port: Option<u16>,
}

/// The sources of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Build {
    context: String,
    dockerfile: Option<String>,
    target: Option<String>,
    args: BTreeMap<String, String>,
}

/// The duel with images in the place of services of a compose file; those that are built of
/// something are built.
pub(super) async fn looked_up(duel: &Duel) -> anyhow::Result<Duel> {
    let is_composed = |service: &Service| matches!(service, Service::Compose(_));
    let mut found = duel.clone();
    if !found.sides.iter().any(|side| is_composed(&side.service)) {
        return Ok(found);
    }
    let path = file(duel)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let dotenv = fs::read_to_string(folder.join(".env")).unwrap_or_default();
    let dotenv = variables_of(&dotenv);
    let variable = |name: &str| env::var(name).ok().or_else(|| dotenv.get(name).cloned());
    let document = document(&text).map_err(|why| anyhow!("{}: {why}", path.display()))?;
    let mut port = duel.port;
    for side in &mut found.sides {
        let Service::Compose(name) = &side.service else {
            continue;
        };
        let reading = Reading {
            folder,
            variable: &variable,
        };
        let composed = reading.service(&document, name);
        let composed = composed.map_err(|why| {
            hinted(
                format_args!("{}: {}: {why}", side.name, path.display()),
                "start it yourself, and name it NAME=url:URL: checked and loaded, not limited",
            )
        })?;
        // A port that is named is the one that they take from PORT.
        let own = composed.port.filter(|_| duel.port.is_none());
        if let (Some(own), Some(other)) = (own, port)
            && own != other
        {
            return Err(hinted(
                format_args!(
                    "{} listens on port {own}, another one on {other}",
                    side.name
                ),
                "all must listen on one port; --port names it, where they find it in PORT",
            ));
        }
        port = port.or(own);
        let reference = match (&composed.build, composed.image) {
            (Some(build), _) => built(build, name, folder).await?,
            (None, Some(image)) => image,
            (None, None) => bail!("{}: the service {name} has no image", path.display()),
        };
        side.service = Service::Image(ServiceImage {
            reference,
            arguments: composed.arguments,
            env: composed.env,
        });
    }
    found.port = port;
    Ok(found)
}

/// The compose file that is named, or the first of the usual ones.
fn file(duel: &Duel) -> anyhow::Result<PathBuf> {
    if let Some(path) = &duel.compose_file {
        return Ok(path.clone());
    }
    let all = NAMES.iter().map(|name| duel.workdir.join(name));
    let mut there = all.filter(|path| path.is_file());
    there.next().ok_or_else(|| {
        hinted(
            format_args!("no compose file is in {}", duel.workdir.display()),
            "name it with --compose FILE",
        )
    })
}

/// Builds the image of a service as Compose does, by the engine's own program.
async fn built(build: &Build, service: &str, folder: &Path) -> anyhow::Result<String> {
    let reference = format!("bakeoff-compose/{}:latest", service.to_lowercase());
    let context = folder.join(&build.context);
    let mut command = Command::new("docker");
    command.args(["build", "--tag", &reference]);
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
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(10)..].join("\n    ");
        bail!("the image of {service} cannot be built:\n    {last}");
    }
    Ok(reference)
}

/// A file as one value, anchors and merges resolved.
fn document(text: &str) -> Result<Value, String> {
    let yaml: Result<serde_norway::Value, _> = serde_norway::from_str(text);
    let mut yaml = yaml.map_err(|error| format!("no YAML: {error}"))?;
    let merged = yaml.apply_merge();
    merged.map_err(|error| format!("no YAML: {error}"))?;
    serde_json::to_value(yaml).map_err(|error| format!("no compose file: {error}"))
}

/// Reads services of one file.
struct Reading<'a> {
    /// Where paths begin.
    folder: &'a Path,
    /// Returns the value of `$NAME`.
    variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Reading<'_> {
    fn service(&self, document: &Value, name: &str) -> Result<Composed, String> {
        let services = document.get("services").and_then(Value::as_object);
        let services = services.ok_or("no compose file: it has no `services`")?;
        let Some(Value::Object(service)) = services.get(name) else {
            let list: Vec<&str> = services.keys().map(String::as_str).collect();
            return Err(format!("no service {name}; it has {}", list.join(", ")));
        };
        let service: Map<String, Value> = service
            .iter()
            .map(|(key, value)| Ok((key.clone(), self.filled(value)?)))
            .collect::<Result<_, String>>()?;
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
        })
    }

    fn build(&self, build: Option<&Value>) -> Result<Option<Build>, String> {
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
            return Err(format!(
                "it is built with `{key}`, which a duel does not know"
            ));
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
    fn table(&self, value: Option<&Value>, key: &str) -> Result<BTreeMap<String, String>, String> {
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
            Some(_) => return Err(format!("`{key}` is neither a table nor a list")),
        };
        let known = pairs.into_iter().filter_map(|(name, value)| {
            let value = value.or_else(|| (self.variable)(&name))?;
            Some((name, value))
        });
        Ok(known.collect())
    }

    /// The files of variables: a path, or a list of paths and tables `path`, `required`.
    fn env_files(&self, service: &Map<String, Value>) -> Result<Vec<String>, String> {
        let list = match service.get("env_file") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) => list.clone(),
            Some(one) => vec![one.clone()],
        };
        let mut paths = Vec::new();
        for one in &list {
            let path = as_text(one).or_else(|| one.get("path").and_then(as_text));
            let path = path.ok_or("`env_file` has something that is no path")?;
            let optional = one.get("required") == Some(&Value::Bool(false));
            if !optional || self.folder.join(&path).is_file() {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// The value with what variables stand for.
    fn filled(&self, value: &Value) -> Result<Value, String> {
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
                Value::Object(pairs.collect::<Result<_, String>>()?)
            }
            other => other.clone(),
        })
    }
}

/// Says what of a service a container here would lack.
fn refuse(service: &Map<String, Value>, name: &str) -> Result<(), String> {
    let others = match service.get("depends_on") {
        Some(Value::Array(list)) => list.iter().filter_map(as_text).collect(),
        Some(Value::Object(table)) => table.keys().cloned().collect(),
        _ => Vec::new(),
    };
    if !others.is_empty() {
        let list = others.join(", ");
        return Err(format!(
            "{name} depends on {list}, and a duel starts {name} alone"
        ));
    }
    let known = |key: &String| {
        let key = key.as_str();
        TAKEN.contains(&key) || WITHOUT_EFFECT.contains(&key) || key.starts_with("x-")
    };
    match service.keys().find(|key| !known(key)) {
        Some(key) => Err(format!("{name} has `{key}`, which a duel does not give it")),
        None => Ok(()),
    }
}

/// The words of a command.
fn words(command: Option<&Value>) -> Result<Vec<String>, String> {
    match command {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list.iter().filter_map(as_text).collect()),
        Some(text) => {
            let words = as_text(text).and_then(|text| shlex::split(&text));
            words.ok_or_else(|| "`command` has a quote or a backslash without an end".to_owned())
        }
    }
}

/// The first port of the container that is published, or else exposed.
fn port(service: &Map<String, Value>) -> Result<Option<u16>, String> {
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
        .map_err(|_| format!("`{text}` is no port that a duel understands"))
}

/// Lines `NAME=VALUE`, quotes around the value taken off.
fn variables_of(text: &str) -> BTreeMap<String, String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| {
        let (name, value) = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .split_once('=')?;
        let value = value.trim();
        let inner = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        Some((name.trim().to_owned(), inner.unwrap_or(value).to_owned()))
    });
    pairs.collect()
}

/// A text with what variables stand for: `$NAME`, `${NAME}`, with `:-`, `-`, `:+`, `+`, `:?` and
/// `?` as in a shell; `$$` is `$`.
fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('{') {
            let (inner, after) = after.split_once('}').ok_or("a `${` has no `}`")?;
            out.push_str(&expanded(inner, variable)?);
            rest = after;
        } else {
            let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!(
                    "`{text}` has a `$` without a name; `$$` is a plain one"
                ));
            }
            out.push_str(&variable(&rest[..end]).unwrap_or_default());
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Expands the text between `${` and `}`.
fn expanded(inner: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let end = inner.find(|c: char| !is_of_name(c)).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let (rest, empty_counts) = match rest.strip_prefix(':') {
        Some(rest) => (rest, false),
        None => (rest, true),
    };
    let value = variable(name).filter(|value| empty_counts || !value.is_empty());
    let mut rest = rest.chars();
    let kind = rest.next();
    let word = rest.as_str();
    match (kind, value) {
        (None, value) => Ok(value.unwrap_or_default()),
        (Some('-'), value) => Ok(value.unwrap_or_else(|| word.to_owned())),
        (Some('+'), Some(_)) => Ok(word.to_owned()),
        (Some('+'), None) => Ok(String::new()),
        (Some('?'), Some(value)) => Ok(value),
        (Some('?'), None) => Err(format!("{name} has no value: {word}")),
        (Some(_), _) => Err(format!("`${{{inner}}}` is no variable")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::{Build, Composed, Reading, document, filled};

    fn variable(name: &str) -> Option<String> {
        match name {
            "TAG" => Some("1.5".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

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
    depends_on: { db: { condition: service_healthy } }
  keeper:
    image: a
    volumes: ["./data:/data"]
"#;

    fn read(name: &str) -> Result<Composed, String> {
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
            }
        );
    }

    #[test]
    fn what_a_container_here_would_lack_is_refused() {
        for (name, text) in [
            (
                "needy",
                "needy depends on db, and a duel starts needy alone",
            ),
            (
                "keeper",
                "keeper has `volumes`, which a duel does not give it",
            ),
            (
                "nobody",
                "no service nobody; it has web, built, needy, keeper",
            ),
        ] {
            assert_eq!(read(name).unwrap_err(), text);
        }
        assert!(document("a: [").is_err());
    }

    #[test]
    fn variables_stand_for_what_they_do_in_compose() {
        let check = |text: &str, expect: Result<&str, &str>| {
            let found = filled(text, &variable);
            let found = found.as_deref().map_err(String::as_str);
            assert_eq!(found, expect, "{text}");
        };
        check("a$TAG-b${TAG}c$$TAG", Ok("a1.5-b1.5c$TAG"));
        check("${NO}${NO-x}${EMPTY-x}${EMPTY:-y}", Ok("xy"));
        check("${TAG+x}${NO+x}${EMPTY:+x}${TAG:?no}", Ok("x1.5"));
        check("${NO:?say it}", Err("NO has no value: say it"));
        check("${TAG", Err("a `${` has no `}`"));
        check(
            "a $ b",
            Err("`a $ b` has a `$` without a name; `$$` is a plain one"),
        );
    }
}
