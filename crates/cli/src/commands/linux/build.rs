//! `bakeoff build`: contenders and their receipts.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::text::printable_lines;
use bakeoff_build::{BuildError, Built};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::suite::Contender;
use bakeoff_session::selection;
use bakeoff_session::testbed::builds::{News, Which, build_all, build_options};
use bakeoff_store::event::Observer as _;
use bakeoff_store::suite_folder;
use clap::Args;
use serde_json::json;

use super::signals::interrupted;
use crate::exit;
use crate::output::session::progress::Progress;
use crate::output::session::shown::Shown;
use crate::output::text::human;

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Only contenders that match this glob; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) contender: Vec<String>,
    /// Print receipts as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command. A failed build does not keep the others from being built.
pub(crate) fn build(args: &BuildArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.suite)?;
    let suite = &folder.suite;
    let chosen = selection::contenders(suite, &args.contender)?;
    let contenders: Vec<&Contender> = suite
        .contenders
        .iter()
        .filter(|one| chosen.contains(&one.name))
        .collect();
    let build = async |contender: &&Contender, begun: &(dyn Fn() + Sync)| {
        let source = folder.contender_folder(contender);
        bakeoff_build::build_and_tell(contender, &source, &build_options(suite), begun).await
    };
    let mut progress = Progress::stderr(Shown::with_json(args.json));
    let mut status = exit::DONE;
    let tell = |news| match news {
        News::Began(index) => progress.observe(
            &Which {
                contender: &contenders[index].name,
                index,
                contenders: contenders.len(),
            }
            .building(),
        ),
        News::Ended(index, built, took) => {
            progress.build_ended(index);
            status = status.max(print(contenders[index], built, took, args.json)?);
            Ok(())
        }
        News::TimePasses => {
            progress.time_passes();
            Ok(())
        }
    };
    // Compilers that are at work end with the future of their build.
    let finished = tokio::runtime::Runtime::new()?.block_on(async {
        tokio::select! {
            built = build_all(&contenders, build, tell) => built.map(|()| true),
            () = interrupted() => Ok(false),
        }
    })?;
    Ok(if finished { status } else { exit::INTERRUPTED })
}

/// Prints the outcome of one contender. Returns the exit status for this outcome alone.
fn print(
    contender: &Contender,
    built: Result<Built, BuildError>,
    took: Duration,
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
            let state = match built.fresh {
                true => format!("built in {}", human(took)),
                false if built.is_nothing() => "nothing to build".to_owned(),
                false => "up to date".to_owned(),
            };
            let version = built.version.as_deref().map(str::trim);
            let version = version.map_or_else(String::new, |version| format!(": {version}"));
            writeln!(output, "{name}: {state}{version}")?;
            let toolchains: Vec<&str> = built.toolchains.values().map(String::as_str).collect();
            if let Some(artifact) = &built.artifact {
                writeln!(output, "  {}", artifact.digest)?;
            }
            writeln!(output, "  {}", toolchains.join("; "))?;
        }
        Err(error @ BuildError::Missing { .. }) => writeln!(output, "skipped: {error}")?,
        Err(error) => {
            writeln!(output, "FAILED {error}")?;
            for line in Failure::of(Stage::Build, error).details().lines() {
                writeln!(output, "  {}", printable_lines(line))?;
            }
            return Ok(exit::CHECK_FAILED);
        }
    }
    Ok(exit::DONE)
}
