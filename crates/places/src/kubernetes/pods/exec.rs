//! A subcommand of this program that runs in a Pod, with its lines.

use std::pin::Pin;
use std::time::Instant;

use bakeoff_base::problem::Problem;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{AttachParams, AttachedProcess};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
    Lines,
};

use crate::kubernetes::cluster::error::{AWAY_MAX, AWAY_PAUSE, ClusterError, is_away};
use crate::remote::PROGRAM;
use crate::remote::client::Way;

/// The size of the buffer of each direction, bytes.
const BUFFER: usize = 1 << 20;

/// A process in a Pod. Dropping it closes its input, at which it ends.
pub struct Attached {
    process: AttachedProcess,
    input: Pin<Box<dyn AsyncWrite + Send>>,
    lines: Lines<BufReader<Pin<Box<dyn AsyncRead + Send>>>>,
    what: String,
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Attached({})", self.what)
    }
}

impl Attached {
    /// Starts a subcommand in a Pod of this program.
    pub(crate) async fn start(
        pods: &Api<Pod>,
        pod: &str,
        arguments: &[&str],
    ) -> Result<Self, ClusterError> {
        Self::start_in(pods, pod, None, arguments).await
    }

    /// Starts a command in one of several containers of a Pod.
    pub(crate) async fn start_in(
        pods: &Api<Pod>,
        pod: &str,
        container: Option<&str>,
        arguments: &[&str],
    ) -> Result<Self, ClusterError> {
        let parameters = AttachParams {
            container: container.map(str::to_owned),
            stdin: true,
            stdout: true,
            stderr: false,
            max_stdin_buf_size: Some(BUFFER),
            max_stdout_buf_size: Some(BUFFER),
            ..AttachParams::default()
        };
        let command = [&[PROGRAM], arguments].concat();
        let what = format!("`{}` in Pod {pod}", command.join(" "));
        let started = Instant::now();
        let mut process = loop {
            match pods.exec(pod, command.clone(), &parameters).await {
                Ok(process) => break process,
                Err(error) if is_away(&error) && started.elapsed() < AWAY_MAX => {
                    tokio::time::sleep(AWAY_PAUSE).await;
                }
                Err(error) => return Err(ClusterError::of(&format!("execute {what}"), &error)),
            }
        };
        let (Some(input), Some(output)) = (process.stdin(), process.stdout()) else {
            return Err(ClusterError::new(format!("{what} has no standard input")));
        };
        let output: Pin<Box<dyn AsyncRead + Send>> = Box::pin(output);
        Ok(Self {
            process,
            input: Box::pin(input),
            lines: BufReader::new(output).lines(),
            what,
        })
    }
}

impl Way for Attached {
    async fn say(&mut self, line: &str) -> Result<(), Problem> {
        let what = &self.what;
        let cut = |error| Problem::new(format_args!("{what} cannot be reached: {error}"));
        self.input.write_all(line.as_bytes()).await.map_err(cut)?;
        self.input.write_all(b"\n").await.map_err(cut)?;
        self.input.flush().await.map_err(cut)
    }

    async fn hear(&mut self) -> Result<String, Problem> {
        let line = self.lines.next_line().await;
        let line = line.map_err(|error| format!("cannot read from {}: {error}", self.what))?;
        line.ok_or_else(|| {
            Problem::new(format_args!(
                "{} ended, or the way to it was cut",
                self.what
            ))
            .with_hint("was its Pod evicted, or the API server restarted?")
        })
    }
}

/// Runs a command in a Pod to its end; what it prints.
pub(crate) async fn output(
    pods: &Api<Pod>,
    pod: &str,
    command: &[String],
) -> Result<String, ClusterError> {
    let parameters = AttachParams::default().stdin(false);
    let begun = pods.exec(pod, command, &parameters).await;
    let mut process =
        begun.map_err(|error| ClusterError::of(&format!("execute a command in {pod}"), &error))?;
    let ended = process.take_status();
    let (mut printed, mut complaint) = (String::new(), String::new());
    let (out, err) = (process.stdout(), process.stderr());
    let (read, complained, status) =
        tokio::join!(read(out, &mut printed), read(err, &mut complaint), async {
            ended?.await
        });
    let cut = |error| ClusterError::new(format!("cannot read from a command in {pod}: {error}"));
    read.and(complained).map_err(cut)?;
    match status.and_then(|status| status.status) {
        Some(status) if status == "Success" => Ok(printed.trim().to_owned()),
        Some(_) => Err(ClusterError::new(complaint.trim())),
        None => Err(ClusterError::new(format!("the way to {pod} was cut"))),
    }
}

async fn read(from: Option<impl AsyncRead + Unpin>, to: &mut String) -> std::io::Result<usize> {
    match from {
        Some(mut from) => from.read_to_string(to).await,
        None => Ok(0),
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.process.abort();
    }
}
