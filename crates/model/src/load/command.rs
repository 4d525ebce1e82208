//! Commands to a stepwise load generator, a line each on its standard input: the same type writes
//! the lines and reads them.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::problem::Problem;

/// One line for a stepwise load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepCommand {
    /// `go`: opens the connections of the next step, or the window of the step that is ready.
    Go,
    /// `go at NS`: opens the window of the step that is ready at this instant of the wall clock of
    /// the load generator's machine, ns since the Unix epoch, or at once where that has passed.
    /// Between steps the same as [`StepCommand::Go`].
    GoAt(u64),
    /// `again`: opens the connections of the step that is done once more, instead of those of the
    /// next. Where none is done, the same as [`StepCommand::Go`].
    Again,
}

const GO: &str = "go";
const GO_AT: &str = "go at ";
const AGAIN: &str = "again";

impl fmt::Display for StepCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Go => f.write_str(GO),
            Self::GoAt(unix_ns) => write!(f, "{GO_AT}{unix_ns}"),
            Self::Again => f.write_str(AGAIN),
        }
    }
}

impl FromStr for StepCommand {
    type Err = Problem;

    fn from_str(line: &str) -> Result<Self, Problem> {
        let go_at = || line.strip_prefix(GO_AT)?.parse().ok().map(Self::GoAt);
        match line {
            GO => Ok(Self::Go),
            AGAIN => Ok(Self::Again),
            _ => go_at().ok_or_else(|| {
                format!(
                    "{line:?} is not a step command: write `go`, `again`, or `go at NS` with \
                     nanoseconds since the Unix epoch"
                )
                .into()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::StepCommand;

    #[test]
    fn what_is_written_is_read() {
        for (command, line) in [
            (StepCommand::Go, "go"),
            (
                StepCommand::GoAt(1_764_000_000_123_456_789),
                "go at 1764000000123456789",
            ),
            (StepCommand::Again, "again"),
        ] {
            assert_eq!(command.to_string(), line);
            assert_eq!(line.parse(), Ok(command));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for line in [
            "",
            "goo",
            "GO",
            "go at",
            "go at noon",
            "go at -1",
            "agian",
            " go",
        ] {
            let problem = line.parse::<StepCommand>().unwrap_err();
            let expect = format!("{line:?} is not a step command: write `go`");
            assert!(problem.message().starts_with(&expect), "{problem}");
        }
    }
}
