//! `bakeoff init`: a suite to begin with.

use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, anyhow};
use bakeoff_base::text::counted;
use bakeoff_model::service_url::ServiceUrl;
use bakeoff_session::duel::{Service, Side};
use bakeoff_session::init::openapi::{self, Described};
use bakeoff_session::init::{self, Init};

use crate::args::InitArgs;
use crate::exit;

/// Runs the command.
pub(crate) fn init(args: &InitArgs) -> anyhow::Result<u8> {
    let described = match &args.openapi {
        Some(source) => Some(described(source)?),
        None => None,
    };
    let init = Init {
        sides: args.sides.iter().map(|side| side.0.clone()).collect(),
        described,
        port: args.port,
        ready_path: args.ready.0.clone(),
    };
    init::write(&init, &args.folder)?;
    let mut output = std::io::stdout().lock();
    if let Some(described) = &init.described {
        writeln!(
            output,
            "{} of the description, {} left out (checks/all.toml says why)",
            counted(described.operations.len() as u64, "request"),
            described.left_out.len()
        )?;
    }
    let folder = args.folder.display();
    let runtime = runtime(&init.sides);
    writeln!(output, "{folder}: a suite; next:")?;
    writeln!(output, "  bakeoff verify {folder}{runtime}")?;
    writeln!(output, "  bakeoff run {folder}{runtime}")?;
    Ok(exit::DONE)
}

/// The option that services of this kind need.
fn runtime(sides: &[Side]) -> &'static str {
    match sides.first().map(|side| &side.service) {
        None | Some(Service::Command(_)) => "",
        Some(Service::Image(_)) => " --runtime docker",
        Some(Service::Url(_)) => " --runtime external",
    }
}

fn described(source: &str) -> anyhow::Result<Described> {
    let text = match source.contains("://") {
        true => fetched(source)?,
        false => fs::read_to_string(source).with_context(|| source.to_owned())?,
    };
    openapi::read(&text).map_err(|message| anyhow!("{source}: {message}"))
}

/// What is at a URL.
fn fetched(url: &str) -> anyhow::Result<String> {
    let url = ServiceUrl::new(url)?;
    tokio::runtime::Runtime::new()?.block_on(init::fetch(&url))
}
