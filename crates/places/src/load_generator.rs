//! The load generator as a separate process: this same binary, `bakeoff load -`, one load spec on
//! its standard input, events as JSON Lines on its standard output. Its cost is its own and is
//! known.
//!
//! When the session dies, the load generator's pipes close: it ends at its next line.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use bakeoff_model::load::{LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::record::{Cores, GeneratorCeiling};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::ceiling;
use crate::contracts::{LoadGenerator, RunningLoad};

/// The arguments with which this program is a load generator.
pub(super) const LOAD: [&str; 2] = ["load", "-"];

/// How often a killed load generator is looked at, and how long at most.
const END_POLL: Duration = Duration::from_millis(1);
const END_LIMIT: Duration = Duration::from_secs(2);

/// Starts load generators as processes of the given program.
#[derive(Debug)]
pub struct ProcessGenerator {
    /// This binary.
    pub program: PathBuf,
}

impl ProcessGenerator {
    /// Returns the generator that is this program.
    ///
    /// # Errors
    /// This program's own file is gone.
    pub fn of_this_program() -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        Ok(Self { program })
    }
}

/// A load generator process.
pub(super) struct GeneratorProcess {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    done: bool,
}

#[async_trait(?Send)]
impl LoadGenerator for ProcessGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let mut command = Command::new(&self.program);
        command.args(LOAD);
        Ok(Box::new(started(command, spec).await?))
    }

    async fn ceiling(&self, cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let (program, cores) = (self.program.clone(), cores.clone());
        let measuring = move || ceiling::measure(&program, &cores);
        let measured = tokio::task::spawn_blocking(measuring).await;
        measured.context("the engine panicked")?
    }
}

/// Starts a load generator by a command that ends in [`LOAD`].
pub(super) async fn started(
    mut command: Command,
    spec: &LoadSpec,
) -> anyhow::Result<GeneratorProcess> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        // A terminal's Ctrl-C is the session's to handle; this process ends with its pipes.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .context("cannot start the load generator")?;
    let mut input = child
        .stdin
        .take()
        .context("the load generator has no standard input")?;
    let output = child
        .stdout
        .take()
        .context("the load generator has no standard output")?;
    let mut line = serde_json::to_vec(spec)?;
    line.push(b'\n');
    input
        .write_all(&line)
        .await
        .context("cannot send the load generator its load spec")?;
    Ok(GeneratorProcess {
        child,
        input,
        lines: BufReader::new(output).lines(),
        done: false,
    })
}

impl Drop for GeneratorProcess {
    /// Ends the load before anything else is given up: the networks that keep it on this host go
    /// after it.
    fn drop(&mut self) {
        let _ = self.child.start_kill();
        let deadline = Instant::now() + END_LIMIT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(END_POLL);
        }
    }
}

#[async_trait(?Send)]
impl RunningLoad for GeneratorProcess {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        if self.done {
            return Ok(None);
        }
        let Some(line) = self
            .lines
            .next_line()
            .await
            .context("cannot read from the load generator")?
        else {
            let status = self.child.wait().await?;
            bail!("the load generator ended before its load did ({status})");
        };
        let event: LoadEvent = serde_json::from_str(&line).with_context(|| {
            format!("the load generator wrote something else than an event: {line}")
        })?;
        if event == LoadEvent::Done {
            self.done = true;
            self.child.wait().await?;
        }
        Ok(Some(event))
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        let line = format!("{command}\n");
        let written = match self.input.write_all(line.as_bytes()).await {
            Ok(()) => self.input.flush().await,
            error => error,
        };
        written.context("cannot reach the load generator")
    }
}
