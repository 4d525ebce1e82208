//! Checks of a spec: refuses invalid values, and those that this engine cannot carry out, before
//! anything is opened. Requests are checked when they are prepared.

use bakeoff_model::load::transport::Transport;
use bakeoff_model::load::{LoadPart, LoadSpec, Pace, Protocol, RequestSpec, StepSpec, Target};

use crate::error::LoadError;

/// Longest step, ns: the resolution of the histograms is far below.
const DURATION_NS_MAX: u64 = 7 * 24 * 3600 * 1_000_000_000;

/// Shortest slice, ns: merging takes about a tenth of it.
const SLICE_NS_MIN: u64 = 1_000_000;

/// Most connections of a step; far more than one address has ports for.
const CONNECTIONS_MAX: u32 = 1_000_000;

/// Highest rate per second; far more than a thread can send.
const RATE_MAX: f64 = 1e7;

/// Refuses specs that no engine could carry out, or not this one.
pub(crate) fn validate(spec: &LoadSpec) -> Result<(), LoadError> {
    let fail = |message: String| Err(LoadError::Spec { message });
    check_protocol(spec)?;
    if spec.timeout_connect_ns == 0 || spec.timeout_answer_ns == 0 {
        return fail("a timeout of 0 would fail every request".into());
    }
    if (1..SLICE_NS_MIN).contains(&spec.slice_ns) {
        return fail("slices shorter than a millisecond".into());
    }
    check_part(spec)?;
    check_sides(spec)?;
    for (index, step) in spec.steps.iter().enumerate() {
        if step.connections == 0 {
            return fail(format!("step {index}: no connections"));
        }
        let own = spec.own_part().connections_of(step.connections);
        if own > CONNECTIONS_MAX {
            return fail(format!(
                "step {index}: more than {CONNECTIONS_MAX} connections"
            ));
        }
        if step.duration_ns == 0 || step.duration_ns > DURATION_NS_MAX {
            return fail(format!(
                "step {index}: duration must be between 1 ns and 7 days"
            ));
        }
        if step.awaited_ns > DURATION_NS_MAX {
            return fail(format!("step {index}: more than 7 days are awaited"));
        }
        if step.awaited_ns > 0 && matches!(step.pace, Pace::Closed | Pace::Users { .. }) {
            return fail(format!(
                "step {index}: only requests of open load are awaited"
            ));
        }
        match (&spec.scenario, step.pace) {
            (Some(_), Pace::Closed | Pace::Users { .. }) => {}
            (Some(_), _) if spec.is_single_request() && !spec.connects_on_arrival() => {}
            (Some(_), _) => {
                return fail(format!("step {index}: a scenario has users, not a rate"));
            }
            (None, Pace::Users { .. }) => {
                return fail(format!("step {index}: users are for scenarios"));
            }
            (None, _) => {}
        }
        let rates = match step.pace {
            Pace::Closed | Pace::Users { .. } => [1.0, 1.0],
            Pace::Constant { rate_per_s } | Pace::Poisson { rate_per_s } => [rate_per_s, 1.0],
            Pace::Recorded { speed } => {
                check_recorded(spec, speed)?;
                [1.0, 1.0]
            }
            Pace::Ramp {
                from_per_s,
                to_per_s,
            } => [from_per_s, to_per_s],
        };
        let share = f64::from(own) / f64::from(step.connections);
        let can_send = |rate: &f64| (0.0..=RATE_MAX).contains(&(rate * share));
        if !rates
            .iter()
            .all(|rate| rate.is_finite() && *rate >= 0.0 && can_send(rate))
        {
            return fail(format!(
                "step {index}: a rate is not within 0 and {RATE_MAX} per second"
            ));
        }
    }
    Ok(())
}

/// Refuses a recording that cannot be played.
fn check_recorded(spec: &LoadSpec, speed: f64) -> Result<(), LoadError> {
    let fail = |message: String| Err(LoadError::Spec { message });
    if !speed.is_finite() || speed <= 0.0 {
        return fail(format!(
            "a recording cannot be played {speed} times as fast"
        ));
    }
    if !spec.recorded.is_sorted_by_key(|one| one.at_ns) {
        return fail("the times of the recording are not in order".into());
    }
    let count = spec.requests.len();
    match spec
        .recorded
        .iter()
        .find(|one| one.request as usize >= count)
    {
        Some(one) => fail(format!(
            "request {} of the recording: there are {count}, numbered from 0",
            one.request
        )),
        None => Ok(()),
    }
}

/// Refuses targets that cannot be loaded as one load, and steps that load none of them.
fn check_sides(spec: &LoadSpec) -> Result<(), LoadError> {
    let fail = |message: String| Err(LoadError::Spec { message });
    let is_other = |target: &Target| target.protocol != spec.target.protocol;
    if spec.further_targets.iter().any(is_other) {
        return fail("all targets of a load speak the same protocol".into());
    }
    for (index, step) in spec.steps.iter().enumerate() {
        if step.side as usize >= spec.side_count() {
            let side = step.side;
            return fail(format!(
                "step {index}: no target {side}: they are numbered from 0"
            ));
        }
        if step.turns.is_some() && paced(step) {
            return fail(format!("step {index}: only closed load is played in turns"));
        }
        if step.turns.is_some() && spec.connects_on_arrival() {
            return fail(format!(
                "step {index}: turns are played on open connections, not by users that connect"
            ));
        }
    }
    Ok(())
}

/// Refuses a part that does not exist in a load.
fn check_part(spec: &LoadSpec) -> Result<(), LoadError> {
    let LoadPart { index, of } = spec.own_part();
    if index < of {
        return Ok(());
    }
    Err(LoadError::Spec {
        message: format!("part {index} of {of}: parts are numbered from 0"),
    })
}

/// Refuses features that the protocol does not have.
fn check_protocol(spec: &LoadSpec) -> Result<(), LoadError> {
    let fail = |message: String| Err(LoadError::Spec { message });
    let transport = Transport {
        protocol: spec.target.protocol,
        keep_alive: !spec.keep_alive_off,
        in_flight: spec.in_flight.max(1),
        tls: spec.target.tls,
        grpc: spec.grpc.is_some(),
    };
    if transport.grpc && transport.protocol != Protocol::Http2 {
        return fail("calls of gRPC travel over HTTP/2".into());
    }
    if let Some(why) = transport.contradiction() {
        return fail(why);
    }
    let scenario = spec.scenario.as_ref();
    if let Some(why) = scenario.and_then(|scenario| transport.contradiction_to(scenario)) {
        return fail(why.to_owned());
    }
    let has_events = spec.requests.iter().any(|request| request.events.is_some());
    if let Some(why) = transport.contradiction_to_events().filter(|_| has_events) {
        return fail(why.to_owned());
    }
    let unsolicited = !spec.requests.iter().all(sends);
    match spec.target.protocol {
        Protocol::Websocket(_) if unsolicited && spec.steps.iter().any(paced) => {
            fail("unsolicited messages cannot be paced: only closed load".into())
        }
        _ => Ok(()),
    }
}

/// Whether a WebSocket message is sent before one is awaited.
fn sends(request: &RequestSpec) -> bool {
    !request.body.is_empty()
}

/// Whether the step has a schedule.
fn paced(step: &StepSpec) -> bool {
    step.pace != Pace::Closed
}
