//! `bakeoff build`: contenders and their receipts.

use std::io::Write as _;
use std::pin::pin;

use bakeoff_model::suite::Contender;
use bakeoff_runtime::build::{self, BuildError, Built};
use bakeoff_session::selection;
use bakeoff_session::store::suite_folder;
use bakeoff_session::testbed::builds::{BUILDS_AT_ONCE, build_options};
use futures_util::stream::{self, StreamExt as _};
use serde_json::json;

use crate::args::BuildArgs;
use crate::exit;

/// Runs the command. A failed build does not keep the others from being built.
pub(crate) fn build(args: &BuildArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.suite)?;
    let suite = &folder.suite;
    let chosen = selection::contenders(suite, &args.contender)?;
    let contenders = suite
        .contenders
        .iter()
        .filter(|one| chosen.contains(&one.name));
    let builds = contenders.map(async |contender| {
        let source = folder.contender_folder(contender);
        let built = build::build(contender, &source, &build_options(suite)).await;
        (contender, built)
    });
    tokio::runtime::Runtime::new()?.block_on(async {
        let mut status = exit::DONE;
        let mut builds = pin!(stream::iter(builds).buffered(BUILDS_AT_ONCE));
        while let Some((contender, built)) = builds.next().await {
            status = status.max(print(contender, built, args.json)?);
        }
        Ok(status)
    })
}

/// Prints what came of one contender; the status that this alone would end the command with.
fn print(
    contender: &Contender,
    built: Result<Built, BuildError>,
    as_json: bool,
) -> anyhow::Result<u8> {
    let mut output = std::io::stdout().lock();
    let name = &contender.name;
    match built {
        Ok(built) if as_json => {
            let receipt = json!({
                "contender": name,
                "artifact": built.artifact.as_ref().map(|artifact| &artifact.path),
                "digest": built.artifact.as_ref().map(|artifact| &artifact.digest),
                "version": built.version,
                "toolchains": built.toolchains,
                "command": contender.build,
                "environment": contender.build_env,
                "fresh": built.fresh,
            });
            writeln!(output, "{receipt}")?;
        }
        Ok(built) => {
            let state = if built.fresh { "built" } else { "up to date" };
            let version = built
                .version
                .unwrap_or_else(|| "no version receipt".to_owned());
            writeln!(output, "{name}: {state}: {}", version.trim())?;
            let toolchains: Vec<&str> = built.toolchains.values().map(String::as_str).collect();
            if let Some(artifact) = &built.artifact {
                writeln!(output, "  {}", artifact.digest)?;
            }
            writeln!(output, "  {}", toolchains.join("; "))?;
        }
        Err(error @ BuildError::Missing { .. }) => writeln!(output, "skipped: {error}")?,
        Err(error) => {
            writeln!(output, "FAILED {error}")?;
            for line in error.failure().details().lines() {
                writeln!(output, "  {line}")?;
            }
            return Ok(exit::CHECK_FAILED);
        }
    }
    Ok(exit::DONE)
}
