//! `bakeoff load URL --generators N`: several processes make the load together, each a part of it.

use std::time::Duration;

use anyhow::Context as _;
use bakeoff_load::Stop;
use bakeoff_model::load::{LoadEvent, LoadSpec};
use bakeoff_places::contracts::LoadGenerator;
use bakeoff_places::fleet::FleetGenerator;
use bakeoff_places::host::host_cores;
use bakeoff_places::load_generator::ProcessGenerator;

/// From the order to start to the start: a line through a pipe takes microseconds, and waking up on
/// a busy core some milliseconds.
const LEAD: Duration = Duration::from_millis(50);

/// How long a process may be silent beyond what its load explains: on a busy host it waits for a
/// core, too.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is checked whether the load must end.
const LOOK: Duration = Duration::from_millis(50);

/// Carries out a load with this number of processes; `observe` gets its events until `stop` says
/// stop.
///
/// # Errors
/// When a process cannot be started.
pub(super) fn run(
    spec: &LoadSpec,
    generators: u32,
    stop: &Stop,
    observe: &mut dyn FnMut(LoadEvent),
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot wait for several load generators")?;
    runtime.block_on(play(spec, generators, stop, observe))
}

async fn play(
    spec: &LoadSpec,
    generators: u32,
    stop: &Stop,
    observe: &mut dyn FnMut(LoadEvent),
) -> anyhow::Result<()> {
    let mut spec = spec.clone();
    if spec.threads == 0 {
        // Together the number that one process would have.
        spec.threads = (host_cores() / generators as usize).max(1);
    }
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let member = |index: u32| -> (String, Box<dyn LoadGenerator>) {
        let program = program.clone();
        let name = format!("generator {} of {generators}", index + 1);
        (name, Box::new(ProcessGenerator { program }))
    };
    let fleet = FleetGenerator {
        members: (0..generators).map(member).collect(),
        lead: LEAD,
        patience: PATIENCE,
    };
    let mut load = fleet.start(&spec).await?;
    let mut running = None;
    loop {
        let event = tokio::select! {
            event = load.next() => event?,
            () = stopped(stop) => None,
        };
        let Some(event) = event else {
            break;
        };
        match &event {
            LoadEvent::Ready { step, .. } => running = Some(*step),
            LoadEvent::StepDone { .. } => running = None,
            _ => {}
        }
        observe(event);
    }
    // The processes end with their pipes; what they have delivered is shown.
    if let Some(step) = running.filter(|_| stop.is_stopped()) {
        observe(LoadEvent::StepDone { step, fleet: None });
    }
    Ok(())
}

/// Waits until the load has to end.
async fn stopped(stop: &Stop) {
    while !stop.is_stopped() {
        tokio::time::sleep(LOOK).await;
    }
}
