//! Rules for `suite.toml` that a schema cannot express: names that must exist, steps, rounds.

use std::collections::BTreeMap;
use std::time::Duration;

use super::backend::{self, names_of};
use super::capacity;
use super::contender_file::environment;
use super::dependency;
use super::grpc;
use super::metrics;
use super::probe;
use super::raw::{
    BackendTable, BenchmarkTable, KindName, LadderTable, PaceName, ProfileTable, RequestTable,
    StepTable, SuiteFile,
};
use super::request;
use super::rounds;
use super::runs;
use super::scenario;
use super::shape;
use super::source::{KeyPath, Reading};
use super::tls;
use super::transport;
use super::turns;
use super::warm_up;
use crate::load::{Pace, RequestSpec};
use crate::suite::conditions::BackendName;
use crate::suite::{Benchmark, BenchmarkKind, Contender, Limits, Profile, Step, StepOrder, Suite};
use crate::text::names;

/// Length of a slice unless the profile says another.
const SLICE_DEFAULT: Duration = Duration::from_secs(1);

/// With this number of runs contenders get second processes unless the profile says otherwise:
/// fewer would hardly find a difference between a contender and itself, whatever the host did.
const CONTROL_RUNS_MIN: u32 = 5;

/// Cold starts of a benchmark of kind `startup` that does not say how many: enough for an
/// interval and a look at the tail.
const STARTS_DEFAULT: u32 = 20;

/// The only option of JVM contenders unless the profile says others: what the published results
/// were measured with.
const JVM_OPTIONS_DEFAULT: &str = "-XX:MaxRAMPercentage=75";

/// The suite without its checks, contenders and digest. `contenders` are given when all of them
/// could be read.
pub(super) fn suite(
    reading: &mut Reading<'_>,
    file: SuiteFile,
    contenders: Option<&[Contender]>,
) -> Suite {
    let root = KeyPath::root();
    environment(reading, &root.key("env"), &file.env);
    environment(reading, &root.key("env-unreachable"), &file.env_unreachable);
    let default = file.suite.default_backend.as_deref();
    let has_dependencies = !file.dependency.is_empty();
    let default_backend = default_backend(reading, default, &file.backend, has_dependencies);
    let profiles = profiles(reading, file.profile);
    let mut benchmarks = benchmarks(reading, file.benchmark);
    let grpc = file.suite.grpc.map(|table| grpc::grpc(reading, table));
    if grpc.is_some() {
        for (index, benchmark) in benchmarks.iter_mut().enumerate() {
            grpc::call(reading, index, benchmark);
        }
    }
    let metrics = file.metrics;
    let metrics = metrics.map(|table| metrics::metrics(reading, table, grpc.is_some()));
    let backends = backend::backends(reading, file.backend, &benchmarks);
    let dependencies = dependency::dependencies(reading, file.dependency);
    let known: Vec<&str> = dependencies.iter().map(|one| one.name.as_str()).collect();
    dependency::check_names(reading, &root.key("env"), &file.env, &known);
    check_steps(reading, &profiles, &benchmarks);
    probe::check_known(reading, &benchmarks, contenders);
    let rounds = rounds::rounds(reading, file.round, contenders, &benchmarks, &profiles);
    Suite {
        name: file.suite.name,
        analysis: file.suite.analysis,
        port: file.suite.port,
        env: file.env,
        env_unreachable: file.env_unreachable,
        ready_path: file.suite.ready_path,
        tls: file.suite.tls.map(|table| tls::tls(reading, table)),
        grpc,
        metrics,
        response_timeout: file
            .suite
            .response_timeout
            .map_or(Suite::RESPONSE_TIMEOUT, |timeout| timeout.0),
        logs_requests: file.suite.logs_requests,
        log_lines_min: file.suite.log_lines_min,
        lifecycle: file.suite.lifecycle,
        backends,
        dependencies,
        default_backend,
        profiles,
        checks: Vec::new(),
        benchmarks,
        rounds,
        contenders: Vec::new(),
        published: None,
        digest: String::new(),
    }
}

fn default_backend(
    reading: &mut Reading<'_>,
    wanted: Option<&str>,
    backends: &[BackendTable],
    has_dependencies: bool,
) -> BackendName {
    let otherwise = match has_dependencies {
        true => BackendName::Dependencies,
        false => BackendName::None,
    };
    let Some(wanted) = wanted else {
        let first = backends.first().map(|backend| backend.name.into());
        return first.unwrap_or(otherwise);
    };
    let mut all = backends.iter().map(|backend| backend.name.into());
    let found = all.find(|name: &BackendName| name.name() == wanted);
    if found.is_none() && reading.is_whole(&KeyPath::root().key("backend")) {
        let known = names_of(backends);
        let message = format!("unknown backend `{wanted}`");
        let place = KeyPath::root().key("suite").key("default-backend");
        reading.complain(&place, &message, Some(names::suggestion(wanted, &known)));
    }
    found.unwrap_or(otherwise)
}

fn profiles(
    reading: &mut Reading<'_>,
    tables: BTreeMap<String, ProfileTable>,
) -> BTreeMap<String, Profile> {
    let all = KeyPath::root().key("profile");
    let mut profiles = BTreeMap::new();
    for (name, table) in tables {
        let place = all.key(&name);
        if !shape::is_name(&name) {
            let message = format!("`{place}`: {name:?} is not a name");
            reading.complain(&place, &message, shape::name_hint());
        }
        let mut steps = steps(reading, &place, table.ladder.as_ref(), &table.step);
        if table.replaces_steps && table.ladder.is_none() && table.step.is_empty() {
            let message = format!("`{place}` has no steps that could replace others");
            let hint = Some("give it `ladder` or `[[step]]` tables".to_owned());
            reading.complain(&place.key("replaces-steps"), &message, hint);
        }
        let slice = table.slice.as_ref();
        let slice = slice.map_or(SLICE_DEFAULT, |slice| slice.0);
        if let Some(warm_up) = &table.warm_up {
            let place = place.key("warm-up");
            warm_up::until_warm(reading, &place, warm_up, &mut steps, slice);
        }
        if let Some(turn) = &table.turn {
            let turn = (turn.0, table.whole_runs);
            turns::fixed(reading, &place.key("turn"), turn, &steps);
        }
        let quotas = quotas(reading, &place, &table);
        let runs = runs::runs(reading, &place.key("runs"), &table.runs);
        let default_options = || vec![JVM_OPTIONS_DEFAULT.to_owned()];
        let profile = Profile {
            name: name.clone(),
            describe: table.describe,
            limits: Limits {
                cpus: quotas
                    .iter()
                    .copied()
                    .reduce(f64::max)
                    .or(table.limits.cpus),
                memory_bytes: table.limits.memory.map(|memory| memory.0),
            },
            cpus: quotas,
            runs,
            within_each: table.runs.within_each(),
            steps,
            step_order: step_order(table.ladder.as_ref()),
            whole_runs: table.whole_runs,
            turn: table.turn.as_ref().map(|turn| turn.0),
            latency: table.latency.unwrap_or(true),
            control: table.control.unwrap_or(runs.at_most() >= CONTROL_RUNS_MIN),
            replaces_steps: table.replaces_steps,
            lifecycle_every_run: table.lifecycle_every_run,
            slice,
            jvm_options: table.jvm_options.unwrap_or_else(default_options),
            start_timeout: table
                .start_timeout
                .map_or(Profile::START_TIMEOUT, |timeout| timeout.0),
        };
        profiles.insert(name, profile);
    }
    profiles
}

/// The quotas of a profile that has several.
fn quotas(reading: &mut Reading<'_>, place: &KeyPath, table: &ProfileTable) -> Vec<f64> {
    let place_of_all = place.key("cpus");
    if !table.cpus.is_empty() && table.limits.cpus.is_some() {
        let message = format!("`{place}` has both `cpus` and `limits.cpus`");
        let hint = Some("keep the one that is meant".to_owned());
        reading.complain(&place_of_all, &message, hint);
    }
    for (index, cpus) in table.cpus.iter().enumerate() {
        if table.cpus[..index].contains(cpus) {
            let message = format!("`{place_of_all}` has {} twice", cpus.0);
            reading.complain(&place_of_all.index(index), &message, None);
        }
    }
    table.cpus.iter().map(|quota| quota.0).collect()
}

/// The steps of a profile or benchmark at `place`; none when it has neither way of saying them.
fn steps(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    ladder: Option<&LadderTable>,
    tables: &[StepTable],
) -> Vec<Step> {
    let all = place.key("step");
    if ladder.is_some() && !tables.is_empty() {
        let message = format!("`{place}` has both `ladder` and `step`");
        let hint = Some("keep the one that is meant".to_owned());
        reading.complain(&place.key("ladder"), &message, hint);
    }
    if !tables.is_empty() && tables.iter().all(|table| table.warm_up) {
        let message = format!("`{place}`: all steps are warm-up, nothing would be measured");
        reading.complain(&all, &message, None);
    }
    let rungs = ladder.into_iter().flat_map(|ladder| {
        let warm_up = ladder.warm_up.iter().map(|connections| (connections, true));
        let measured = ladder
            .connections
            .iter()
            .map(|connections| (connections, false));
        warm_up.chain(measured).map(|(connections, warm_up)| Step {
            connections: *connections,
            duration: ladder.step.0,
            pace: Pace::Closed,
            warm_up,
            at_least: None,
        })
    });
    let mut steps: Vec<Step> = rungs.collect();
    for (index, table) in tables.iter().enumerate() {
        steps.push(Step {
            connections: table.connections,
            duration: table.duration.0,
            pace: pace(reading, &all.index(index), table),
            warm_up: table.warm_up,
            at_least: None,
        });
    }
    steps
}

fn step_order(ladder: Option<&LadderTable>) -> StepOrder {
    ladder.map(|ladder| ladder.order).unwrap_or_default()
}

fn pace(reading: &mut Reading<'_>, place: &KeyPath, table: &StepTable) -> Pace {
    let (name, wants_rate, wants_end) = match table.pace {
        PaceName::Closed => ("closed", false, false),
        PaceName::Constant => ("constant", true, false),
        PaceName::Poisson => ("poisson", true, false),
        PaceName::Ramp => ("ramp", true, true),
        PaceName::Users => ("users", false, false),
    };
    let users = [
        ("arrive", table.arrive.is_some()),
        ("times", table.times.is_some()),
    ];
    for (key, is_given) in users {
        if is_given && table.pace != PaceName::Users {
            let message = format!("`{place}`: pace `{name}` has no `{key}`");
            let hint = "write `pace = \"users\"` for users of a scenario".to_owned();
            reading.complain(&place.key(key), &message, Some(hint));
        }
    }
    let given = [
        ("rate", wants_rate, table.rate),
        ("rate-end", wants_end, table.rate_end),
    ];
    for (key, wanted, value) in given {
        let message = match (wanted, value) {
            (true, None) => format!("`{place}`: pace `{name}` needs `{key}`"),
            (false, Some(_)) => format!("`{place}`: pace `{name}` has no `{key}`"),
            _ => continue,
        };
        let hint = match wanted {
            true => "requests per second over all connections",
            false => "paces with a rate: constant, poisson, ramp; with an end as well: ramp",
        };
        reading.complain(&place.key(key), &message, Some(hint.to_owned()));
    }
    let rate_per_s = table.rate.unwrap_or_default();
    match table.pace {
        PaceName::Closed => Pace::Closed,
        PaceName::Constant => Pace::Constant { rate_per_s },
        PaceName::Poisson => Pace::Poisson { rate_per_s },
        PaceName::Ramp => Pace::Ramp {
            from_per_s: rate_per_s,
            to_per_s: table.rate_end.unwrap_or_default(),
        },
        PaceName::Users => Pace::Users {
            arrive_ns: table.arrive.map_or(0, |arrive| {
                u64::try_from(arrive.0.as_nanos()).unwrap_or(u64::MAX)
            }),
            times: u64::from(table.times.unwrap_or(1)),
        },
    }
}

fn benchmarks(reading: &mut Reading<'_>, tables: Vec<BenchmarkTable>) -> Vec<Benchmark> {
    let all = KeyPath::root().key("benchmark");
    let names = tables.iter().map(|table| table.name.as_str());
    reading.report_duplicates(&all, "benchmark", names);
    let mut benchmarks = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let place = all.index(index);
        let kind = kind(reading, &place, &table);
        let capacity = capacity::capacity(reading, &place, &table);
        let requests = table.request.into_iter().enumerate().map(|(index, table)| {
            let place = place.key("request").index(index);
            request_spec(reading, &place, table)
        });
        let requests: Vec<RequestSpec> = requests.collect();
        let scenario = table
            .scenario
            .map(|table| scenario::scenario(reading, &place.key("scenario"), table));
        let list = place.key("request");
        match &scenario {
            Some(scenario) => scenario::check_requests(reading, &list, scenario, &requests),
            None => {
                for (index, request) in requests.iter().enumerate() {
                    scenario::check_without(reading, &list.index(index), request);
                }
            }
        }
        let steps = steps(reading, &place, table.ladder.as_ref(), &table.step);
        check_paces(reading, &place.key("step"), &steps, scenario.is_some());
        let transport_place = place.key("transport");
        let transport = table
            .transport
            .map(|table| transport::transport(reading, &transport_place, &table))
            .unwrap_or_default();
        if let Some(scenario) = &scenario
            && let Some(message) = transport.contradiction_to(scenario)
        {
            let message = format!("`{place}`: {message}");
            reading.complain(&transport_place, &message, None);
        }
        transport::check_events(reading, &transport_place, &transport, &requests);
        let probes = probe::of_requests(reading, &place.key("probe"), table.probe, &requests);
        benchmarks.push(Benchmark {
            probes,
            steps,
            step_order: step_order(table.ladder.as_ref()),
            name: table.name,
            describe: table.describe,
            kind,
            capacity,
            requests,
            scenario,
            transport,
            backend_requests_min: table.backend_requests_min,
        });
    }
    benchmarks
}

/// Users go through scenarios, and scenarios have users.
fn check_paces(reading: &mut Reading<'_>, place: &KeyPath, steps: &[Step], is_scenario: bool) {
    for (index, step) in steps.iter().enumerate() {
        let place = place.index(index);
        let message = match (step.pace, is_scenario) {
            (Pace::Users { .. }, false) => format!("`{place}`: pace `users` is for scenarios"),
            (Pace::Closed | Pace::Users { .. }, _) | (_, false) => continue,
            (_, true) => format!("`{place}`: a scenario has users, not a rate"),
        };
        let hint = "scenarios have pace `closed` or `users`, other requests have all others";
        reading.complain(&place.key("pace"), &message, Some(hint.to_owned()));
    }
}

/// Returns the kind of a benchmark, and complains about keys that do not go with it.
fn kind(reading: &mut Reading<'_>, place: &KeyPath, table: &BenchmarkTable) -> BenchmarkKind {
    if table.kind != KindName::Startup {
        let said = reading.is_whole(&place.key("request")) && reading.is_whole(&place.key("kind"));
        if table.request.is_empty() && said {
            let message = format!("missing table `[[benchmark.request]]` in `{place}`");
            let hint = "the requests; each connection goes through them in turn".to_owned();
            reading.complain(place, &message, Some(hint));
        }
        if table.starts.is_some() && table.kind == KindName::Load {
            let message = format!("`{place}`: `starts` is for `kind = \"startup\"`");
            let hint = "how often a load is repeated is the profile's `runs`".to_owned();
            reading.complain(&place.key("starts"), &message, Some(hint));
        }
        return match table.kind {
            KindName::Capacity => BenchmarkKind::Capacity,
            KindName::Load | KindName::Startup => BenchmarkKind::Load,
        };
    }
    let has = [
        ("request", !table.request.is_empty()),
        ("ladder", table.ladder.is_some()),
        ("step", !table.step.is_empty()),
        ("scenario", table.scenario.is_some()),
        ("transport", table.transport.is_some()),
        ("backend-requests-min", table.backend_requests_min.is_some()),
        ("probe", !table.probe.is_empty()),
    ];
    for (key, _) in has.iter().filter(|(_, given)| *given) {
        let message = format!("`{place}`: kind `startup` has no `{key}`");
        let hint = "a contender is started, asked `ready-path`, and stopped".to_owned();
        reading.complain(&place.key(key), &message, Some(hint));
    }
    BenchmarkKind::Startup {
        starts: table.starts.unwrap_or(STARTS_DEFAULT),
    }
}

fn request_spec(reading: &mut Reading<'_>, place: &KeyPath, table: RequestTable) -> RequestSpec {
    let expect_place = place.key("expect");
    let expect = table
        .expect
        .map(|expect| request::expect(reading, &expect_place, expect));
    RequestSpec {
        name: table.name,
        pause: scenario::pause(reading, place, table.pause, table.pause_up_to),
        extract: scenario::extracts(reading, place, table.extract),
        headers: request::headers(reading, &place.key("headers"), &table.headers),
        body: request::body(reading, place, &table.body, table.body_repeat),
        method: table.method,
        path: table.path,
        expect,
        same_length: table.same_length,
        events: table.events,
        weight: table.weight,
    }
}

/// Every benchmark needs steps in every profile, from one of the two, and every profile with steps
/// a benchmark that uses them.
fn check_steps(
    reading: &mut Reading<'_>,
    profiles: &BTreeMap<String, Profile>,
    benchmarks: &[Benchmark],
) {
    if !reading.is_whole(&KeyPath::root().key("benchmark")) {
        return;
    }
    let all = || benchmarks.iter();
    let is_load = |one: &Benchmark| one.kind == BenchmarkKind::Load;
    let stepless = all().find(|one| is_load(one) && one.steps.is_empty());
    let has_loads = all().any(is_load);
    let has_searches = all().any(|one| one.kind == BenchmarkKind::Capacity);
    let is_used = |profile: &Profile| has_searches || (has_loads && profile.replaces_steps);
    for profile in profiles.values() {
        let place = KeyPath::root().key("profile").key(&profile.name);
        if !reading.is_whole(&place) {
            continue;
        }
        let (message, hint) = match (profile.steps.is_empty(), stepless) {
            (true, Some(Benchmark { name, .. })) => (
                format!("`{place}` has no steps, and the benchmark `{name}` has none either"),
                "give the profile `ladder` or `[[step]]` tables",
            ),
            (false, None) if !is_used(profile) => (
                format!("`{place}` has steps that no benchmark uses"),
                "`replaces-steps = true` plays them in place of the benchmarks' own",
            ),
            _ => continue,
        };
        reading.complain(&place, &message, Some(hint.to_owned()));
    }
}
