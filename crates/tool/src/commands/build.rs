//! `bakeoff build`: contenders and their receipts.

use std::io::Write as _;

use bakeoff_model::plan;
use bakeoff_runtime::build::{self, BuildError};
use serde_json::json;

use super::bench::build_options;
use crate::args::BuildArgs;
use crate::{exit, suite_folder};

/// Runs the command. A failed build does not keep the others from being built.
pub(crate) fn build(args: &BuildArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.suite)?;
    let suite = &folder.suite;
    let names: Vec<String> = suite
        .contenders
        .iter()
        .map(|one| one.name.clone())
        .collect();
    let chosen = plan::select("contender", &names, &args.contender).map_err(super::unknown)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut output = std::io::stdout().lock();
    let mut status = exit::DONE;
    for contender in suite
        .contenders
        .iter()
        .filter(|one| chosen.contains(&one.name))
    {
        let source = folder.contender_folder(&contender.folder);
        let name = &contender.name;
        match runtime.block_on(build::build(contender, &source, &build_options(suite))) {
            Ok(built) if args.json => {
                let receipt = json!({
                    "contender": name,
                    "artifact": built.artifact,
                    "digest": built.digest,
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
                writeln!(output, "  {}", built.digest)?;
                writeln!(output, "  {}", toolchains.join("; "))?;
            }
            Err(error @ BuildError::Missing { .. }) => writeln!(output, "skipped: {error}")?,
            Err(error) => {
                status = exit::CHECK_FAILED;
                writeln!(output, "FAILED {error}")?;
                if let BuildError::Failed {
                    command,
                    last_lines,
                    hint,
                    ..
                } = error
                {
                    let hint = hint.unwrap_or_default();
                    writeln!(output, "  {command}\n{last_lines}\n  hint: {hint}")?;
                }
            }
        }
    }
    Ok(status)
}
