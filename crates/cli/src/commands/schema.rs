//! `bakeoff schema`: the JSON Schemas of all file formats.

use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, bail};

use crate::args::SchemaArgs;
use crate::exit;

/// Runs the command.
pub(crate) fn schema(args: &SchemaArgs) -> anyhow::Result<u8> {
    let schemas = bakeoff_model::schema::schemas();
    if let Some(folder) = &args.write {
        fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        for (name, text) in schemas {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
        }
        return Ok(exit::DONE);
    }
    let known: Vec<&str> = schemas.iter().map(|(name, _)| *name).collect();
    let mut output = std::io::stdout().lock();
    let Some(format) = &args.format else {
        writeln!(output, "{}", known.join("\n"))?;
        return Ok(exit::DONE);
    };
    let found = schemas
        .iter()
        .find(|(name, _)| name == format || name.split('.').next() == Some(format.as_str()));
    let Some((_, text)) = found else {
        bail!(
            "unknown format {format}\n  hint: known: {}",
            known.join(", ")
        );
    };
    writeln!(output, "{text}")?;
    Ok(exit::DONE)
}
