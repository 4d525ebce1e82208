//! `bakeoff schema`: the JSON Schemas of all file formats and of the event stream.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::exit;
use crate::formats::{self, name, schemas};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The format [default: list all of them].
    #[arg(value_parser = PossibleValuesParser::new(formats::NAMES))]
    pub(crate) format: Option<String>,
    /// Write all schemas into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    pub(crate) write: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn schema(args: &SchemaArgs) -> anyhow::Result<u8> {
    let schemas = schemas();
    if let Some(folder) = &args.write {
        fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        for (file, text) in schemas {
            let path = folder.join(file);
            fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        }
        return Ok(exit::DONE);
    }
    let mut output = std::io::stdout().lock();
    for (file, text) in &schemas {
        match &args.format {
            None => writeln!(output, "{}", name(file))?,
            Some(format) if format == name(file) => write!(output, "{text}")?,
            Some(_) => {}
        }
    }
    Ok(exit::DONE)
}
