//! `bakeoff run`: a session, or all rounds of a suite, from arguments to an exit status.

use anyhow::Context as _;
use bakeoff_model::record::Purpose;
use bakeoff_session::baseline::BaselineRequest;
use bakeoff_session::clock;
use bakeoff_session::opening::{NewSession, SessionRequest};
use bakeoff_session::options::SessionOptions;
use bakeoff_session::session::{Audience, SessionOutcome};
use bakeoff_session::sitting::Sitting;
use bakeoff_workflows::entry::run as run_session;

use super::signals::interrupted;
use crate::args::RunArgs;
use crate::values::Undecided;
use crate::{exit, output};

/// Runs the command.
pub(crate) fn run(args: RunArgs) -> anyhow::Result<u8> {
    let mut watcher = output::watcher(&args.output)?;
    let mut audience = Audience {
        watcher: &mut *watcher,
        interruption: || Box::pin(interrupted()),
        sitting: args.sitting.map(|length| Sitting::of(length.0)),
    };
    let runtime = tokio::runtime::Runtime::new().context("cannot start the async runtime")?;
    let ended = runtime.block_on(run_session(&order(args), &mut audience))?;
    Ok(status(ended))
}

/// The exit status of a session that ended so.
pub(super) fn status(ended: SessionOutcome) -> u8 {
    match ended {
        SessionOutcome::Completed => exit::DONE,
        SessionOutcome::ConditionHolds => exit::CONDITION,
        SessionOutcome::WithFailures => exit::CHECK_FAILED,
        SessionOutcome::Left => exit::LEFT,
        SessionOutcome::Interrupted => exit::INTERRUPTED,
    }
}

/// Returns the order that the arguments ask for.
pub(crate) fn order(args: RunArgs) -> SessionRequest {
    if let Some(folder) = args.resume {
        let cluster = args.measured.selection.cluster.settings();
        return SessionRequest::Resume(folder, Box::new(cluster));
    }
    let new = NewSession {
        selection: args
            .measured
            .selection(args.seed.unwrap_or_else(clock::fresh_seed)),
        options: SessionOptions {
            purpose: Purpose::Suite,
            slice: args.slice.map(|slice| slice.0),
            flame_graphs: args.profile_cpu,
            backend_url: args.server.backend_url,
            cluster: args.measured.selection.cluster.settings(),
            hosts: args.measured.selection.hosts.hosts(),
        },
        out: args.out,
        locked: None,
        round: args.round,
        baseline: args.baseline.map(|name| BaselineRequest {
            name,
            fail_if: args.fail_if,
            undecided_fails: args.undecided == Undecided::Fail,
            within: args.within.map(|within| within.0),
        }),
    };
    SessionRequest::Begin(args.measured.selection.suite, Box::new(new))
}
