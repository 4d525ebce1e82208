//! `bakeoff init`: a first suite.

mod args;

use std::io::Write as _;

use bakeoff_base::hint::hinted;
use bakeoff_base::text::counted;
use bakeoff_store::shell_text;
use bakeoff_workflows::init::{self, Init, Origin};
use bakeoff_workflows::service::{DuelService, ServiceSource};

use super::imported;
use crate::exit;
use crate::output::text::{columns, wrapped};

pub(crate) use args::InitArgs;

/// The port unless another is named.
const PORT: u16 = 8080;

/// Runs the command.
pub(crate) fn init(args: &InitArgs) -> anyhow::Result<u8> {
    let origin = origin(args)?;
    if args.sides.is_empty() && matches!(origin, Origin::Described(_)) {
        return Err(hinted(
            "no service to ask: NAME=SERVICE is missing",
            "name those to compare: 'old=./shop-1' 'new=./shop-2'",
        ));
    }
    let init = Init {
        sides: args.sides.iter().map(|side| side.0.clone()).collect(),
        dependencies: Vec::new(),
        origin,
        port: args.port.unwrap_or(PORT),
        ready_path: args.ready.0.clone(),
        is_private: args.imported.secrets,
    };
    let init = composed(init, args)?;
    init::write(&init, &args.folder)?;
    let mut output = std::io::stdout().lock();
    if let Origin::Described(described) = &init.origin {
        writeln!(
            output,
            "{} of the {}, {} left out (checks/all.toml says why)",
            counted(described.operations.len() as u64, "request"),
            described.source.noun(),
            described.left_out.len()
        )?;
        for note in &described.notes {
            for (index, line) in wrapped(note, columns() - 4).iter().enumerate() {
                let mark = if index == 0 { "  - " } else { "    " };
                writeln!(output, "{mark}{line}")?;
            }
        }
    }
    let folder = shell_text::of_shell(&args.folder);
    let runtime = runtime(&init.sides);
    writeln!(output, "{folder}: a suite; next:")?;
    if init.origin == Origin::Locations && init.sides.is_empty() {
        writeln!(output, "  add yours: {folder}/contenders/README.md")?;
    }
    writeln!(output, "  bakeoff verify {folder}{runtime}")?;
    writeln!(output, "  bakeoff run {folder}{runtime}")?;
    Ok(exit::DONE)
}

/// Looks the services of a compose file up.
#[cfg(target_os = "linux")]
fn composed(init: Init, args: &InitArgs) -> anyhow::Result<Init> {
    let composed = init.with_composed(args.compose.as_deref(), args.port);
    tokio::runtime::Runtime::new()?.block_on(composed)
}

/// Images of a compose file are built by an engine, which is a part of what measures.
#[cfg(not(target_os = "linux"))]
fn composed(init: Init, args: &InitArgs) -> anyhow::Result<Init> {
    let is_looked_up = |side: &&DuelService| {
        matches!(
            side.service,
            ServiceSource::Compose(_) | ServiceSource::Deployment(_)
        )
    };
    let side = init.sides.iter().find(is_looked_up);
    if args.compose.is_some() || side.is_some() {
        return Err(hinted(
            "only bakeoff for Linux looks services of compose files and Deployments up",
            "name images instead (NAME=image:IMAGE)",
        ));
    }
    Ok(init)
}

/// Where the suite comes from.
fn origin(args: &InitArgs) -> anyhow::Result<Origin> {
    if args.like.is_some() {
        return Ok(Origin::Locations);
    }
    let described = imported::read(&args.imported)?;
    Ok(described.map_or(Origin::Template, Origin::Described))
}

/// The option that services of this kind need.
fn runtime(sides: &[DuelService]) -> &'static str {
    match sides.first().map(|side| &side.service) {
        None | Some(ServiceSource::Command(_)) => "",
        Some(ServiceSource::Image(_) | ServiceSource::Compose(_)) => " --runtime docker",
        Some(ServiceSource::Deployment(_)) => " --runtime kubernetes",
        Some(ServiceSource::Url(_)) => " --runtime external",
    }
}
