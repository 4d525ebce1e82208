//! The cheapest shape in which a service meets an objective at a rate: the memory that it needs,
//! the rate that it sustains with each CPU limit, and the number and price of the replicas. Every
//! measurement is a session, with its own results folder.

mod outcome;
mod search;

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_model::suite::slo::Slo;
use bakeoff_places::host;
use bakeoff_session::session::{Audience, SessionOutcome};
use bakeoff_store::event::Event;

use crate::duel::Duel;
use crate::series::Stopped;
use crate::service::ServiceSource;
use crate::size::search::Search;

pub use crate::size::outcome::Prices;
pub use bakeoff_store::event::sizing::{MemoryNeed, Shape, Sizing};

/// A question for the cheapest shape of a service.
#[derive(Debug, Clone)]
pub struct Size {
    /// The service as its only side, with its requests and load. Its memory limit is the one with
    /// which the search for less starts, its duration that of each trial.
    pub duel: Duel,
    /// Requests per second of all replicas together.
    pub rate_per_s: f64,
    /// The objective.
    pub slo: Slo,
    /// CPU limits to try; if there are none, those of the host are taken.
    pub cpus: Vec<f64>,
    /// The prices of shapes.
    pub prices: Prices,
    /// When this time is over no further session starts.
    pub within: Duration,
    /// The folder of results, which has a folder for each session.
    pub results: PathBuf,
    /// Seed of random choices.
    pub seed: u64,
}

/// CPU limits that are tried if the host can give them.
const USUAL: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

impl Size {
    /// Refuses what can be seen to be wrong before anything is started. Returns the shapes to
    /// measure, smallest first, and why others are not, a sentence each.
    fn shapes(&self, host_cores: usize) -> anyhow::Result<(Vec<f64>, Vec<String>)> {
        if self.duel.sides.iter().any(|side| {
            matches!(
                side.service,
                ServiceSource::Url(_) | ServiceSource::Deployment(_)
            )
        }) {
            return Err(hinted(
                "a service that runs already cannot be given limits, nor are there shapes in a \
                 cluster yet",
                "name a command, an image (NAME=image:IMAGE) or a service of a compose file",
            ));
        }
        let mut wanted = match self.cpus.is_empty() {
            true => USUAL.to_vec(),
            false => self.cpus.clone(),
        };
        wanted.sort_by(f64::total_cmp);
        wanted.dedup();
        // One core is the load generator's.
        let most = host_cores.saturating_sub(1).max(1);
        let (shapes, refused): (Vec<f64>, Vec<f64>) = wanted
            .into_iter()
            .partition(|cpus| *cpus <= bakeoff_base::number::as_f64(most as u64));
        let sentence = |cpus: &f64| {
            format!(
                "{cpus} CPU: not measured, because this host has {host_cores} cores and the load \
                 generator needs one of them"
            )
        };
        if shapes.is_empty() {
            return Err(hinted(
                sentence(&refused[0]),
                "name smaller ones with --shapes, or measure on a larger host",
            ));
        }
        Ok((shapes, refused.iter().map(sentence).collect()))
    }
}

/// Looks for the cheapest shape, and reports it to observers.
///
/// # Errors
/// The service does not start or respond, dies with the memory that it is given first, or a disk is
/// full.
pub async fn size(order: &Size, audience: &mut Audience<'_>) -> anyhow::Result<SessionOutcome> {
    let (shapes, refused) = order.shapes(host::host_cores())?;
    audience.watcher.observe(&Event::stream_start())?;
    let mut search = Search::new(order, audience).await?;
    match search.run(&shapes, refused).await {
        Ok(sizing) => {
            search.tell(&Event::SizingEnded {
                sizing: Box::new(sizing),
            })?;
            Ok(SessionOutcome::Completed)
        }
        Err(error) if error.is::<Stopped>() => Ok(SessionOutcome::Interrupted),
        Err(error) => Err(error),
    }
}
