//! Paths of this host in a service, which are relative to the folder of the file that names them:
//! made absolute before a service is merged with one of another file.

use std::env;
use std::path::Path;

use serde_json::{Map, Value};

/// Makes the paths of a service absolute that are relative to `folder`.
pub(super) fn made_absolute(service: &mut Map<String, Value>, folder: &Path) {
    for (key, value) in service {
        match key.as_str() {
            "build" => match value {
                Value::Object(table) => {
                    if let Some(context) = table.get_mut("context") {
                        context_in(context, folder);
                    }
                }
                context => context_in(context, folder),
            },
            "env_file" => env_files(value, folder),
            "volumes" => {
                let volumes = value.as_array_mut().into_iter().flatten();
                volumes.for_each(|volume| volume_in(volume, folder));
            }
            _ => {}
        }
    }
}

/// Returns a path below `folder`, or of the user's home.
pub(super) fn absolute(path: &str, folder: &Path) -> String {
    let home = env::var("HOME").ok();
    let path = match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Path::new(&format!("{home}{rest}")).to_owned()
        }
        _ => folder.join(path),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    // `/a/./b` is `/a/b`, and `/a/b/` is `/a/b`.
    let parts = path.components();
    parts.collect::<std::path::PathBuf>().display().to_string()
}

/// Whether the source of a short volume is a path and not the name of a volume.
pub(super) fn is_path(source: &str) -> bool {
    source.starts_with(['.', '/', '~'])
}

/// Whether the context of a build is a repository or an archive elsewhere.
pub(super) fn is_remote(context: &str) -> bool {
    context.contains("://")
        || ["git@", "github.com/"]
            .iter()
            .any(|begin| context.starts_with(begin))
}

fn context_in(context: &mut Value, folder: &Path) {
    if let Value::String(text) = context
        && !is_remote(text)
    {
        *text = absolute(text, folder);
    }
}

fn env_files(value: &mut Value, folder: &Path) {
    match value {
        Value::String(path) => *path = absolute(path, folder),
        Value::Array(list) => list.iter_mut().for_each(|one| env_files(one, folder)),
        Value::Object(table) => {
            if let Some(path) = table.get_mut("path") {
                env_files(path, folder);
            }
        }
        _ => {}
    }
}

fn volume_in(volume: &mut Value, folder: &Path) {
    match volume {
        Value::String(text) => {
            if let Some((source, rest)) = text.split_once(':')
                && is_path(source)
            {
                *text = format!("{}:{rest}", absolute(source, folder));
            }
        }
        Value::Object(table) if table.get("type").and_then(Value::as_str) == Some("bind") => {
            if let Some(Value::String(source)) = table.get_mut("source") {
                *source = absolute(source, folder);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::made_absolute;

    #[test]
    fn paths_are_those_of_the_file_that_names_them() {
        let service = json!({
            "image": "./a",
            "build": {"context": "../app", "dockerfile": "D"},
            "env_file": ["web.env", {"path": "./b.env", "required": false}],
            "volumes": ["./d/:/d:ro", "kept:/k", "/v", {"type": "bind", "source": "e"}]
        });
        let mut service = service.as_object().unwrap().clone();
        made_absolute(&mut service, Path::new("/top/deploy"));
        let expect = json!({
            "image": "./a",
            "build": {"context": "/top/deploy/../app", "dockerfile": "D"},
            "env_file": ["/top/deploy/web.env", {"path": "/top/deploy/b.env", "required": false}],
            "volumes": [
                "/top/deploy/d:/d:ro", "kept:/k", "/v", {"type": "bind", "source": "/top/deploy/e"}
            ]
        });
        assert_eq!(json!(service), expect);
        for (context, expect) in [(".", "/top"), ("https://h/r.git", "https://h/r.git")] {
            let mut service = json!({"build": context}).as_object().unwrap().clone();
            made_absolute(&mut service, Path::new("/top"));
            assert_eq!(service["build"], expect);
        }
    }
}
