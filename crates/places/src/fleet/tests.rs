//! Fleets of scripted load generators.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bakeoff_base::random::Random;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    ClockOffset, Connections, CpuTime, ErrorClass, ErrorCount, LoadEvent, LoadInterval, LoadSpec,
    MinMax, Pace, StepCommand, StepSpec, UserCount,
};
use bakeoff_model::validity::{FairnessVerdict, Finding};
use bakeoff_validity::{Evidence, Setting, Slice, judge};

use crate::contracts::{LoadGenerator, RunningLoad};
use crate::fleet::FleetGenerator;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Far from zero, as clocks of machines are.
const MONOTONIC_NS: u64 = 5_000 * SECOND;

/// The next action of a scripted load generator.
#[derive(Debug, Clone)]
enum Act {
    Say(LoadEvent),
    /// Wait for the command to go on.
    Wait,
    /// Say when the window opened: so long after the instant that it was given, and what the
    /// monotonic clock of its machine is then.
    Begin(u64, u64),
    /// Nothing, for ever.
    Hang,
    /// The stream ends.
    End,
}

#[derive(Debug, Default)]
struct Scripted {
    acts: Vec<Act>,
    clock: Option<ClockOffset>,
}

struct ScriptedLoad {
    acts: VecDeque<Act>,
    clock: Option<ClockOffset>,
    told: Arc<Mutex<Vec<String>>>,
    given_ns: u64,
}

struct Starter {
    script: Scripted,
    told: Arc<Mutex<Vec<String>>>,
}

#[async_trait(?Send)]
impl LoadGenerator for Starter {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        assert!(spec.stepwise, "a part waits for the others");
        Ok(Box::new(ScriptedLoad {
            acts: self.script.acts.clone().into(),
            clock: self.script.clock,
            told: self.told.clone(),
            given_ns: 0,
        }))
    }
}

#[async_trait(?Send)]
impl RunningLoad for ScriptedLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        match self.acts.pop_front() {
            Some(Act::Say(event)) => Ok(Some(event)),
            Some(Act::Begin(after_ns, at_ns)) => Ok(Some(LoadEvent::Began {
                step: 0,
                at_ns,
                unix_ns: self.given_ns + after_ns,
                late_ns: after_ns,
            })),
            Some(Act::End) | None => Ok(None),
            Some(Act::Wait) => panic!("nothing listens to one that waits"),
            Some(Act::Hang) => std::future::pending().await,
        }
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        let name = match command {
            StepCommand::Go => "go",
            StepCommand::GoAt(unix_ns) => {
                self.given_ns = unix_ns;
                "go at"
            }
            StepCommand::Leave(_) => "leave",
            StepCommand::Again => "again",
        };
        self.told.lock().unwrap().push(name.to_owned());
        match self.acts.pop_front() {
            Some(Act::Wait) => Ok(()),
            other => anyhow::bail!("got {command} before {other:?}"),
        }
    }

    fn clock(&self) -> Option<ClockOffset> {
        self.clock
    }
}

/// A load with these numbers of connections, each for a step of three slices.
fn spec(connections: &[u32]) -> LoadSpec {
    let step = |connections: &u32| StepSpec {
        connections: *connections,
        duration_ns: 3 * SECOND,
        pace: Pace::Closed,
        warm_up: false,
        requests_max: 0,
        close_after: false,
        ..StepSpec::default()
    };
    LoadSpec {
        steps: connections.iter().map(step).collect(),
        timeout_connect_ns: SECOND,
        timeout_answer_ns: SECOND,
        slice_ns: SECOND,
        ..LoadSpec::default()
    }
}

fn ready(step: usize, connections: u32) -> Act {
    Act::Say(LoadEvent::Ready {
        step,
        connections: Connections {
            asked: connections,
            established: connections,
            in_flight_max: connections,
            reconnects: 0,
            on_arrival: false,
        },
        reactor: "uring-rx-timestamps".to_owned(),
        nofile: 1024,
        streams: 0,
        failure: None,
        further: Vec::new(),
    })
}

fn step_done(step: usize) -> Act {
    Act::Say(LoadEvent::StepDone { step, fleet: None })
}

/// A slice with some of everything, drawn from `random`.
fn slice(step: usize, slice: u32, start_ns: u64, random: &mut Random) -> LoadInterval {
    let times = |random: &mut Random| {
        let mut times = Histogram::new();
        for _ in 0..200 {
            times.record(1_000 + random.bits() % (50 * MS));
        }
        times
    };
    let service_time = times(random);
    LoadInterval {
        step,
        slice,
        start_ns: start_ns + u64::from(slice) * SECOND,
        end_ns: start_ns + u64::from(slice + 1) * SECOND,
        requests: service_time.count(),
        errors: BTreeMap::from([(ErrorClass::Reset, {
            let mut count = ErrorCount {
                count: 2,
                time_ns_sum: 5,
                ..ErrorCount::default()
            };
            count.add_message("connection reset", 2);
            count
        })]),
        service_time,
        first_byte: None,
        response_time: Some(times(random)),
        send_lag: Some(times(random)),
        offered: Some(210),
        censored: times(random),
        connections: Connections {
            asked: 4,
            established: 4,
            in_flight_max: 4,
            reconnects: 1,
            on_arrival: false,
        },
        sent_bytes: 10,
        redirects: 0,
        received_bytes: 100,
        turnaround_ns: Some(7),
        connecting_ns: Some(3),
        generator_cpu: CpuTime {
            user_ns: 30,
            system_ns: 60,
        },
        generator_threads: 1,
        by_request: Vec::new(),
        unanswered: BTreeMap::from([("GET /".to_owned(), 1)]),
        users: Some(UserCount {
            finished: 5,
            gave_up: 1,
        }),
        requests_per_connection: Some(MinMax {
            min: 40 + random.bits() % 9,
            max: 60 + random.bits() % 9,
        }),
        lost: Vec::new(),
        side: 0,
        turns: Vec::new(),
    }
}

/// The acts of a load generator that goes through steps of this many connections as it should.
fn good(connections: &[u32], seed: u64) -> Vec<Act> {
    let mut random = Random::new(seed);
    let mut acts = Vec::new();
    for (step, connections) in connections.iter().enumerate() {
        acts.extend([
            ready(step, *connections),
            Act::Wait,
            Act::Begin(0, MONOTONIC_NS),
        ]);
        for index in 0..3 {
            let slice = slice(step, index, MONOTONIC_NS, &mut random);
            // As it comes over a pipe.
            let text = serde_json::to_string(&LoadEvent::Interval(Box::new(slice))).unwrap();
            acts.push(Act::Say(serde_json::from_str(&text).unwrap()));
        }
        acts.push(step_done(step));
        acts.push(Act::Wait);
    }
    acts.pop();
    acts.push(Act::Say(LoadEvent::Done));
    acts
}

async fn start(spec: &LoadSpec, scripts: Vec<Scripted>) -> Box<dyn RunningLoad> {
    start_told(spec, scripts, &Arc::default()).await
}

async fn start_told(
    spec: &LoadSpec,
    scripts: Vec<Scripted>,
    told: &Arc<Mutex<Vec<String>>>,
) -> Box<dyn RunningLoad> {
    let members = scripts.into_iter().enumerate().map(|(part, script)| {
        let told = told.clone();
        let starter: Box<dyn LoadGenerator> = Box::new(Starter { script, told });
        (format!("generator {part}"), starter)
    });
    let fleet = FleetGenerator {
        members: members.collect(),
        lead: Duration::from_millis(20),
        patience: Duration::from_secs(5),
    };
    fleet.start(spec).await.unwrap()
}

fn scripts(acts: impl IntoIterator<Item = Vec<Act>>) -> Vec<Scripted> {
    let script = |acts| Scripted { acts, clock: None };
    acts.into_iter().map(script).collect()
}

/// All events of a load without stops.
async fn play(spec: &LoadSpec, scripts: Vec<Scripted>) -> Vec<LoadEvent> {
    let mut load = start(spec, scripts).await;
    let mut events = Vec::new();
    while let Some(event) = load.next().await.unwrap() {
        events.push(event);
    }
    events
}

fn slices(events: &[LoadEvent]) -> Vec<&LoadInterval> {
    fn slice(event: &LoadEvent) -> Option<&LoadInterval> {
        match event {
            LoadEvent::Interval(slice) => Some(slice),
            _ => None,
        }
    }
    events.iter().filter_map(slice).collect()
}

fn names(events: &[LoadEvent]) -> String {
    let name = |event: &LoadEvent| match event {
        LoadEvent::Ready { step, .. } => format!("ready {step}"),
        LoadEvent::Began { step, .. } => format!("began {step}"),
        LoadEvent::Interval(slice) => format!("{}.{}", slice.step, slice.slice),
        LoadEvent::StepDone { step, .. } => format!("done {step}"),
        LoadEvent::Done => "done".to_owned(),
        LoadEvent::Failed { message } => format!("failed: {message}"),
    };
    events.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[tokio::test(start_paused = true)]
async fn the_merge_has_what_one_load_generator_would_have_counted() {
    let parts = [good(&[4, 4], 1), good(&[4, 4], 2), good(&[4, 4], 3)];
    let events = play(&spec(&[12, 12]), scripts(parts.clone())).await;
    assert_eq!(
        names(&events),
        "ready 0, 0.0, 0.1, 0.2, done 0, ready 1, 1.0, 1.1, 1.2, done 1, done"
    );
    let single: Vec<Vec<LoadEvent>> = parts
        .iter()
        .map(|acts| {
            let said = acts.iter().filter_map(|act| match act {
                Act::Say(event) => Some(event.clone()),
                _ => None,
            });
            said.collect()
        })
        .collect();
    for (index, merged) in slices(&events).into_iter().enumerate() {
        let own: Vec<&LoadInterval> = single.iter().map(|part| slices(part)[index]).collect();
        let sum = |count: fn(&LoadInterval) -> u64| own.iter().map(|one| count(one)).sum::<u64>();
        assert_eq!(merged.requests, sum(|one| one.requests));
        assert_eq!(merged.errors[&ErrorClass::Reset].count, 6);
        assert_eq!(
            merged.errors[&ErrorClass::Reset].messages["connection reset"],
            6
        );
        assert_eq!(merged.offered, Some(630));
        assert_eq!(merged.connections.established, 12);
        assert_eq!(merged.connections.reconnects, 3);
        assert_eq!(merged.connections.in_flight_max, 12);
        assert_eq!((merged.sent_bytes, merged.received_bytes), (30, 300));
        assert_eq!(
            (merged.turnaround_ns, merged.connecting_ns),
            (Some(21), Some(9))
        );
        assert_eq!(merged.generator_cpu.total_ns(), 270);
        assert_eq!(
            (merged.generator_threads, merged.unanswered["GET /"]),
            (3, 3)
        );
        assert_eq!(merged.users.unwrap().finished, 15);
        let per_connection = merged.requests_per_connection.unwrap();
        let ends = own.iter().map(|one| one.requests_per_connection.unwrap());
        assert_eq!(
            per_connection.min,
            ends.clone().map(|one| one.min).min().unwrap()
        );
        assert_eq!(per_connection.max, ends.map(|one| one.max).max().unwrap());
        assert_eq!(merged.end_ns - merged.start_ns, SECOND);
        check_quantiles(&merged.service_time, &own, |one| &one.service_time);
        check_quantiles(merged.response_time.as_ref().unwrap(), &own, |one| {
            one.response_time.as_ref().unwrap()
        });
        check_quantiles(merged.send_lag.as_ref().unwrap(), &own, |one| {
            one.send_lag.as_ref().unwrap()
        });
        check_quantiles(&merged.censored, &own, |one| &one.censored);
    }
}

/// The merge has every bucket, so every percentile, of one histogram that was fed with all of them.
fn check_quantiles(
    merged: &Histogram,
    own: &[&LoadInterval],
    pick: fn(&LoadInterval) -> &Histogram,
) {
    let mut one = Histogram::new();
    for (time_ns, count) in own.iter().flat_map(|slice| pick(slice).buckets()) {
        (0..count).for_each(|_| one.record(time_ns));
    }
    assert_eq!(merged, &one);
    for share in [0.0, 0.5, 0.9, 0.99, 0.999, 1.0] {
        assert_eq!(merged.quantile_ns(share), one.quantile_ns(share), "{share}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_fleet_of_one_says_what_its_load_generator_says() {
    let acts = good(&[4], 9);
    let events = play(&spec(&[4]), scripts([acts.clone()])).await;
    let said = acts.into_iter().filter_map(|act| match act {
        Act::Say(event) => Some(event),
        _ => None,
    });
    for (event, said) in events.iter().zip(said) {
        match (event, &said) {
            (LoadEvent::StepDone { step, .. }, LoadEvent::StepDone { step: own, .. }) => {
                assert_eq!(step, own);
            }
            _ => assert_eq!(*event, said),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_lost_is_named_and_the_rest_goes_on() {
    let mut broken = good(&[4, 4], 2);
    // After its second slice of the first step.
    broken.truncate(5);
    broken.push(Act::End);
    let events = play(&spec(&[8, 8]), scripts([good(&[4, 4], 1), broken])).await;
    assert_eq!(
        names(&events),
        "ready 0, 0.0, 0.1, 0.2, done 0, ready 1, 1.0, 1.1, 1.2, done 1, done"
    );
    let slices = slices(&events);
    let requests: Vec<u64> = slices.iter().map(|slice| slice.requests).collect();
    assert_eq!(requests, [400, 400, 200, 200, 200, 200]);
    let lost: Vec<usize> = slices.iter().map(|slice| slice.lost.len()).collect();
    assert_eq!(lost, [0, 0, 1, 1, 1, 1]);
    let why = &slices[2].lost[0];
    assert_eq!(
        (why.part, why.name.as_str(), why.connections),
        (1, "generator 1", 4)
    );
    assert_eq!(why.why, "its output ended before its load did");
    let LoadEvent::StepDone { fleet, .. } = &events[4] else {
        panic!("the step is done");
    };
    let receipts = &fleet.as_ref().unwrap().parts;
    let counted: Vec<_> = receipts
        .iter()
        .map(|part| (part.slices, part.requests))
        .collect();
    assert_eq!(counted, [(3, 600), (2, 400)]);
    assert_eq!(receipts[0].lost, None);
    assert!(receipts[1].lost.is_some());
    let setting = Setting::of_load(&spec(&[8, 8]), 0);
    let verdict = |load: &LoadInterval| {
        let slice = Slice {
            load,
            contender: None,
            backend: None,
            host: None,
            tcp: None,
            others: None,
            unloaded: None,
        };
        let validity = judge(&Evidence::of(&setting, &slice));
        let mut reasons = validity.reasons().iter();
        let lost = reasons.find(|one| matches!(one.finding, Finding::GeneratorLost { .. }));
        lost.map(|reason| (reason.verdict, reason.finding.to_string()))
    };
    assert_eq!(verdict(slices[1]), None);
    let (verdict, sentence) = verdict(slices[2]).unwrap();
    assert_eq!(verdict, FairnessVerdict::Invalid);
    assert!(
        sentence.contains("with 50 % of the load: generator 1: its output"),
        "{sentence}"
    );
}

#[tokio::test(start_paused = true)]
async fn who_is_silent_for_too_long_is_lost() {
    for (at, said) in [(0, "ready 0, "), (4, "ready 0, 0.0, ")] {
        let mut silent = good(&[4], 2);
        silent.insert(at, Act::Hang);
        let events = play(&spec(&[8]), scripts([good(&[4], 1), silent])).await;
        assert!(names(&events).starts_with(said), "{}", names(&events));
        assert!(names(&events).ends_with("0.2, done 0, done"));
        let last = slices(&events).pop().unwrap();
        assert!(
            last.lost[0].why.starts_with("silent for"),
            "{:?}",
            last.lost
        );
    }
}

#[tokio::test(start_paused = true)]
async fn who_says_what_it_should_not_is_lost() {
    let strange = |at: usize, act: Act| {
        let mut acts = good(&[4], 2);
        acts.insert(at, act);
        acts
    };
    let failed = Act::Say(LoadEvent::Failed {
        message: "no memory".to_owned(),
    });
    for (at, act, why) in [
        (0, step_done(0), "its events are out of order"),
        (3, ready(0, 4), "its events are out of order"),
        (4, Act::Say(LoadEvent::Done), "it ended before its load did"),
        (4, failed, "no memory"),
    ] {
        let events = play(&spec(&[8]), scripts([good(&[4], 1), strange(at, act)])).await;
        let last = slices(&events).pop().unwrap();
        assert_eq!(last.lost[0].why, why);
    }
}

#[tokio::test(start_paused = true)]
async fn without_anybody_left_the_load_has_failed() {
    let mut early = good(&[4], 1);
    early.truncate(4);
    let mut late = good(&[4], 2);
    late.truncate(5);
    let events = play(&spec(&[8]), scripts([early, late])).await;
    let said = names(&events);
    assert!(
        said.starts_with("ready 0, 0.0, 0.1, failed: all 2 load generators are lost: "),
        "{said}"
    );
    assert!(said.contains("generator 1: its output ended"), "{said}");
    let counted: Vec<u64> = slices(&events).iter().map(|slice| slice.requests).collect();
    assert_eq!(counted, [400, 200]);
}

#[tokio::test(start_paused = true)]
async fn clocks_of_machines_are_translated() {
    let clock = |ahead_ns| ClockOffset {
        ahead_ns,
        error_ns: 100,
    };
    let late = |acts: &mut Vec<Act>, after_ns: u64, monotonic_ns: u64| {
        acts[2] = Act::Begin(after_ns, monotonic_ns);
        for act in acts {
            if let Act::Say(LoadEvent::Interval(slice)) = act {
                slice.start_ns = slice.start_ns - MONOTONIC_NS + monotonic_ns;
                slice.end_ns = slice.end_ns - MONOTONIC_NS + monotonic_ns;
            }
        }
    };
    let (mut first, mut second) = (good(&[4], 1), good(&[4], 2));
    late(&mut first, 3 * MS, 70 * SECOND);
    late(&mut second, 10 * MS, 9 * SECOND);
    let scripts = [(first, 5 * 1_000_000_000), (second, -3_000_000_000)].map(|(acts, ahead_ns)| {
        let clock = Some(clock(ahead_ns));
        Scripted { acts, clock }
    });
    let before_ns = bakeoff_load::wall_ns() - bakeoff_load::wall_ahead_ns();
    let events = play(&spec(&[8]), scripts.into()).await;
    let Some(LoadEvent::StepDone { fleet, .. }) = events.get(4) else {
        panic!("{}", names(&events));
    };
    let fleet = fleet.as_ref().unwrap();
    assert_eq!(fleet.start_skew_ns, Some(7 * MS));
    let began: Vec<_> = fleet.parts.iter().map(|part| part.began_after_ns).collect();
    assert_eq!(began, [Some(3_000_000), Some(10_000_000)]);
    // Slices are on the session's monotonic clock, and follow each other without gaps.
    let slices = slices(&events);
    assert!((before_ns..before_ns + 60 * SECOND).contains(&slices[0].start_ns));
    assert_eq!(slices[1].start_ns, slices[0].end_ns);
    assert_eq!(slices[2].end_ns - slices[0].start_ns, 3 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_step_can_be_made_again_and_sat_out() {
    let stepwise = LoadSpec {
        stepwise: true,
        ..spec(&[1, 2])
    };
    let acts = |seed: u64, connections: u32| {
        let mut again = good(&[connections], seed);
        again.truncate(7);
        let mut acts = again.clone();
        acts.extend(again);
        let mut rest = good(&[connections, 1], seed);
        acts.extend(rest.split_off(8));
        acts.insert(7, Act::Wait);
        acts.insert(15, Act::Wait);
        acts
    };
    let told = Arc::default();
    let mut load = start_told(&stepwise, scripts([acts(1, 1), acts(2, 0)]), &told).await;
    let mut events = Vec::new();
    while let Some(event) = load.next().await.unwrap() {
        let dones = events
            .iter()
            .filter(|event| matches!(event, LoadEvent::StepDone { .. }));
        match (&event, dones.count()) {
            (LoadEvent::Ready { .. }, _) | (LoadEvent::StepDone { .. }, 1) => {
                load.tell(StepCommand::Go).await.unwrap();
            }
            (LoadEvent::StepDone { .. }, 0) => load.tell(StepCommand::Again).await.unwrap(),
            _ => {}
        }
        events.push(event);
    }
    assert_eq!(
        names(&events),
        "ready 0, 0.0, 0.1, 0.2, done 0, ready 0, 0.0, 0.1, 0.2, done 0, \
         ready 1, 1.0, 1.1, 1.2, done 1, done"
    );
    assert!(slices(&events).iter().all(|slice| slice.lost.is_empty()));
    let told = told.lock().unwrap();
    let once: Vec<&String> = told.iter().step_by(2).collect();
    assert_eq!(once, ["go at", "again", "go at", "go", "go at"]);
    let LoadEvent::StepDone { fleet, .. } = &events[4] else {
        panic!("the step is done");
    };
    // One that sits the step out has no skew.
    assert_eq!(fleet.as_ref().unwrap().start_skew_ns, None);
}

#[tokio::test(start_paused = true)]
async fn an_instant_of_the_callers_is_passed_on() {
    let stepwise = LoadSpec {
        stepwise: true,
        ..spec(&[8])
    };
    let mut load = start(&stepwise, scripts([good(&[4], 1), good(&[4], 2)])).await;
    assert!(matches!(
        load.next().await.unwrap(),
        Some(LoadEvent::Ready { .. })
    ));
    let at_ns = bakeoff_load::wall_ns() + SECOND;
    load.tell(StepCommand::GoAt(at_ns)).await.unwrap();
    let Some(LoadEvent::Began { unix_ns, .. }) = load.next().await.unwrap() else {
        panic!("it reports when it started");
    };
    assert_eq!(unix_ns, at_ns);
}
