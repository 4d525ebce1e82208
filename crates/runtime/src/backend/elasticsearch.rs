//! A real Elasticsearch 7.8.0: built from `backends/elasticsearch`, started as a process, loaded
//! with the suite's documents and warmed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bakeoff_model::suite::{Contender, Limits};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Backend, BackendError, BackendOptions, free_port};
use crate::api::{Runtime, StartSpec};
use crate::build::{self, BuildOptions};
use crate::http::ask;
use crate::process::ProcessRuntime;

/// How long the node may take to answer.
const START_LIMIT: Duration = Duration::from_secs(90);
/// How long one request of the loading may take.
const LOAD_LIMIT: Duration = Duration::from_secs(60);
/// Requests that warm the node at the same time.
const WARMERS: usize = 4;

/// `mapping.json` of a suite's data.
#[derive(Debug, Deserialize)]
struct Mapping {
    indices: BTreeMap<String, Index>,
}

#[derive(Debug, Deserialize)]
struct Index {
    alias: String,
    /// File of documents, one JSON object a line, gzip.
    documents: String,
    /// The field whose value is the document's id.
    id: String,
    settings: Value,
    mappings: Value,
}

/// Starts a node and loads the documents of the folder `data`. `source` is the folder of its
/// Maven module; `warm_up` is how long it is asked before it is handed over.
///
/// # Errors
/// It cannot be built, does not start, or refuses the documents.
pub async fn start(
    runtime: &ProcessRuntime,
    source: &Path,
    data: &Path,
    warm_up: Duration,
    options: &BackendOptions,
) -> Result<Backend, BackendError> {
    let build_options = BuildOptions {
        cache: build::cache_dir(),
        suite: "backends".to_owned(),
    };
    let built = build::build(&module(), source, &build_options)
        .await
        .map_err(|error| BackendError::Prepare(error.to_string()))?;
    let java = build::java(17).map_err(|missing| {
        BackendError::Prepare(format!("elasticsearch: {missing}: {}", missing.how))
    })?;
    let port = free_port()?;
    let command = [
        java.display().to_string(),
        "-Xms512m".to_owned(),
        "-Xmx512m".to_owned(),
        "-jar".to_owned(),
        built
            .artifact
            .join("elasticsearch-backend.jar")
            .display()
            .to_string(),
        "--host".to_owned(),
        options.listen.to_string(),
        "--port".to_owned(),
        port.to_string(),
        "--data".to_owned(),
        runtime.folder().join("elasticsearch").display().to_string(),
    ];
    let spec = StartSpec {
        label: "elasticsearch".to_owned(),
        command: command.into(),
        env: BTreeMap::new(),
        workdir: built.workdir,
        limits: Limits::default(),
        cores: options.cores.clone(),
        port,
        ready_path: "/_cluster/health".to_owned(),
        image: None,
        log_path: options.logs.join("backend-elasticsearch.log"),
    };
    let mut instance = runtime.start(&spec).await?;
    let ready = instance.await_ready(START_LIMIT).await;
    ready.map_err(|error| BackendError::Ready { error })?;
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let ids = load(address, data).await?;
    warm(address, &ids, warm_up).await;
    Ok(Backend::new(
        instance,
        SocketAddr::new(options.reach, port),
        None,
    ))
}

/// The Maven module in the terms of the builder.
fn module() -> Contender {
    let words = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    Contender {
        name: "elasticsearch".to_owned(),
        folder: "elasticsearch".to_owned(),
        variant: None,
        describe: "Elasticsearch 7.8.0".to_owned(),
        language: "java".to_owned(),
        note: None,
        needs: words(&["maven", "jdk-17"]),
        build: words(&["mvn", "--quiet", "--batch-mode", "package"]),
        build_env: BTreeMap::new(),
        artifact: "target/app".to_owned(),
        run: Vec::new(),
        version: Vec::new(),
        jdk: Some(17),
        image_base: "jre-17".to_owned(),
        env: BTreeMap::new(),
        matrix: BTreeMap::new(),
    }
}

/// Makes the indices and loads their documents; the paths of all of them.
async fn load(address: SocketAddr, data: &Path) -> Result<Vec<String>, BackendError> {
    let file = data.join("mapping.json");
    let text = std::fs::read_to_string(&file).map_err(|error| cannot_read(&file, &error))?;
    let mapping: Mapping =
        serde_json::from_str(&text).map_err(|error| cannot_read(&file, &error))?;
    let mut paths = Vec::new();
    for (name, index) in &mapping.indices {
        let mut aliases = serde_json::Map::new();
        aliases.insert(index.alias.clone(), json!({}));
        let body =
            json!({ "settings": index.settings, "mappings": index.mappings, "aliases": aliases });
        tell(
            address,
            "PUT",
            &format!("/{name}"),
            body.to_string().as_bytes(),
        )
        .await?;
        let (bulk, ids) = bulk(name, index, data)?;
        let answer = tell(address, "POST", "/_bulk", &bulk).await?;
        if answer.get("errors") != Some(&Value::Bool(false)) {
            let shown: String = answer.to_string().chars().take(500).collect();
            return Err(BackendError::Prepare(format!(
                "elasticsearch refused documents of {name}: {shown}"
            )));
        }
        paths.extend(
            ids.iter()
                .map(|id| format!("/{}/_doc/{id}?_source_excludes=geometry", index.alias)),
        );
    }
    tell(address, "POST", "/_refresh", b"").await?;
    tell(
        address,
        "GET",
        "/_cluster/health?wait_for_status=green&timeout=30s",
        b"",
    )
    .await?;
    Ok(paths)
}

/// The body of a bulk request with all documents of an index, and their ids.
fn bulk(name: &str, index: &Index, data: &Path) -> Result<(Vec<u8>, Vec<String>), BackendError> {
    let file = data.join(&index.documents);
    let mut text = String::new();
    File::open(&file)
        .and_then(|open| GzDecoder::new(open).read_to_string(&mut text))
        .map_err(|error| cannot_read(&file, &error))?;
    let mut body = String::new();
    let mut ids = Vec::new();
    for line in text.lines() {
        let document: Value =
            serde_json::from_str(line).map_err(|error| cannot_read(&file, &error))?;
        let id = document
            .get(&index.id)
            .map(Value::to_string)
            .unwrap_or_default();
        let action = json!({ "index": { "_index": name, "_id": id } });
        body.push_str(&format!("{action}\n{line}\n"));
        ids.push(id);
    }
    Ok((body.into_bytes(), ids))
}

fn cannot_read(file: &Path, error: &dyn std::fmt::Display) -> BackendError {
    BackendError::Prepare(format!("{}: {error}", PathBuf::from(file).display()))
}

/// Sends one request that must succeed.
async fn tell(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<Value, BackendError> {
    let content_type = if path == "/_bulk" {
        "application/x-ndjson"
    } else {
        "application/json"
    };
    let headers = [("content-type".to_owned(), content_type.to_owned())];
    let headers = if body.is_empty() { &[][..] } else { &headers };
    let asked = ask(address, method, path, headers, body, LOAD_LIMIT).await;
    let answer = asked.map_err(|error| {
        BackendError::Prepare(format!("elasticsearch: {method} {path}: {error}"))
    })?;
    let text = String::from_utf8_lossy(&answer.body);
    if !(200..300).contains(&answer.status) {
        let shown: String = text.chars().take(500).collect();
        return Err(BackendError::Prepare(format!(
            "elasticsearch: {method} {path}: status {}: {shown}",
            answer.status
        )));
    }
    Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Asks for documents until the time is over: a JVM that has answered nothing yet is no backend.
async fn warm(address: SocketAddr, paths: &[String], time: Duration) {
    let until = Instant::now() + time;
    let mut tasks = Vec::new();
    for first in 0..WARMERS {
        let paths = paths.to_vec();
        tasks.push(tokio::spawn(async move {
            for path in paths.iter().cycle().skip(first) {
                if Instant::now() >= until {
                    return;
                }
                // Warming is a courtesy; the checks will find what is broken.
                let _ = ask(address, "GET", path, &[], b"", LOAD_LIMIT).await;
            }
        }));
    }
    for task in tasks {
        let _ = task.await;
    }
}
