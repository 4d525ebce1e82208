//! Fills an Elasticsearch with a suite's documents: indices, mappings, aliases, bulk, refresh.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::ask;

/// The file that says what is loaded.
const MAPPING: &str = "mapping.json";

/// Bytes of documents that are sent in one request: well below the 100 MB that a node takes.
const BULK_BYTES: usize = 8 << 20;

/// How long one request may take; indexing large outlines is slow on a busy small host.
const PATIENCE: Duration = Duration::from_secs(60);

fn fail(what: impl std::fmt::Display, message: impl std::fmt::Display) -> Problem {
    Problem::new(message).context(what)
}

/// `mapping.json` of a suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapping {
    indices: BTreeMap<String, Index>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    /// The other name, by which contenders ask.
    alias: String,
    /// File of documents next to the mapping, JSON Lines, gzip when it ends in `.gz`.
    documents: PathBuf,
    /// The field that is the document's identity.
    id: String,
    settings: Value,
    mappings: Value,
}

/// Makes the indices of a data folder and fills them. The paths of all documents, as contenders
/// would ask for them.
///
/// # Errors
/// A file is not there or not what it should be, or the node refuses something.
pub(super) async fn load(node: SocketAddr, folder: &Path) -> Result<Vec<String>, Problem> {
    let path = folder.join(MAPPING);
    let text = fs::read_to_string(&path).map_err(|error| fail(path.display(), error))?;
    let mapping: Mapping =
        serde_json::from_str(&text).map_err(|error| fail(path.display(), error))?;
    let mut documents = Vec::new();
    for (name, index) in &mapping.indices {
        create(node, name, index).await?;
        let file = folder.join(&index.documents);
        let reading = tokio::task::spawn_blocking({
            let (file, id) = (file.clone(), index.id.clone());
            move || bulks(&file, &id)
        });
        let (bulks, ids) = reading
            .await
            .map_err(|error| fail(file.display(), error))??;
        for bulk in bulks {
            send_bulk(node, name, &bulk).await?;
        }
        call(node, "POST", &format!("/{name}/_refresh"), "").await?;
        documents.extend(
            ids.into_iter()
                .map(|id| format!("/{}/_doc/{id}", index.alias)),
        );
    }
    Ok(documents)
}

async fn create(node: SocketAddr, name: &str, index: &Index) -> Result<(), Problem> {
    let body = json!({
        "settings": index.settings,
        "mappings": index.mappings,
        "aliases": { &index.alias: {} },
    });
    call(node, "PUT", &format!("/{name}"), &body.to_string()).await?;
    Ok(())
}

async fn send_bulk(node: SocketAddr, name: &str, bulk: &str) -> Result<(), Problem> {
    let path = format!("/{name}/_bulk");
    let answer = call(node, "POST", &path, bulk).await?;
    let answer: Value = serde_json::from_slice(&answer).map_err(|error| fail(&path, error))?;
    let items = answer["items"].as_array().into_iter().flatten();
    let refused = items
        .map(|item| &item["index"])
        .find(|item| !item["error"].is_null());
    match refused {
        Some(item) => Err(fail(
            format!("{path}: document {}", item["_id"]),
            format!("refused: {}", item["error"]),
        )),
        None if answer["errors"] == json!(false) => Ok(()),
        None => Err(fail(path, "the node does not say that all went well")),
    }
}

async fn call(node: SocketAddr, method: &str, path: &str, body: &str) -> Result<Vec<u8>, Problem> {
    let kind = if path.ends_with("/_bulk") {
        "application/x-ndjson"
    } else {
        "application/json"
    };
    let headers = [("content-type".to_owned(), kind.to_owned())];
    let headers = if body.is_empty() { &[] } else { &headers[..] };
    let answer = ask(node, method, path, headers, body.as_bytes(), PATIENCE).await;
    let answer = answer.map_err(|error| fail(format!("{method} {path}"), error))?;
    if answer.status >= 300 {
        let begin: String = String::from_utf8_lossy(&answer.body)
            .chars()
            .take(500)
            .collect();
        let message = format!("status {}: {begin}", answer.status);
        return Err(fail(format!("{method} {path}"), message));
    }
    Ok(answer.body)
}

/// The bulk requests for a file of documents, and the documents' identities.
fn bulks(file: &Path, id: &str) -> Result<(Vec<String>, Vec<String>), Problem> {
    let (mut bulks, mut ids) = (vec![String::new()], Vec::new());
    for (index, line) in lines(file)?.enumerate() {
        let place = || format!("{}:{}", file.display(), index + 1);
        let line = line.map_err(|error| fail(place(), error))?;
        if line.is_empty() {
            continue;
        }
        let document: Value = serde_json::from_str(&line).map_err(|error| fail(place(), error))?;
        let identity = match &document[id] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(fail(place(), format!("the document has no `{id}`"))),
        };
        let action = json!({ "index": { "_id": identity } });
        let mut bulk = bulks.pop().unwrap_or_default();
        if !bulk.is_empty() && bulk.len() + line.len() > BULK_BYTES {
            bulks.push(std::mem::take(&mut bulk));
        }
        bulk.push_str(&format!("{action}\n{line}\n"));
        bulks.push(bulk);
        ids.push(identity);
    }
    if ids.is_empty() {
        return Err(fail(file.display(), "no documents"));
    }
    Ok((bulks, ids))
}

fn lines(file: &Path) -> Result<impl Iterator<Item = io::Result<String>>, Problem> {
    let opened = fs::File::open(file).map_err(|error| fail(file.display(), error))?;
    let reader: Box<dyn Read> = if file.extension().is_some_and(|ending| ending == "gz") {
        Box::new(GzDecoder::new(opened))
    } else {
        Box::new(opened)
    };
    Ok(BufReader::new(reader).lines())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{BULK_BYTES, Mapping, bulks};

    fn suite_data() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../suites/locations/data")
    }

    #[test]
    fn the_data_of_the_locations_suite_are_readable() {
        let text = fs::read_to_string(suite_data().join("mapping.json")).unwrap();
        let mapping: Mapping = serde_json::from_str(&text).unwrap();
        let counts: Vec<(&str, usize)> = mapping
            .indices
            .values()
            .map(|index| {
                let (_, ids) = bulks(&suite_data().join(&index.documents), &index.id).unwrap();
                (index.alias.as_str(), ids.len())
            })
            .collect();
        assert_eq!(counts, [("city", 16), ("region", 13)]);
    }

    #[test]
    fn documents_become_bulks_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ndjson");
        fs::write(&path, "{\"n\":1}\n\n{\"n\":\"x\"}\n").unwrap();
        let (sent, ids) = bulks(&path, "n").unwrap();
        let expect = "{\"index\":{\"_id\":\"1\"}}\n{\"n\":1}\n\
                      {\"index\":{\"_id\":\"x\"}}\n{\"n\":\"x\"}\n";
        assert_eq!(
            (sent.as_slice(), ids.len()),
            ([expect.to_owned()].as_slice(), 2)
        );
        let large = format!("{{\"n\":1,\"x\":\"{}\"}}\n", "a".repeat(BULK_BYTES / 2));
        fs::write(&path, large.repeat(3)).unwrap();
        assert_eq!(bulks(&path, "n").unwrap().0.len(), 3);
    }

    #[test]
    fn mistakes_name_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ndjson");
        for (text, expect) in [
            ("", ": no documents"),
            ("{\"n\":1}\n{}\n", ":2: the document has no `n`"),
            ("{", ":1: EOF while parsing an object at line 1 column 1"),
        ] {
            fs::write(&path, text).unwrap();
            let error = bulks(&path, "n").unwrap_err().to_string();
            assert_eq!(error, format!("{}{expect}", path.display()));
        }
        fs::write(folder.path().join("b.gz"), "no gzip").unwrap();
        assert!(bulks(&folder.path().join("b.gz"), "n").is_err());
    }
}
