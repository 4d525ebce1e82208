//! Removes containers and networks, by their labels also those of dead sessions.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bollard::query_parameters::{
    ListContainersOptions, ListNetworksOptions, RemoveContainerOptions,
};

use crate::api::SweepError;
use crate::docker::engine::{Engine, is_missing, plain};
use crate::ownership::{SESSION, is_dead};

/// How often and in which distance a removal is tried again.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// Removes containers and networks of dead sessions; one line each.
pub(super) async fn sweep(engine: &Engine) -> Result<Vec<String>, SweepError> {
    let mut removed = Vec::new();
    for (id, name) in dead_containers(engine).await? {
        let what = format!("container {name}");
        persist(|| remove_container(engine, &id), &what).await?;
        removed.push(what);
    }
    for name in dead_networks(engine).await? {
        let what = format!("network {name}");
        persist(|| remove_network(engine, &name), &what).await?;
        removed.push(what);
    }
    Ok(removed)
}

/// Tries a removal again for a while: another session may be removing the same thing, which until
/// then can neither be removed nor is it gone.
async fn persist<F>(remove: impl Fn() -> F, what: &str) -> Result<(), SweepError>
where
    F: Future<Output = Result<(), Problem>>,
{
    let mut outcome = remove().await;
    for _ in 0..ATTEMPTS {
        if outcome.is_ok() {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        outcome = remove().await;
    }
    outcome.map_err(|why| fail(what.to_owned(), why))
}

fn fail(what: String, why: Problem) -> SweepError {
    SweepError {
        what,
        message: why.to_string(),
    }
}

fn filters() -> Option<HashMap<String, Vec<String>>> {
    let labelled = vec![SESSION.to_owned()];
    Some(HashMap::from([("label".to_owned(), labelled)]))
}

async fn dead_containers(engine: &Engine) -> Result<Vec<(String, String)>, SweepError> {
    let options = ListContainersOptions {
        all: true,
        filters: filters(),
        ..ListContainersOptions::default()
    };
    let found = engine.docker.list_containers(Some(options)).await;
    let found = found.map_err(|error| fail("containers".to_owned(), plain(error)))?;
    let dead = found
        .into_iter()
        .filter(|container| container.labels.as_ref().is_some_and(is_dead));
    let names = dead.map(|container| {
        let id = container.id.unwrap_or_default();
        let name = container.names.and_then(|names| names.into_iter().next());
        let name = name.unwrap_or_else(|| id.clone());
        (id, name.trim_start_matches('/').to_owned())
    });
    Ok(names.collect())
}

async fn dead_networks(engine: &Engine) -> Result<Vec<String>, SweepError> {
    let options = ListNetworksOptions { filters: filters() };
    let found = engine.docker.list_networks(Some(options)).await;
    let found = found.map_err(|error| fail("networks".to_owned(), plain(error)))?;
    let dead = found
        .into_iter()
        .filter(|network| network.labels.as_ref().is_some_and(is_dead));
    Ok(dead.filter_map(|network| network.name).collect())
}

/// Kills a container if it lives, and removes it; one that is gone already is a success.
pub(super) async fn remove_container(engine: &Engine, id: &str) -> Result<(), Problem> {
    let options = RemoveContainerOptions {
        force: true,
        v: true,
        ..RemoveContainerOptions::default()
    };
    match engine.docker.remove_container(id, Some(options)).await {
        Err(error) if !is_missing(&error) => Err(plain(error)),
        _ => Ok(()),
    }
}

/// Removes a network; one that is gone already is a success.
pub(super) async fn remove_network(engine: &Engine, name: &str) -> Result<(), Problem> {
    match engine.docker.remove_network(name).await {
        Err(error) if !is_missing(&error) => Err(plain(error)),
        _ => Ok(()),
    }
}
