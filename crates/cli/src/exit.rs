//! Exit statuses, and how an error is told to a person.

use std::io::Write as _;
use std::process::ExitCode;

/// Everything asked for was done.
pub(crate) const DONE: u8 = 0;
/// It could not be done: bad usage or input, missing tool, full disk.
pub(crate) const ERROR: u8 = 1;
/// A check failed, or a contender could not be measured.
pub(crate) const CHECK_FAILED: u8 = 2;
/// A condition given with `--fail-if` holds.
pub(crate) const CONDITION: u8 = 3;
/// Stopped by Ctrl-C or a termination signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// The status of a command that ended with `result`, its error told on standard error.
pub(crate) fn code(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(DONE),
        Err(error) => {
            // Standard error may be gone too; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "error: {}", sentence(&error));
            ExitCode::from(ERROR)
        }
    }
}

/// The status of a command line that is only about itself: help, or a mistake in it. Tells it.
pub(crate) fn usage(told: &clap::Error) -> ExitCode {
    // Standard output and error may be gone; there is nobody left to tell then.
    let _ = told.print();
    ExitCode::from(if told.use_stderr() { ERROR } else { DONE })
}

/// The chain of an error as one text: what was being done, then why it failed. Hints stay last.
fn sentence(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut hints: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        let (message, hint) = match text.split_once("\n  hint: ") {
            Some((message, hint)) if !hint.contains("\n\n") => (message.to_owned(), Some(hint)),
            _ => (text.clone(), None),
        };
        // A cause that its wrapper has already quoted adds nothing.
        if !parts.iter().any(|part| part.contains(&message)) {
            parts.push(message);
        }
        hints.extend(hint.map(str::to_owned));
    }
    let mut text = parts.join(": ");
    for hint in hints {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}

/// Whether the reader of the output went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
