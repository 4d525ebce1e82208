//! Exit statuses, and the output of errors.

use std::io::Write as _;
use std::process::ExitCode;

use bakeoff_analysis::NothingToCompare;
use bakeoff_base::problem::Problem;
use bakeoff_base::text::printable_lines;

/// Everything asked for was done.
pub(crate) const DONE: u8 = 0;
/// The command could not be done: bad usage or input, missing tool, full disk.
pub(crate) const ERROR: u8 = 1;
/// A check failed, a contender could not be measured, nothing could be compared, or audited numbers
/// mislead.
pub(crate) const CHECK_FAILED: u8 = 2;
/// A condition given with `--fail-if` holds, or is undecided and this must fail.
pub(crate) const CONDITION: u8 = 3;
/// A sitting (`--for`) is over, and runs are left for the next one.
pub(crate) const LEFT: u8 = 4;
/// Stopped by Ctrl-C or a termination signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit statuses as help text, below the help of all commands.
pub(crate) const HELP: &str = "\
Exit status:
    0  everything asked for was done
    1  it could not be done: bad usage or input, missing tool, full disk
    2  a check failed, a contender could not be measured, nothing could be compared, or audited
       numbers mislead
    3  a condition given with --fail-if holds, or is undecided with --undecided fail
    4  the time of --for is over, and runs are left: --resume goes on
  130  stopped by Ctrl-C or a termination signal

`bakeoff --help-all` prints the help of all commands as one page.";

/// The status of a command that ended with `result`, its error shown on standard error.
pub(crate) fn code(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(DONE),
        Err(error) => {
            show(&error);
            let status = if error.is::<NothingToCompare>() {
                CHECK_FAILED
            } else {
                ERROR
            };
            ExitCode::from(status)
        }
    }
}

/// Shows an error on standard error.
pub(crate) fn show(error: &anyhow::Error) {
    // Standard error may be gone too; there is no reader then.
    let _ = writeln!(std::io::stderr(), "error: {}", sentence(error));
}

/// The status of a command line that is only about itself: help, or a mistake in it. Prints it.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Standard output and error may be gone.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { ERROR } else { DONE })
}

/// The chain of an error as one text: what was being done, then why it failed, with what shows it.
/// Hints stand last.
fn sentence(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let message = cause.to_string();
        // A cause that its wrapper has already quoted adds nothing.
        if !parts.iter().any(|part| part.contains(&message)) {
            parts.push(message);
        }
    }
    let mut text = parts.join(": ");
    let problems: Vec<&Problem> = { error.chain() }
        .filter_map(|cause| cause.downcast_ref::<Problem>())
        .collect();
    for line in problems.iter().flat_map(|one| one.evidence().lines()) {
        text.push_str(&format!("\n    {line}"));
    }
    for hint in problems.iter().flat_map(|one| one.hints()) {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    printable_lines(&text)
}

/// Whether the reader of the output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use bakeoff_base::problem::Problem;

    use super::sentence;

    #[test]
    fn evidence_and_hints_stand_below_the_chain() {
        let problem = Problem::new("not built")
            .with_hint("see the log")
            .with_hint("or ask")
            .with_evidence("make\n\x1b[2Jno rule");
        let text = sentence(&anyhow::Error::new(problem).context("backend"));
        let expect =
            "backend: not built\n    make\n     [2Jno rule\n  hint: see the log\n  hint: or ask";
        assert_eq!(text, expect);
    }
}
