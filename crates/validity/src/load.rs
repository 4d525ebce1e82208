//! The setting of `bakeoff load`: a service that is not metered, seen from outside.

use bakeoff_model::load::{LoadSpec, Pace, Protocol};
use bakeoff_model::plan::Work;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::Limits;

use crate::evidence::{Phase, Setting};
use crate::reading::Reading;

impl Setting {
    /// Returns the setting of a step of a load spec. A step that ends after a number of requests
    /// runs out of them on one connection after the other, so it is not a closed loop to its end.
    #[must_use]
    pub fn of_load(spec: &LoadSpec, step: usize) -> Self {
        let (stamped, bounded) = match spec.target.protocol {
            Protocol::Websocket(websocket) => {
                (websocket.timestamp.is_some(), websocket.messages > 0)
            }
            // An endless stream of events is left by closing its connection.
            Protocol::Http1 => {
                let mut requests = spec.requests.iter();
                (false, requests.any(|request| request.events.is_some()))
            }
            Protocol::Http2 => (false, false),
        };
        let endless = |step: &bakeoff_model::load::StepSpec| {
            step.pace == Pace::Closed && step.requests_max == 0
        };
        Self {
            cores: Cores::default(),
            core_sharing: None,
            host_cores: 1,
            nodes: None,
            limits: Limits::default(),
            closed_loop: spec.steps.get(step).is_some_and(endless)
                && !spec.has_think_time()
                && !stamped,
            keep_alive: !spec.keep_alive_off && !bounded,
            metered: false,
            backend: Reading::NotApplicable,
            work: Work::default(),
            phase: Phase::Measured { warmth: None },
            not_recorded: Vec::new(),
        }
    }
}
