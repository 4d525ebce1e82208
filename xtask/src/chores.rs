//! Runs the parts of a chore one after the other, and says at the end how long each took.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::workspace::say;

/// Last lines of a failed command that are enough to hold its reason.
const REASON_LINES: usize = 15;

/// Environment variables of a command.
pub(crate) type Variables = &'static [(&'static str, &'static str)];

/// The parts of a chore so far.
pub(crate) struct Chores<'a> {
    root: &'a Path,
    began: Instant,
    steps: Vec<Step>,
    /// Notes on what could not be done, repeated at the end.
    notes: Vec<String>,
}

struct Step {
    name: String,
    took: Duration,
    outcome: &'static str,
}

impl<'a> Chores<'a> {
    /// `root` is the root of the workspace.
    pub(crate) fn new(root: &'a Path) -> Self {
        Self {
            root,
            began: Instant::now(),
            steps: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The root of the workspace.
    pub(crate) fn root(&self) -> &'a Path {
        self.root
    }

    /// Does one part and notes how long it took.
    pub(crate) fn step<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let began = Instant::now();
        let result = work(self);
        self.steps.push(Step {
            name: name.to_owned(),
            took: began.elapsed(),
            outcome: if result.is_ok() { "" } else { "failed" },
        });
        result.with_context(|| name.to_owned())
    }

    /// Runs one command as a separate step.
    pub(crate) fn run(&mut self, name: &str, line: &str) -> anyhow::Result<()> {
        self.run_with(name, line, &[])
    }

    /// Runs one command with some variables as a separate step.
    pub(crate) fn run_with(
        &mut self,
        name: &str,
        line: &str,
        env: &[(&str, &str)],
    ) -> anyhow::Result<()> {
        self.step(name, |chores| command(chores.root, line, env))
    }

    /// Runs commands, two at a time and with low priority, while some work goes on, which they
    /// prepare: if one fails, the step that needs it reports so later.
    pub(crate) fn beside<T>(
        &mut self,
        name: &str,
        prepared: &[(String, Variables)],
        work: impl FnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let (root, began) = (self.root, Instant::now());
        // Much of their time is that of one thread: a linker, Maven.
        let waiting = Mutex::new(prepared.iter());
        let prepare = || {
            let next = || waiting.lock().ok()?.next();
            while let Some((line, env)) = next() {
                let _ = command(root, &format!("nice -n 10 {line}"), env);
            }
            began.elapsed()
        };
        let (result, took) = thread::scope(|scope| {
            let preparing = [scope.spawn(prepare), scope.spawn(prepare)];
            let result = work(self);
            let took = preparing.map(|thread| thread.join().unwrap_or_default());
            (result, took.into_iter().max().unwrap_or_default())
        });
        self.steps.push(Step {
            name: name.to_owned(),
            took,
            outcome: "(concurrent)",
        });
        result
    }

    /// Notes something that could not be done and does not stop the run: printed now and once more
    /// at the end.
    pub(crate) fn note(&mut self, text: String) {
        say(&text);
        self.notes.push(text);
    }

    /// Says what took how long and what was not done.
    pub(crate) fn finish(self) {
        let mut table = String::from("\n   time  part\n");
        for step in &self.steps {
            let line = format!("{}  {} {}", clock(step.took), step.name, step.outcome);
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table.push_str(&format!("{}  all\n", clock(self.began.elapsed())));
        for note in &self.notes {
            table.push_str(note);
            table.push('\n');
        }
        let _ = write!(io::stdout(), "{table}");
    }
}

/// `  3:07` in minutes and seconds, seven wide.
fn clock(time: Duration) -> String {
    let seconds = (time.as_millis() + 500) / 1000;
    format!("{:>4}:{:02}", seconds / 60, seconds % 60)
}

/// Runs a command in the workspace's root, says which, and fails when it does.
pub(crate) fn command(root: &Path, line: &str, env: &[(&str, &str)]) -> anyhow::Result<()> {
    let status = start(root, line, env, |_| Ok(()))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}

fn start(
    root: &Path,
    line: &str,
    env: &[(&str, &str)],
    connect: impl FnOnce(&mut Command) -> anyhow::Result<()>,
) -> anyhow::Result<ExitStatus> {
    let variables: String = env
        .iter()
        .map(|(name, value)| format!("{name}={value} "))
        .collect();
    say(&format!("+ {variables}{line}"));
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let mut command = Command::new(program);
    command
        .args(words)
        .envs(env.iter().copied())
        .current_dir(root);
    connect(&mut command)?;
    let status = command.status();
    status.with_context(|| format!("cannot run {program}"))
}

/// Runs a command in the workspace's root that says at its end why it fails: the error ends with
/// the last lines that it printed.
pub(crate) fn command_with_reason(
    root: &Path,
    line: &str,
    env: &[(&str, &str)],
) -> anyhow::Result<()> {
    let (output, input) = io::pipe().context("no pipe")?;
    let mut last: VecDeque<String> = VecDeque::new();
    let status = thread::scope(|scope| {
        let lines = BufReader::new(output).lines();
        scope.spawn(|| {
            for line in lines.map_while(Result::ok) {
                let _ = writeln!(io::stdout(), "{line}");
                last.push_back(line);
                if last.len() > REASON_LINES {
                    last.pop_front();
                }
            }
        });
        start(root, line, env, |command| {
            let copy = input.try_clone().context("no pipe")?;
            command.stdout(copy).stderr(input);
            Ok(())
        })
    })?;
    if !status.success() {
        let last: Vec<String> = last.into();
        bail!("{line}: {status}; it printed last:\n{}", last.join("\n"));
    }
    Ok(())
}

/// Whether a command runs and succeeds; what it prints is thrown away.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::{Chores, clock, command_with_reason};

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(clock(Duration::from_millis(59_600)), "   1:00");
        assert_eq!(clock(Duration::from_secs(5407)), "  90:07");
    }

    #[test]
    fn a_part_that_fails_is_named_and_counted() {
        let mut chores = Chores::new(Path::new("."));
        let error = chores.step("part", |_| -> anyhow::Result<()> { anyhow::bail!("no") });
        assert_eq!(format!("{:#}", error.unwrap_err()), "part: no");
        assert!(chores.step("other", |_| Ok(())).is_ok());
        let outcomes: Vec<&str> = chores.steps.iter().map(|step| step.outcome).collect();
        assert_eq!(outcomes, ["failed", ""]);
    }

    #[test]
    fn a_command_that_fails_is_quoted() {
        let root = Path::new(".");
        let error = command_with_reason(root, "ls /dev/null /nothing-here", &[]).unwrap_err();
        assert!(error.to_string().contains("/nothing-here"), "{error}");
        assert!(command_with_reason(root, "true", &[]).is_ok());
    }
}
