//! `bakeoff load`: the load generator alone, on a URL or on a load spec from standard input.

#[cfg(test)]
mod agreement;
mod args;
pub(crate) mod capacity;
mod captured;
mod fleet;
mod page;
pub(crate) mod spec;
mod stdin;
mod summary;
mod url;

use std::io::Write as _;
use std::time::Duration;

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_load::{Go, Stop};
use bakeoff_model::load::{LoadEvent, LoadSpec};
use bakeoff_model::measure::resource::TcpCounters;
use bakeoff_places::meter::own_tcp;

use super::signals::interrupted_twice;
use crate::exit;
use crate::values::condition::Condition;
use summary::Summary;

pub(crate) use args::LoadArgs;

/// Runs the command.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<u8> {
    if args.url == "-" {
        return stdin::serve();
    }
    if !args.capacity.is_empty() {
        return capacity::search(args);
    }
    let spec = reached(spec::spec(args)?)?;
    let mut printer = Printer {
        args,
        spec: &spec,
        summary: Summary::new(&spec),
        tcp: None,
        live: !args.json && std::io::IsTerminal::is_terminal(&std::io::stderr()),
        conditions: &args.fail_if,
        status: exit::DONE,
        steps: Vec::new(),
    };
    let stop = Stop::default();
    stop_on_signal(&stop);
    let mut failure = None;
    let mut observe = |event| {
        if failure.is_none()
            && let Err(error) = printer.observe(event)
        {
            failure = Some(error);
            stop.stop();
        }
    };
    match args.generators {
        1 => bakeoff_load::run(&spec, &stop, &mut |_| Go::On, &mut observe)?,
        several => fleet::run(&spec, several, &stop, &mut observe)?,
    }
    match failure {
        // A reader that went away must not hide what failed.
        Some(error) if exit::is_broken_pipe(&error) && printer.status != exit::DONE => {
            return Ok(printer.status);
        }
        Some(error) => return Err(error),
        None => {}
    }
    if stop.is_stopped() {
        let cut = match printer.steps.last() {
            Some(step) => format!("the last step ended after {:.1} s", step.totals.open_s()),
            None => "nothing was measured".to_owned(),
        };
        writeln!(std::io::stderr(), "interrupted: {cut}")?;
        return Ok(exit::INTERRUPTED);
    }
    Ok(printer.status)
}

/// Returns the spec for the address that is loaded, if the name in it has several.
fn reached(mut spec: LoadSpec) -> anyhow::Result<LoadSpec> {
    if spec.target.unix_socket.is_none() {
        let timeout = Duration::from_nanos(spec.timeout_connect_ns);
        let (address, count) = bakeoff_load::chosen_address(&spec.target, timeout)?;
        if count > 1 {
            let name = std::mem::replace(&mut spec.target.address, address.to_string());
            writeln!(
                std::io::stderr(),
                "note: {name} has {count} addresses; {address} is loaded"
            )?;
        }
    }
    Ok(spec)
}

/// Lets the first signal end the load, so that what was measured is shown, and a later one end the
/// program.
fn stop_on_signal(stop: &Stop) {
    let stop = stop.clone();
    let wait = async move {
        interrupted_twice(|| stop.stop()).await;
        #[expect(clippy::disallowed_methods, reason = "the user does not want to wait")]
        std::process::exit(i32::from(exit::INTERRUPTED));
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        // Without it a signal ends the program at once, as it does by default.
        if let Ok(runtime) = runtime {
            runtime.block_on(wait);
        }
    });
}

/// Prints each step when it is over.
struct Printer<'a> {
    args: &'a LoadArgs,
    spec: &'a LoadSpec,
    summary: Summary,
    /// TCP's counters when the slice started.
    tcp: Option<TcpCounters>,
    live: bool,
    conditions: &'a [Condition],
    status: u8,
    /// The steps that are over.
    steps: Vec<Summary>,
}

impl Printer<'_> {
    fn observe(&mut self, event: LoadEvent) -> anyhow::Result<()> {
        match event {
            LoadEvent::Ready {
                connections,
                reactor,
                streams,
                step,
                failure,
                ..
            } => {
                if let Some(why) = failure.filter(|_| step == 0) {
                    return Err(self.unreachable(&why));
                }
                self.tcp = own_tcp();
                self.summary.ready(connections, &reactor, streams);
            }
            LoadEvent::Interval(interval) => {
                let tcp = own_tcp();
                let counted = tcp.zip(self.tcp).map(|(now, then)| now.since(&then));
                self.tcp = tcp;
                self.summary.add(&interval, counted);
                if self.live {
                    let line = self.summary.live_line(&interval);
                    // The live view is a courtesy; a closed terminal must not end the load.
                    let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
                }
            }
            LoadEvent::StepDone { step, fleet } => {
                self.summary.fleet = fleet;
                self.step_done(step)?;
            }
            LoadEvent::Failed { message } => bail!("{}: {message}", self.args.url),
            LoadEvent::Began { .. } | LoadEvent::Done => {}
        }
        Ok(())
    }

    /// Returns the error for a service that accepts no connection: a whole load of failures would
    /// say no more.
    fn unreachable(&self, why: &str) -> anyhow::Error {
        let hint = bakeoff_tls::hint(why).unwrap_or("start the service first, and check the port");
        hinted(
            format_args!("{}: no connection could be opened: {why}", self.args.url),
            hint,
        )
    }

    fn step_done(&mut self, step: usize) -> anyhow::Result<()> {
        if self.live {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        let summary = std::mem::replace(&mut self.summary, Summary::new(self.spec));
        let mut output = std::io::stdout().lock();
        let written = match self.args.json {
            true => writeln!(output, "{}", summary.json()),
            false => {
                let gap = if step > 0 { "\n" } else { "" };
                write!(output, "{gap}{}", page::page(&summary))
            }
        };
        if summary.totals.requests == 0 {
            self.status = self.status.max(exit::CHECK_FAILED);
        }
        self.status = self.status.max(judge(self.conditions, &summary)?);
        self.steps.push(summary);
        Ok(written?)
    }
}

/// The status by the user's own conditions.
fn judge(conditions: &[Condition], summary: &Summary) -> anyhow::Result<u8> {
    let mut status = exit::DONE;
    for condition in conditions {
        if let Some(found) = condition.holds(&summary.totals, &summary.times) {
            writeln!(std::io::stderr(), "failed: {condition}: {found}")?;
            status = exit::CONDITION;
        }
    }
    Ok(status)
}
