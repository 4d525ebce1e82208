//! A suite to begin with: from a template that teaches, or from the description of a service.

pub mod openapi;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bakeoff_model::service_url::ServiceUrl;
use bakeoff_runtime::http;
use serde_json::{Map, Value, json};

use crate::duel::{Side, contender_file, toml_text};
use crate::hint::hinted;
use crate::store::suite_folder;
use openapi::{Described, Operation};

const SUITE: &str = include_str!("template/suite.toml");
const CONTENDER: &str = include_str!("template/contender.toml");
const SERVER: &str = include_str!("template/server.py");

/// How long a description may take to come.
const FETCH_LIMIT: Duration = Duration::from_secs(15);

/// The two services of the template: name and mode, and what they are.
const EXAMPLES: [(&str, &str); 2] = [
    (
        "threads",
        "Python's http.server, a thread for each connection",
    ),
    (
        "asyncio",
        "Python's asyncio, one thread for all connections",
    ),
];

/// What a suite is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Init {
    /// The services; the examples of the template without any.
    pub sides: Vec<Side>,
    /// What they are asked, from the description of a service.
    pub described: Option<Described>,
    /// The port on which all of them listen.
    pub port: u16,
    /// The path asked until the first valid answer (200 or 404) comes.
    pub ready_path: String,
}

/// Writes the files of a suite into a folder that has none, and reads them as any suite is read.
///
/// # Errors
/// The folder holds a suite already, cannot be written, or there is nothing to ask.
pub fn write(init: &Init, folder: &Path) -> anyhow::Result<()> {
    if folder.join("suite.toml").exists() {
        return Err(hinted(
            format_args!("{}: holds a suite already", folder.display()),
            "name another folder",
        ));
    }
    let asked = operations(init)?;
    let workdir = std::env::current_dir().context("this folder is gone")?;
    let mut files = vec![
        ("suite.toml".to_owned(), suite_file(init, &asked, folder)),
        ("checks/all.toml".to_owned(), checks_file(init, &asked)),
    ];
    if init.sides.is_empty() {
        for (name, describe) in EXAMPLES {
            let text = CONTENDER
                .replace("@NAME@", name)
                .replace("@MODE@", name)
                .replace("@DESCRIBE@", describe);
            files.push((format!("contenders/{name}/contender.toml"), text));
            files.push((format!("contenders/{name}/server.py"), SERVER.to_owned()));
        }
    }
    for side in &init.sides {
        let path = format!("contenders/{}/contender.toml", side.name);
        files.push((path, contender_file(side, &workdir)));
    }
    suite_folder::write(folder, &files)?;
    suite_folder::read(folder).map(drop)
}

/// What a running service has at a URL.
///
/// # Errors
/// It does not answer with status 200 and a text.
pub async fn fetch(url: &ServiceUrl) -> anyhow::Result<String> {
    let mut addresses = tokio::net::lookup_host((url.name(), url.port()))
        .await
        .with_context(|| format!("{url}: no such host"))?;
    let address = addresses
        .next()
        .with_context(|| format!("{url}: no such host"))?;
    let headers = [("host".to_owned(), url.host())];
    let answer = http::ask(address, "GET", url.prefix(), &headers, b"", FETCH_LIMIT)
        .await
        .map_err(|error| anyhow!("{url}: {error}"))?;
    if answer.status != 200 {
        bail!("{url}: answered with status {}", answer.status);
    }
    String::from_utf8(answer.body).with_context(|| format!("{url}: no text"))
}

/// What is asked; the template's own request without a description.
fn operations(init: &Init) -> anyhow::Result<Vec<Operation>> {
    let Some(described) = &init.described else {
        return Ok(vec![Operation {
            name: "GET /hello".to_owned(),
            path: "/hello".to_owned(),
            headers: [].into(),
            statuses: vec![200],
            is_json: true,
            keys: vec!["message".to_owned()],
        }]);
    };
    if described.operations.is_empty() {
        let list = described.left_out.join("\n  ");
        return Err(hinted(
            format_args!("no request can be made of the description:\n  {list}"),
            "give its parameters examples",
        ));
    }
    Ok(described.operations.clone())
}

fn suite_file(init: &Init, asked: &[Operation], folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let analysis = match &init.described {
        Some(_) => "Requests by the examples of the service's own description, all equally often.",
        None => "Two ways to serve connections in Python. Replace them by services of your own.",
    };
    let requests: Vec<Value> = asked.iter().map(request).collect();
    let benchmark = toml_text(&json!({
        "benchmark": [{
            "name": "all",
            "describe": "Every request, equally often.",
            "request": requests,
        }],
    }));
    SUITE
        .replace("@FOLDER@", &name)
        .replace("@NAME@", &suite_name(&name))
        .replace("@ANALYSIS@", analysis)
        .replace("@PORT@", &init.port.to_string())
        .replace("@READY@", &init.ready_path)
        .replace("@BENCHMARK@", benchmark.trim_end())
}

/// The folder's name with what a name may not have replaced.
fn suite_name(folder: &str) -> String {
    let name: String = folder
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => "services".to_owned(),
        name => name.to_lowercase(),
    }
}

fn request(operation: &Operation) -> Value {
    let mut table = Map::new();
    table.insert("path".to_owned(), json!(operation.path));
    if !operation.headers.is_empty() {
        table.insert("headers".to_owned(), json!(operation.headers));
    }
    table.insert("expect".to_owned(), expectation(operation));
    Value::Object(table)
}

fn expectation(operation: &Operation) -> Value {
    let mut expect = Map::new();
    if !operation.statuses.is_empty() {
        expect.insert("status".to_owned(), json!(operation.statuses));
    }
    if operation.is_json {
        expect.insert("json".to_owned(), json!(true));
    }
    if !operation.keys.is_empty() {
        let paths = operation
            .keys
            .iter()
            .map(|key| format!("$[{}]", json!(key)));
        expect.insert("has".to_owned(), json!(paths.collect::<Vec<_>>()));
    }
    Value::Object(expect)
}

fn checks_file(init: &Init, asked: &[Operation]) -> String {
    let checks: Vec<Value> = asked
        .iter()
        .map(|operation| {
            let mut check = request(operation);
            check["group"] = json!("get");
            check["name"] = json!(operation.name);
            check
        })
        .collect();
    let left_out = init.described.iter().flat_map(|one| &one.left_out);
    let left_out: String = left_out.map(|line| format!("#   {line}\n")).collect();
    let note = match left_out.as_str() {
        "" => String::new(),
        list => format!("# Left out of the description:\n{list}"),
    };
    format!(
        "# What every contender must answer. One that fails a check is neither loaded nor ranked.\n\
         {note}\n{}",
        toml_text(&json!({ "check": checks }))
    )
}
