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
    /// `go at NS`: opens the window of the step that is ready at this instant, or at once if it has
    /// passed. NS is ns since the Unix epoch, on the wall clock of the load generator's machine.
    /// Between steps the same as [`StepCommand::Go`].
    GoAt(u64),
    /// `again`: opens the connections of the step that is repeated, instead of the next step's. If
    /// none is repeated, the same as [`StepCommand::Go`].
    Again,
    /// `leave N`: sends no further requests to this target, from 0, as its service has ended. Taken
    /// at any time, also within a step.
    Leave(u32),
}

const GO: &str = "go";
const GO_AT: &str = "go at ";
const AGAIN: &str = "again";
const LEAVE: &str = "leave ";

impl fmt::Display for StepCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Go => f.write_str(GO),
            Self::GoAt(unix_ns) => write!(f, "{GO_AT}{unix_ns}"),
            Self::Again => f.write_str(AGAIN),
            Self::Leave(side) => write!(f, "{LEAVE}{side}"),
        }
    }
}

impl FromStr for StepCommand {
    type Err = Problem;

    fn from_str(line: &str) -> Result<Self, Problem> {
        let go_at = || line.strip_prefix(GO_AT)?.parse().ok().map(Self::GoAt);
        let leave = || line.strip_prefix(LEAVE)?.parse().ok().map(Self::Leave);
        match line {
            GO => Ok(Self::Go),
            AGAIN => Ok(Self::Again),
            _ => go_at().or_else(leave).ok_or_else(|| {
                format!(
                    "{line:?} is not a step command: write `go`, `again`, `go at NS` with \
                     nanoseconds since the Unix epoch, or `leave N` with the number of a target"
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
            (StepCommand::Leave(3), "leave 3"),
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
            "leave",
            "leave -1",
            " go",
        ] {
            let problem = line.parse::<StepCommand>().unwrap_err();
            let expect = format!("{line:?} is not a step command: write `go`");
            assert!(problem.message().starts_with(&expect), "{problem}");
        }
    }
}
