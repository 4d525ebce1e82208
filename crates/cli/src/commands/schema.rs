//! `bakeoff schema`: the JSON Schemas of all file formats and of the event stream.

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;

use crate::args::SchemaArgs;
use crate::exit;
use crate::formats::{name, schemas};

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
