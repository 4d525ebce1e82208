//! `bakeoff capture`: what clients ask a running service, as a suite.

mod args;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Context as _;
use bakeoff_base::hint::hinted;
use bakeoff_base::text::counted;
use bakeoff_import::captured::Captured;
use bakeoff_model::load::tls::Tls;
use bakeoff_places::sweep::RunFolder;
use bakeoff_store::shell_text;
use bakeoff_workflows::capture::{CaptureOptions, Capturing};
use bakeoff_workflows::captured;
use tokio::process::{Child, Command};

use super::signals::interrupted;
use crate::exit;
use crate::output::text::{columns, wrapped};

pub(crate) use args::CaptureArgs;

/// How long a command may take to end after an interruption.
const GRACE: Duration = Duration::from_secs(5);

/// Runs the command.
pub(crate) fn capture(args: &CaptureArgs) -> anyhow::Result<u8> {
    captured::check(&args.out)?;
    tokio::runtime::Runtime::new()?.block_on(capture_all(args))
}

async fn capture_all(args: &CaptureArgs) -> anyhow::Result<u8> {
    let options = CaptureOptions {
        to: args.to.clone(),
        tls: Tls {
            insecure: args.insecure,
            ca: args.cacert.clone().map(Into::into),
            ..Tls::default()
        },
        listen: args.listen,
        secrets: args.secrets,
        harmless: args.harmless.clone(),
    };
    let capturing = Capturing::open(&options).await?;
    let folder = RunFolder::temporary()?;
    let certificate = capturing.certificate();
    let certificate = certificate
        .map(|pem| certificate_file(&folder, pem))
        .transpose()?;
    announce(args, &capturing)?;
    let mut command = command(args, &capturing.url(), certificate.as_deref())?;
    let mut ended = None;
    let stop = async {
        let command = async {
            match &mut command {
                Some(child) => child.wait().await.ok(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            status = command => ended = status,
            () = interrupted() => {}
        }
    };
    capturing.serve(stop).await;
    if let (Some(child), None) = (&mut command, ended) {
        // It has got the signal of the terminal, too.
        let _ = tokio::time::timeout(GRACE, child.wait()).await;
        let _ = child.kill().await;
    }
    let captured = capturing.take();
    if captured.arrivals.is_empty() {
        let left_out = captured.described.left_out_in_short();
        let hint = match left_out.is_empty() {
            true => format!("clients must use {}", capturing.url()),
            false => format!("left out: {}", left_out.join("; ")),
        };
        return Err(hinted("no request was captured", hint));
    }
    captured::write(&captured, &args.to, args.secrets, &args.out)?;
    print(args, &captured)?;
    match ended {
        Some(status) if !status.success() => {
            writeln!(
                std::io::stderr(),
                "note: the command ended with {}",
                shown(status)
            )?;
            Ok(exit::CHECK_FAILED)
        }
        _ => Ok(exit::DONE),
    }
}

/// Writes the certificate that clients must trust into a folder that goes with the command.
fn certificate_file(folder: &RunFolder, pem: &str) -> anyhow::Result<PathBuf> {
    let file = folder.path().join("capture.pem");
    std::fs::write(&file, pem).with_context(|| file.display().to_string())?;
    Ok(file)
}

fn announce(args: &CaptureArgs, capturing: &Capturing) -> anyhow::Result<()> {
    let mut output = std::io::stderr().lock();
    let end = match args.command.is_empty() {
        true => "; Ctrl-C ends the capture",
        false => "",
    };
    writeln!(output, "{} passes to {}{end}", capturing.url(), args.to)?;
    if let Some(pem) = capturing.certificate() {
        writeln!(
            output,
            "clients must trust this certificate, which is new each time:\n{pem}"
        )?;
    }
    Ok(())
}

/// Starts the client, if there is one.
fn command(
    args: &CaptureArgs,
    url: &str,
    certificate: Option<&Path>,
) -> anyhow::Result<Option<Child>> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Ok(None);
    };
    let arguments = arguments.iter().map(|one| one.replace("{url}", url));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("BAKEOFF_URL", url)
        .kill_on_drop(true);
    if let Some(file) = certificate {
        for name in ["BAKEOFF_CA", "NODE_EXTRA_CA_CERTS"] {
            command.env(name, file);
        }
    }
    let child = command.spawn();
    Ok(Some(
        child.with_context(|| format!("cannot start {program}"))?,
    ))
}

fn shown(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("status {code}"),
        None => status.to_string(),
    }
}

fn print(args: &CaptureArgs, captured: &Captured) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    let folder = shell_text::of_shell(&args.out);
    let described = &captured.described;
    let took = captured
        .arrivals
        .last()
        .map(|last| last.at)
        .unwrap_or_default();
    writeln!(
        output,
        "{folder}: {} in {:.1} s, {} different",
        counted(captured.arrivals.len() as u64, "request"),
        took.as_secs_f64(),
        described.operations.len(),
    )?;
    let left_out = described.left_out_in_short().into_iter();
    let left_out = left_out.map(|line| format!("left out: {line}"));
    for note in described.notes.iter().cloned().chain(left_out) {
        for (index, line) in wrapped(&note, columns() - 4).iter().enumerate() {
            let mark = if index == 0 { "  - " } else { "    " };
            writeln!(output, "{mark}{line}")?;
        }
    }
    if !captured.variables.is_empty() {
        writeln!(
            output,
            "credentials are variables; set them before the requests are sent:"
        )?;
        let names = captured.variables.iter().map(|one| one.name.len());
        let width = names.max().unwrap_or_default();
        for variable in &captured.variables {
            let values = match variable.values {
                1 => String::new(),
                several => format!(", which had {several} values"),
            };
            let name = &variable.name;
            writeln!(output, "  {name:width$}  `{}`{values}", variable.of)?;
        }
    }
    let writes = described
        .operations
        .iter()
        .any(|one| one.refusal(false).is_some());
    let writes = if writes { " --writes" } else { "" };
    writeln!(output, "next:")?;
    writeln!(
        output,
        "  bakeoff duel --captured {folder}{writes} 'old=...' 'new=...'"
    )?;
    writeln!(
        output,
        "  bakeoff load --captured {folder}{writes} {}",
        args.to
    )?;
    Ok(())
}
