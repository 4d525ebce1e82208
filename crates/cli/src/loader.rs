//! The loader as a separate process: this same binary, `bakeoff load -`, one order on its standard
//! input, events as JSON Lines on its standard output. Its cost is its own and is known.
//!
//! When the session dies, the loader's pipes close: it ends at its next line.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, bail};
use bakeoff_model::load::{LoadEvent, LoadSpec};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Starts loaders. The session's tests have one of their own.
pub(crate) trait Loader {
    /// A loader at work.
    type Load: RunningLoad;

    /// Starts a loader on an order.
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Self::Load>;
}

/// A loader at work. Dropping it ends it.
pub(crate) trait RunningLoad {
    /// The next event; `None` after the last one.
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>>;

    /// Lets the window of the step that is ready open.
    async fn go(&mut self) -> anyhow::Result<()>;
}

/// Starts loaders as processes of the given program.
#[derive(Debug)]
pub(crate) struct ProcessLoader {
    /// This binary.
    pub(crate) program: PathBuf,
}

/// A loader process.
#[derive(Debug)]
pub(crate) struct LoaderProcess {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    done: bool,
}

impl Loader for ProcessLoader {
    type Load = LoaderProcess;

    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<LoaderProcess> {
        let mut child = Command::new(&self.program)
            .args(["load", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            // A terminal's Ctrl-C is the session's to handle; the loader ends with its pipes.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the loader")?;
        let mut input = child
            .stdin
            .take()
            .context("the loader has no standard input")?;
        let output = child
            .stdout
            .take()
            .context("the loader has no standard output")?;
        let mut order = serde_json::to_vec(spec)?;
        order.push(b'\n');
        input
            .write_all(&order)
            .await
            .context("cannot send the loader its order")?;
        Ok(LoaderProcess {
            child,
            input,
            lines: BufReader::new(output).lines(),
            done: false,
        })
    }
}

impl RunningLoad for LoaderProcess {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        if self.done {
            return Ok(None);
        }
        let Some(line) = self
            .lines
            .next_line()
            .await
            .context("cannot read from the loader")?
        else {
            let status = self.child.wait().await?;
            bail!("the loader ended before its load did ({status})");
        };
        let event: LoadEvent = serde_json::from_str(&line)
            .with_context(|| format!("the loader wrote something else than an event: {line}"))?;
        if event == LoadEvent::Done {
            self.done = true;
            self.child.wait().await?;
        }
        Ok(Some(event))
    }

    async fn go(&mut self) -> anyhow::Result<()> {
        self.input
            .write_all(b"go\n")
            .await
            .context("cannot reach the loader")?;
        self.input.flush().await.context("cannot reach the loader")
    }
}
