//! Requests from files of other formats: read for `init` and `duel`.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use bakeoff_base::problem::Problem;
use bakeoff_import::curl::{self, CurlRequest};
use bakeoff_import::har;
use bakeoff_import::openapi::Selected;
use bakeoff_import::{Choice, Described, Outside, http_file, openapi};
use bakeoff_workflows::captured;

use crate::args::ImportedArgs;

/// Reads the requests that are written down, if there are any.
pub(crate) fn read(args: &ImportedArgs) -> anyhow::Result<Option<Described>> {
    let source = &args.source;
    if let Some(place) = &source.openapi {
        let selected = Selected {
            base: args.base_path.as_ref().map(|path| path.0.clone()),
            writes: args.writes,
            named: args.operation.clone(),
        };
        let text = match place.contains("://") {
            true => fetched(place)?,
            false => text(Path::new(place))?,
        };
        let described = openapi::read(&text, &selected).map_err(|why| why.context(place))?;
        return Ok(Some(described));
    }
    if let Some(folder) = &source.captured {
        return Ok(Some(captured::read(folder)?.described(args.writes)));
    }
    let choice = Choice {
        host: args.host.clone(),
        secrets: args.secrets,
        writes: args.writes,
    };
    if let Some(file) = &source.har {
        let described = har::read(&text(file)?, &choice);
        return Ok(Some(described.map_err(|why| why.context(file.display()))?));
    }
    let Some(file) = &source.requests else {
        return Ok(None);
    };
    // Names of other files in it are relative to its folder.
    let folder = file.parent().unwrap_or(Path::new(""));
    let outside = Outside {
        file: &|name| bytes(&folder.join(name)),
        ..outside()
    };
    let described = http_file::read(&text(file)?, &choice, outside);
    Ok(Some(described.map_err(|why| why.context(file.display()))?))
}

/// Reads requests that are written as commands of curl, with the variables of this environment and
/// files relative to this folder.
pub(crate) fn curl(commands: &[String]) -> anyhow::Result<Vec<CurlRequest>> {
    let read = |(number, command): (usize, &String)| {
        let which = match commands.len() {
            1 => "--curl".to_owned(),
            _ => format!("--curl number {number}"),
        };
        curl::read(command, outside()).map_err(|why| why.context(which).into())
    };
    (1..).zip(commands).map(read).collect()
}

/// The variables of this environment, files from this folder on, and the clock.
fn outside() -> Outside<'static> {
    Outside {
        variable: &|name| std::env::var(name).ok(),
        file: &|name| bytes(Path::new(name)),
        now_s: &|| {
            #[expect(
                clippy::disallowed_methods,
                reason = "a file of requests can ask for the time of the wall clock"
            )]
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.unwrap_or_default().as_secs()
        },
    }
}

fn bytes(file: &Path) -> Result<Vec<u8>, Problem> {
    fs::read(file).map_err(|error| Problem::new(format_args!("{}: {error}", file.display())))
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}

/// Fetches the text at a URL.
#[cfg(target_os = "linux")]
fn fetched(url: &str) -> anyhow::Result<String> {
    let url = bakeoff_model::text::service_url::ServiceUrl::new(url)?;
    let fetching = bakeoff_workflows::init::outside::fetch(&url);
    tokio::runtime::Runtime::new()?.block_on(fetching)
}

/// The client that fetches is a part of what measures.
#[cfg(not(target_os = "linux"))]
fn fetched(url: &str) -> anyhow::Result<String> {
    Err(bakeoff_base::hint::hinted(
        format_args!("{url}: only bakeoff for Linux fetches a description"),
        "save it to a file, and name the file",
    ))
}
