//! Load from another host than this one, to contenders of a third: this program is copied there,
//! and is the load generator. Everything else of the place is as it was.

use std::iter;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use async_trait::async_trait;
use bakeoff_base::hint::with_hints;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::record::{Cores, GeneratorCeiling, Host};
use bakeoff_model::text::ssh_address::SshAddress;

use crate::contracts::{LoadGenerator, RunningLoad};
use crate::load_generator::{GeneratorProcess, LOAD, started};
use crate::place::far::{open, with_load};
use crate::place::{Place, Reached};
use crate::ssh::{FarClock, SshHost};

/// Returns the place with load from the host at this address.
pub(super) async fn with_load_from(place: Place, address: &SshAddress) -> anyhow::Result<Place> {
    let load = open(address).await?;
    let round_trip_ns = match place.reached {
        Some(Reached { address, is_ssh }) => load.round_trip(address, is_ssh).await,
        None => None,
    };
    let clock = load.clock().await.map_err(with_hints)?;
    Ok(Place {
        host: Host {
            round_trip_ns,
            ..place.host
        },
        nodes: place.nodes.map(|nodes| {
            let mut nodes = with_load(nodes, &load);
            nodes.clocks.insert(load.name().to_owned(), clock.wall);
            nodes
        }),
        pins_cores: false,
        generator: Box::new(FarGenerator(load)),
        ..place
    })
}

/// Starts load generators on another host.
struct FarGenerator(Arc<SshHost>);

/// A load generator on another host.
struct FarLoad {
    process: GeneratorProcess,
    clock: FarClock,
}

#[async_trait(?Send)]
impl LoadGenerator for FarGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let clock = self.0.clock().await.map_err(with_hints)?;
        // Files and devices of this host are not there.
        let mut spec = spec.clone();
        for target in iter::once(&mut spec.target).chain(&mut spec.further_targets) {
            target.device = None;
            let trust = target.trust.as_ref().map(bakeoff_tls::inlined);
            target.trust = trust.transpose().context("no TLS")?;
        }
        let process = started(self.0.command(&LOAD), &spec).await;
        let process = process.with_context(|| format!("load from {}", self.0.name()))?;
        Ok(Box::new(FarLoad { process, clock }))
    }

    async fn ceiling(&self, _cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let said = self.0.output(&["ceiling"]).await.map_err(with_hints)?;
        serde_json::from_str(&said).map_err(|_| anyhow!("{} said: {said}", self.0.name()))
    }
}

#[async_trait(?Send)]
impl RunningLoad for FarLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        let event = self.process.next().await?;
        Ok(event.map(|event| shifted(event, self.clock.shift_ns)))
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        self.process.tell(command).await
    }

    fn clock(&self) -> Option<ClockOffset> {
        Some(self.clock.wall)
    }
}

/// The event with its times by the session's clock: backends are read by that.
fn shifted(event: LoadEvent, shift_ns: i64) -> LoadEvent {
    match event {
        LoadEvent::Interval(mut interval) => {
            interval.start_ns = interval.start_ns.saturating_add_signed(shift_ns);
            interval.end_ns = interval.end_ns.saturating_add_signed(shift_ns);
            LoadEvent::Interval(interval)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::{LoadEvent, LoadInterval};

    use super::shifted;

    #[test]
    fn slices_are_timed_by_the_session_s_clock() {
        let slice = |start_ns, end_ns| {
            LoadEvent::Interval(Box::new(LoadInterval {
                start_ns,
                end_ns,
                ..LoadInterval::default()
            }))
        };
        assert_eq!(shifted(slice(500, 900), -400), slice(100, 500));
        assert_eq!(shifted(slice(0, 1), 5), slice(5, 6));
        assert_eq!(shifted(LoadEvent::Done, 5), LoadEvent::Done);
    }
}
