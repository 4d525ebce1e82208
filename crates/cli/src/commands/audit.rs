//! `bakeoff audit`: the implausible records of a session or published numbers of a suite.

use std::io::Write;
use std::path::{Path, PathBuf};

use bakeoff_base::hint::hinted;
use bakeoff_base::text::printable_lines;
use bakeoff_store::{results, suite_folder};
use bakeoff_validity::audit::{self, AuditFinding, FoundKind};
use clap::Args;

use crate::exit;

/// The exit status of `audit`, for its help.
const AUDIT_HELP: &str = "\
Exit status 2 if a ranked number is not fair, or is impossible. Verdicts that differ without that
are listed and leave it at 0.";

#[derive(Debug, Args)]
#[command(after_long_help = AUDIT_HELP)]
pub(crate) struct AuditArgs {
    /// A results folder, a folder of rounds, or the folder of a suite.
    pub(crate) folder: PathBuf,
}

/// Runs the command.
pub(crate) fn audit(args: &AuditArgs) -> anyhow::Result<u8> {
    let mut output = std::io::stdout().lock();
    let mut misleads = false;
    for (name, found) in audits(&args.folder)? {
        misleads |= found.iter().any(|one| one.kind.misleads());
        write_found(&mut output, &name, &found)?;
    }
    Ok(match misleads {
        true => exit::CHECK_FAILED,
        false => exit::DONE,
    })
}

/// Returns the subjects of the audit of a folder, each with its findings.
fn audits(folder: &Path) -> anyhow::Result<Vec<(String, Vec<AuditFinding>)>> {
    let audited = |folder: &Path| -> anyhow::Result<(String, Vec<AuditFinding>)> {
        let (records, _) = results::read_session(folder)?;
        let mut title = folder.display().to_string();
        let unmade = records.unmade.map(|unmade| unmade.to_string());
        for lack in records.session_missing.iter().chain(&unmade) {
            title += &format!("\n  {lack}");
        }
        Ok((title, audit::results(&records)))
    };
    if let Some(rounds) = results::folders(folder)? {
        return rounds.iter().map(|round| audited(round)).collect();
    }
    if results::has_records(folder) {
        return Ok(vec![audited(folder)?]);
    }
    if !folder.join("suite.toml").is_file() {
        return Err(hinted(
            format_args!("{}: neither results nor a suite", folder.display()),
            "a folder with records/, rounds.json or suite.toml",
        ));
    }
    let suite = suite_folder::read(folder)?.suite;
    let published = suite.published.unwrap_or_default();
    let name = format!("{}: published.toml", folder.display());
    Ok(vec![(name, audit::published(&published))])
}

fn write_found(output: &mut impl Write, name: &str, found: &[AuditFinding]) -> anyhow::Result<()> {
    writeln!(output, "{name}")?;
    if found.is_empty() {
        writeln!(output, "  nothing was found")?;
    }
    let groups = [
        (FoundKind::Impossible, "cannot be"),
        (
            FoundKind::UnfairButRanked,
            "was ranked, and is not fair by today's rules",
        ),
        (FoundKind::Differs, "has another verdict by today's rules"),
    ];
    for (kind, title) in groups {
        let of_kind = || found.iter().filter(|one| one.kind == kind);
        if of_kind().next().is_some() {
            writeln!(output, "  {title}:")?;
        }
        for AuditFinding {
            subject, sentence, ..
        } in of_kind()
        {
            let line = printable_lines(&format!("{subject}: {sentence}"));
            writeln!(output, "    {line}")?;
        }
    }
    Ok(())
}
