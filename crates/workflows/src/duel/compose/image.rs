//! The image of a service, built as Compose builds it: by the engine's own program.

use std::collections::BTreeMap;
use std::process::Stdio;

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_import::scalar::as_text;
use bakeoff_places::images::find_engine;
use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::duel::compose::keys::is_own;
use crate::duel::compose::options::hosts;
use crate::duel::compose::paths::{absolute, is_remote};
use crate::duel::compose::project::{Found, Project};
use crate::duel::compose::values::{asks, pairs, texts};

/// The keys of a build that change nothing in its image, or nothing that a service notices.
const WITHOUT_EFFECT: [&str; 10] = [
    "attestations",
    "cache_from",
    "cache_to",
    "isolation",
    "labels",
    "no_cache",
    "provenance",
    "pull",
    "sbom",
    "tags",
];

/// The sources of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Build {
    pub(super) context: String,
    /// Relative to the context.
    pub(super) dockerfile: Option<String>,
    /// The text in the place of a file.
    pub(super) inline: Option<String>,
    pub(super) target: Option<String>,
    pub(super) args: BTreeMap<String, String>,
    /// More options of `docker build`.
    pub(super) options: Vec<String>,
}

/// Reads how the image of a service is built. What cannot be done is added to `refused`, a fragment
/// each.
///
/// # Errors
/// A value is not of its kind.
pub(super) fn build(
    project: &Project<'_>,
    found: &Found<'_>,
    refused: &mut Vec<String>,
) -> Result<Option<Build>, Problem> {
    let table = match found.table.get("build") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(table)) => table,
        Some(context) => {
            return Ok(Some(Build {
                context: as_text(context).ok_or("`build` is neither a folder nor a table")?,
                ..Build::default()
            }));
        }
    };
    let text = |key: &str| table.get(key).and_then(as_text);
    let args = pairs(table.get("args"), "build.args")?;
    Ok(Some(Build {
        context: text("context").unwrap_or_else(|| absolute(".", found.folder())),
        dockerfile: text("dockerfile"),
        inline: text("dockerfile_inline"),
        target: text("target"),
        args: project.valued(found, args),
        options: options(project, found, table, refused)?,
    }))
}

/// The options of a build besides the usual ones.
fn options(
    project: &Project<'_>,
    found: &Found<'_>,
    table: &Map<String, Value>,
    refused: &mut Vec<String>,
) -> Result<Vec<String>, Problem> {
    let mut options = Vec::new();
    for (key, value) in table.iter().filter(|(_, value)| asks(value)) {
        let mut add = |option: &str, value: String| {
            options.extend([option.to_owned(), value]);
        };
        match key.as_str() {
            "args" | "context" | "dockerfile" | "dockerfile_inline" | "target" => {}
            "network" => texts(Some(value))
                .into_iter()
                .for_each(|one| add("--network", one)),
            "shm_size" => texts(Some(value))
                .into_iter()
                .for_each(|one| add("--shm-size", one)),
            "extra_hosts" => hosts(Some(value), "build.extra_hosts")?
                .into_iter()
                .for_each(|host| add("--add-host", host)),
            "additional_contexts" => {
                for (name, context) in pairs(Some(value), "build.additional_contexts")? {
                    let context = context.unwrap_or_default();
                    if context.starts_with("service:") {
                        refused.push(format!("`build.{key}`: {name} is another service"));
                        continue;
                    }
                    let context = match is_remote(&context) || context.contains("-image:") {
                        true => context,
                        false => absolute(&context, found.folder()),
                    };
                    add("--build-context", format!("{name}={context}"));
                }
            }
            "secrets" => {
                let names = value.as_array().into_iter().flatten();
                for one in names {
                    let source = as_text(one).or_else(|| one.get("source").and_then(as_text));
                    let source = source.unwrap_or_default();
                    let id = one.get("target").and_then(as_text);
                    let entry = project.entry("secrets", &source)?;
                    let file = entry.as_ref().and_then(|entry| {
                        Some(absolute(
                            &as_text(entry.table.get("file")?)?,
                            entry.folder(),
                        ))
                    });
                    match file {
                        Some(file) => {
                            let id = id.unwrap_or(source);
                            add("--secret", format!("id={id},src={file}"));
                        }
                        None => refused.push(format!("`build.{key}`: {source} is not a file")),
                    }
                }
            }
            "platforms" if texts(Some(value)).iter().any(|one| is_own(one)) => {}
            other if WITHOUT_EFFECT.contains(&other) || other.starts_with("x-") => {}
            other => refused.push(format!("`build.{other}`: a duel does not know it")),
        }
    }
    Ok(options)
}

/// The image of a service, built if need be.
pub(super) async fn image(
    build: Option<&Build>,
    image: Option<&String>,
    name: &str,
) -> anyhow::Result<String> {
    match (build, image) {
        (Some(build), _) => built(build, name).await,
        (None, Some(image)) => Ok(image.clone()),
        (None, None) => bail!("the service {name} of the compose file has no image"),
    }
}

/// Builds the image of a service.
async fn built(build: &Build, service: &str) -> anyhow::Result<String> {
    let reference = format!("bakeoff-compose/{}:latest", service.to_lowercase());
    // The engine that runs the containers must be the one that has the image.
    let engine = find_engine().await?;
    let mut command = Command::new("docker");
    command.args(["--host", engine.host(), "build", "--tag", &reference]);
    command.args(words(build));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let output = async {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let text = build.inline.clone().unwrap_or_default();
            // A program that does not read it says why.
            let _ = stdin.write_all(text.as_bytes()).await;
        }
        child.wait_with_output().await
    };
    let output = output.await.map_err(|error: std::io::Error| {
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

/// The words of `docker build` for a build.
fn words(build: &Build) -> Vec<String> {
    let mut words = Vec::new();
    let is_here = !is_remote(&build.context);
    match (&build.inline, &build.dockerfile) {
        (Some(_), _) => words.extend(["--file", "-"].map(str::to_owned)),
        (None, Some(file)) if is_here => {
            let file = std::path::Path::new(&build.context).join(file);
            words.extend(["--file".to_owned(), file.display().to_string()]);
        }
        (None, Some(file)) => words.extend(["--file".to_owned(), file.clone()]),
        (None, None) => {}
    }
    if let Some(target) = &build.target {
        words.extend(["--target".to_owned(), target.clone()]);
    }
    for (name, value) in &build.args {
        words.extend(["--build-arg".to_owned(), format!("{name}={value}")]);
    }
    words.extend(build.options.iter().cloned());
    words.push(build.context.clone());
    words
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

#[cfg(test)]
mod tests {
    use super::{Build, words};

    #[test]
    fn a_build_is_one_of_docker_s() {
        let check = |build: Build, expect: &str| assert_eq!(words(&build).join(" "), expect);
        let app = || Build {
            context: "/app".to_owned(),
            ..Build::default()
        };
        check(app(), "/app");
        check(
            Build {
                dockerfile: Some("D".to_owned()),
                target: Some("t".to_owned()),
                args: [("A".to_owned(), "1".to_owned())].into(),
                options: vec!["--network".to_owned(), "host".to_owned()],
                ..app()
            },
            "--file /app/D --target t --build-arg A=1 --network host /app",
        );
        check(
            Build {
                inline: Some("FROM a".to_owned()),
                ..app()
            },
            "--file - /app",
        );
        check(
            Build {
                context: "https://h/r.git".to_owned(),
                dockerfile: Some("D".to_owned()),
                ..Build::default()
            },
            "--file D https://h/r.git",
        );
    }
}
