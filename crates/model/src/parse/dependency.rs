//! The dependencies of `suite.toml`: what a schema cannot say of them.

use std::collections::BTreeMap;

use super::contender_file::environment;
use super::raw_dependency::DependencyTable;
use super::source::{KeyPath, Reading};
use super::volumes::volumes;
use crate::suite::dependency::{Dependency, Ready};
use crate::text::names;

/// The dependencies, in the order in which they are started.
pub(super) fn dependencies(
    reading: &mut Reading<'_>,
    tables: Vec<DependencyTable>,
) -> Vec<Dependency> {
    let place = KeyPath::root().key("dependency");
    let names = tables.iter().map(|table| table.name.as_str());
    reading.report_duplicates(&place, "dependency", names);
    let mut specs: Vec<Dependency> = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = place.index(index);
        check_kind(reading, &place, &table);
        environment(reading, &place.key("env"), &table.env);
        let known: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        check_names(reading, &place.key("env"), &table.env, &known);
        specs.push(Dependency {
            name: table.name,
            image: table.image,
            entrypoint: table.entrypoint,
            command: table.command,
            env: table.env,
            port: table.port,
            volumes: volumes(reading, &place.key("volumes"), &table.volumes),
            container: table.container,
            ready: table.ready,
            healthcheck: table.healthcheck,
            ready_path: table.ready_path,
            start_timeout: table
                .start_timeout
                .map_or(Dependency::START_TIMEOUT, |timeout| timeout.0),
            setup: table.setup,
            reset: table.reset,
        });
    }
    specs
}

/// Refuses a dependency that is neither an image nor a program, and a program with volumes.
fn check_kind(reading: &mut Reading<'_>, place: &KeyPath, table: &DependencyTable) {
    if table.image.is_none() && table.command.is_empty() {
        let message = format!(
            "dependency `{}` has neither an image nor a command",
            table.name
        );
        let hint = "name an `image`, or a program and its arguments in `command`".to_owned();
        reading.complain(place, &message, Some(hint));
    }
    if table.image.is_none() && !table.volumes.is_empty() {
        let message = format!(
            "dependency `{}` is a program, which has no `volumes`",
            table.name
        );
        let hint = "a program sees the files of this host as they are".to_owned();
        reading.complain(&place.key("volumes"), &message, Some(hint));
    }
    let of_containers = [
        ("container", !table.container.is_empty()),
        ("entrypoint", !table.entrypoint.is_empty()),
        ("healthcheck", table.healthcheck.is_some()),
        ("ready", table.ready != Ready::default()),
    ];
    for (key, _) in of_containers.iter().filter(|(_, given)| *given) {
        if table.image.is_none() {
            let message = format!(
                "dependency `{}` is a program, which has no `{key}`",
                table.name
            );
            let hint = "name an `image`, or omit it".to_owned();
            reading.complain(&place.key(key), &message, Some(hint));
        }
    }
}

/// Refuses placeholders of dependencies that are not there, or that start later.
pub(super) fn check_names(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    env: &BTreeMap<String, String>,
    known: &[&str],
) {
    for (variable, value) in env {
        for name in named(value) {
            if !known.contains(&name) {
                let message = format!("unknown dependency `{name}`");
                let hint = names::suggestion(name, known);
                reading.complain(&place.key(variable), &message, Some(hint));
            }
        }
    }
}

/// Returns the names of dependencies in the placeholders of a value.
fn named(value: &str) -> impl Iterator<Item = &str> {
    let parts = value.split("{dependency.").skip(1);
    parts.filter_map(|part| {
        let (inside, _) = part.split_once('}')?;
        inside.rsplit_once('.').map(|(name, _)| name)
    })
}
