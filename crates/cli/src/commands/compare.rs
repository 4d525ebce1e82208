//! `bakeoff compare`: one results folder against another, case by case.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::anyhow;
use bakeoff_analysis::NothingToCompare;
use bakeoff_base::hint::hinted;
use bakeoff_store::file::write_whole;
use bakeoff_store::results;
use clap::Args;

use crate::exit;
use crate::output::documents;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Results folder that is compared with.
    pub(crate) first: PathBuf,
    /// Results folder that is compared.
    pub(crate) second: PathBuf,
    /// Compare even results of different conditions; the output says so.
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Write the comparison also as a page, with a chart of the ratios.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<u8> {
    let first = results::read(&args.first)?;
    let second = results::read(&args.second)?;
    let differences = bakeoff_analysis::incompatible(&first, &second);
    let mut output = std::io::stdout().lock();
    if !differences.is_empty() {
        let list = differences.join("\n  ");
        if !args.anyway {
            return Err(hinted(
                format_args!("the sessions cannot be compared:\n  {list}"),
                "--anyway compares them all the same, and says so",
            ));
        }
        writeln!(output, "NOT COMPARABLE, compared all the same:\n  {list}\n")?;
    }
    let (first, second) = (documents::analysis(&first), documents::analysis(&second));
    let all = bakeoff_analysis::compared(&first, &second);
    if all.is_empty() {
        let why = anyhow!("the sessions have no case in common that both could measure");
        return Err(why.context(NothingToCompare));
    }
    writeln!(
        output,
        "{} -> {}, the second over the first",
        args.first.display(),
        args.second.display()
    )?;
    write!(output, "{}", bakeoff_report::terminal_comparison(&all))?;
    let pairs = bakeoff_analysis::pairs_twice(&first, &second);
    write!(output, "{}", bakeoff_report::terminal_repeats(&pairs))?;
    if let Some(file) = &args.html {
        let (first, second) = (args.first.display(), args.second.display());
        let names = [&*first.to_string(), &*second.to_string()];
        let page = bakeoff_report::comparison_page(&all, names, &differences);
        write_whole(file, page.as_bytes())?;
        writeln!(output, "page: {}", file.display())?;
    }
    Ok(match all.iter().any(|one| one.counts) {
        true => exit::DONE,
        false => exit::CHECK_FAILED,
    })
}
