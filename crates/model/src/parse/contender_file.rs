//! Rules for `contender.toml` that a schema cannot express, and its variants expanded.

use std::collections::{BTreeMap, BTreeSet};

use super::raw_contender::{ContenderFile, MatrixValues, ProbeTable, VariantTable};
use super::shape;
use super::source::{KeyPath, Reading};
use super::volumes;
use crate::suite::{Contender, Probe};
use crate::text::names;
use crate::text::service_url::ServiceUrl;

/// The placeholders that the runtime fills in commands.
const PLACEHOLDERS: [&str; 3] = ["artifact", "java", "jvm-options"];

/// The placeholder of the number of operations in a probe's command.
const OPERATIONS: &str = "operations";

/// The base image of a contender that names none.
const IMAGE_BASE_DEFAULT: &str = "debian";

/// The bare contender, unless it is not wanted, and one for each variant.
pub(super) fn contenders(
    reading: &mut Reading<'_>,
    folder: &str,
    file: &ContenderFile,
) -> Vec<Contender> {
    let root = KeyPath::root();
    let place = root.key("contender");
    let table = &file.contender;
    if table.name != folder {
        let message = format!(
            "`contender.name`: {:?} is not the folder's name",
            table.name
        );
        let hint = Some(format!("write \"{folder}\", or rename the folder"));
        reading.complain(&place.key("name"), &message, hint);
    }
    if table.only_variants && file.variant.is_empty() {
        let message = "`contender.only-variants`: there are no variants".to_owned();
        reading.complain(&place.key("only-variants"), &message, None);
    }
    if table.language.chars().any(char::is_uppercase) {
        let message = format!("`contender.language`: {:?} has upper case", table.language);
        let hint = Some(format!("write \"{}\"", table.language.to_lowercase()));
        reading.complain(&place.key("language"), &message, hint);
    }
    environment(reading, &root.key("env"), &file.env);
    environment(reading, &root.key("build-env"), &file.build_env);
    matrix(reading, &root.key("matrix"), &file.matrix);
    let url = service_url(reading, &place.key("url"), table.url.as_deref());
    let volumes = file.image.volumes.as_deref().unwrap_or_default();
    let bare = Contender {
        url,
        image_volumes: volumes::volumes(reading, &root.key("image").key("volumes"), volumes),
        ..bare(folder, file)
    };
    check_commands(reading, &place, &bare);
    check_probes(reading, &bare);
    if !table.only_variants {
        check_start(reading, &place, &bare);
    }
    let mut contenders = Vec::new();
    for (name, variant) in &file.variant {
        let place = root.key("variant").key(name);
        if !shape::is_name(name) {
            let message = format!("`{place}`: {name:?} is not a name");
            reading.complain(&place, &message, shape::name_hint());
        }
        environment(reading, &place.key("env"), &variant.env);
        environment(reading, &place.key("build-env"), &variant.build_env);
        if let Some(own) = &variant.matrix {
            matrix(reading, &place.key("matrix"), own);
        }
        let url = service_url(reading, &place.key("url"), variant.url.as_deref());
        let mut contender = vary(&bare, table.baseline.as_ref(), name, variant);
        contender.url = url.or(contender.url);
        if let Some(texts) = &variant.image.volumes {
            let place = place.key("image").key("volumes");
            contender.image_volumes = volumes::volumes(reading, &place, texts);
        }
        let commands = variant.run.is_some() || variant.version.is_some();
        if commands || variant.artifact.is_some() {
            check_commands(reading, &place, &contender);
        }
        if table.only_variants {
            check_start(reading, &place, &contender);
        }
        contenders.push(contender);
    }
    if !table.only_variants {
        contenders.insert(0, bare);
    }
    contenders
}

/// Complains about each baseline that is not a contender of the suite.
pub(super) fn check_baselines(reading: &mut Reading<'_>, file: &ContenderFile, known: &[&str]) {
    let root = KeyPath::root();
    let own = (root.key("contender"), &file.contender.baseline);
    let variants = file.variant.iter();
    let variants = variants.map(|(name, one)| (root.key("variant").key(name), &one.baseline));
    for (place, baseline) in std::iter::once(own).chain(variants) {
        let Some(wanted) = baseline.as_deref().filter(|name| !known.contains(name)) else {
            continue;
        };
        let place = place.key("baseline");
        let message = format!("`{place}`: no contender is called `{wanted}`");
        reading.complain(&place, &message, Some(names::suggestion(wanted, known)));
    }
}

fn bare(folder: &str, file: &ContenderFile) -> Contender {
    let table = &file.contender;
    let base = file.image.base.as_deref().unwrap_or(IMAGE_BASE_DEFAULT);
    Contender {
        name: folder.to_owned(),
        folder: folder.to_owned(),
        variant: None,
        describe: table.describe.clone(),
        language: table.language.clone(),
        note: table.note.clone(),
        baseline: table.baseline.clone().filter(|name| name != folder),
        log_lines_min: table.log_lines_min,
        needs: table.needs.clone(),
        build: table.build.clone(),
        build_env: file.build_env.clone(),
        artifact: table.artifact.clone(),
        run: table.run.clone(),
        workdir: table.workdir.clone(),
        url: None,
        version: table.version.clone(),
        probes: file.probe.iter().map(probe).collect(),
        jdk: table.jdk,
        image: file.image.name.clone(),
        image_entrypoint: file.image.entrypoint.clone().unwrap_or_default(),
        image_arguments: file.image.arguments.clone().unwrap_or_default(),
        image_volumes: Vec::new(),
        container: file.image.container.clone().unwrap_or_default(),
        image_base: base.to_owned(),
        env: file.env.clone(),
        matrix: values(&file.matrix),
        is_base: false,
    }
}

fn probe(table: &ProbeTable) -> Probe {
    Probe {
        name: table.name.clone(),
        command: table.command.clone(),
        operations: table.operations,
    }
}

/// The bare contender with what a variant replaces: tables by key, the rest whole. `inherited` is
/// the folder's baseline, which the bare contender lacks if it is that baseline itself.
fn vary(
    bare: &Contender,
    inherited: Option<&String>,
    name: &str,
    variant: &VariantTable,
) -> Contender {
    let mut contender = bare.clone();
    contender.name = format!("{}/{name}", bare.folder);
    contender.variant = Some(name.to_owned());
    replace(&mut contender.describe, &variant.describe);
    replace(&mut contender.language, &variant.language);
    replace(&mut contender.needs, &variant.needs);
    replace(&mut contender.build, &variant.build);
    replace(&mut contender.run, &variant.run);
    replace(&mut contender.version, &variant.version);
    replace(&mut contender.image_base, &variant.image.base);
    replace(&mut contender.image_entrypoint, &variant.image.entrypoint);
    replace(&mut contender.container, &variant.image.container);
    replace(&mut contender.image_arguments, &variant.image.arguments);
    contender.note = variant.note.clone().or(contender.note);
    let stated = variant.baseline.as_ref().or(inherited);
    contender.baseline = stated.filter(|name| **name != contender.name).cloned();
    contender.log_lines_min = variant.log_lines_min.or(contender.log_lines_min);
    contender.jdk = variant.jdk.or(contender.jdk);
    contender.artifact = variant.artifact.clone().or(contender.artifact);
    contender.workdir = variant.workdir.clone().or(contender.workdir);
    contender.image = variant.image.name.clone().or(contender.image);
    contender.env.extend(variant.env.clone());
    contender.build_env.extend(variant.build_env.clone());
    replace(&mut contender.matrix, &variant.matrix.as_ref().map(values));
    contender
}

fn replace<T: Clone>(old: &mut T, new: &Option<T>) {
    if let Some(new) = new {
        old.clone_from(new);
    }
}

fn values(matrix: &BTreeMap<String, MatrixValues>) -> BTreeMap<String, Vec<String>> {
    let list = |(name, values): (&String, &MatrixValues)| (name.clone(), values.0.clone());
    matrix.iter().map(list).collect()
}

/// Checks names of environment variables.
pub(super) fn environment(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    env: &BTreeMap<String, String>,
) {
    for (name, value) in env {
        let place = place.key(name);
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!("{name:?} cannot name an environment variable");
            reading.complain(&place, &message, None);
        }
        if value.contains('\0') {
            let message = format!("`{place}`: an environment variable cannot hold a zero byte");
            reading.complain(&place, &message, None);
        }
    }
}

fn matrix(reading: &mut Reading<'_>, place: &KeyPath, matrix: &BTreeMap<String, MatrixValues>) {
    let empty = |name: &String| (name.clone(), String::new());
    environment(reading, place, &matrix.keys().map(empty).collect());
    for (name, values) in matrix {
        let mut seen = BTreeSet::new();
        for (index, value) in values.0.iter().enumerate() {
            if !seen.insert(value) {
                let place = place.key(name).index(index);
                reading.complain(
                    &place,
                    &format!("`{place}`: {value:?} is there twice"),
                    None,
                );
            }
        }
    }
}

/// Checks the artifact and the commands of a contender; `place` is the table they come from.
fn check_commands(reading: &mut Reading<'_>, place: &KeyPath, contender: &Contender) {
    if let Some(artifact) = &contender.artifact {
        reading.check_inside(&place.key("artifact"), artifact, "contender");
    }
    for (key, command) in [("run", &contender.run), ("version", &contender.version)] {
        check_command(reading, &place.key(key), command, contender, &PLACEHOLDERS);
    }
}

/// Checks the placeholders of the command at `place`, which may have these.
fn check_command(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    command: &[String],
    contender: &Contender,
    known: &[&str],
) {
    for (index, argument) in command.iter().enumerate() {
        check_placeholders(reading, &place.index(index), argument, known);
    }
    let uses_artifact = command.iter().any(|one| one.contains("{artifact}"));
    if uses_artifact && contender.artifact.is_none() {
        let message = format!("`{place}`: uses `{{artifact}}`, but there is no `artifact`");
        let hint = Some("say what the build makes: artifact = \"target/app\"".to_owned());
        reading.complain(place, &message, hint);
    }
    let uses_java = command.iter().any(|argument| argument.contains("{java}"));
    if uses_java && contender.jdk.is_none() {
        let message = format!("`{place}`: uses `{{java}}`, but no `jdk` is wanted");
        let hint = Some("say which one: jdk = 17".to_owned());
        reading.complain(place, &message, hint);
    }
}

/// Checks the commands of a contender's probes.
fn check_probes(reading: &mut Reading<'_>, contender: &Contender) {
    let all = KeyPath::root().key("probe");
    let names = contender.probes.iter().map(|probe| probe.name.as_str());
    reading.report_duplicates(&all, "probe", names);
    let known = [&PLACEHOLDERS[..], &[OPERATIONS]].concat();
    let operations = format!("{{{OPERATIONS}}}");
    for (index, probe) in contender.probes.iter().enumerate() {
        let place = all.index(index).key("command");
        check_command(reading, &place, &probe.command, contender, &known);
        let is_told = probe.command.iter().any(|one| one.contains(&operations));
        if !is_told && reading.is_whole(&place) {
            let message = format!("`{place}`: no argument says how often to do the work");
            let hint = format!("`{operations}` stands for the number in `operations`");
            reading.complain(&place, &message, Some(hint));
        }
    }
}

/// Complains when there is no way to start a contender; `place` is the table that should say it.
fn check_start(reading: &mut Reading<'_>, place: &KeyPath, contender: &Contender) {
    let started = !contender.run.is_empty() || contender.image.is_some();
    let said = reading.is_whole(&place.key("run")) && reading.is_whole(&place.key("url"));
    if !started && contender.url.is_none() && said {
        let message = format!("missing key `run` in `{place}`");
        let hint = "command that starts it; or give `image.name` or `url`";
        reading.complain(place, &message, Some(hint.to_owned()));
    }
}

/// The service that runs already.
fn service_url(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    text: Option<&str>,
) -> Option<ServiceUrl> {
    let message = match ServiceUrl::new(text?) {
        Ok(url) if url.prefix().is_empty() => return Some(url),
        Ok(_) => "it goes on after the port; paths belong to requests".to_owned(),
        Err(error) => error.message,
    };
    let hint = "write `http://HOST` or `http://HOST:PORT`".to_owned();
    reading.complain(place, &format!("`{place}`: {message}"), Some(hint));
    reading.mark_broken(place.clone());
    None
}

/// Complains about what looks like a misspelt placeholder. Braces that look like nothing of ours
/// may well be meant for the contender.
fn check_placeholders(reading: &mut Reading<'_>, place: &KeyPath, argument: &str, known: &[&str]) {
    if argument.contains("{jvm-options}") && argument != "{jvm-options}" {
        let message = format!("`{place}`: `{{jvm-options}}` must be a separate argument");
        let hint = Some("it stands for any number of arguments".to_owned());
        reading.complain(place, &message, hint);
    }
    for part in argument.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else {
            continue;
        };
        let meant = names::nearest(name, known);
        if let (Some(meant), false) = (meant, known.contains(&name)) {
            let message = format!("`{place}`: unknown placeholder `{{{name}}}`");
            let hint = Some(format!("did you mean `{{{meant}}}`?"));
            reading.complain(place, &message, hint);
        }
    }
}
