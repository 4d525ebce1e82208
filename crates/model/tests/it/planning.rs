//! Plans: which runs, in which order, and what is said about names that nothing has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bakeoff_model::load::{Pace, Protocol, WebSocket};
use bakeoff_model::plan::twins::all_have_twins;
use bakeoff_model::plan::{self, ChosenCase, Parameters, Plan, PlanOptions, PlannedRun, RunKind};
use bakeoff_model::request::scenario::Pause;
use bakeoff_model::request::scenario::Scenario;
use bakeoff_model::suite::conditions::{BackendName, RuntimeKind};
use bakeoff_model::suite::run_count::RunsUntil;
use bakeoff_model::suite::{Contender, StepOrder, Suite};
use insta::assert_snapshot;

use crate::format_page::page_suite;

/// The suite of the page with more contenders, so that there is an order to shuffle.
fn suite() -> Suite {
    let mut suite = page_suite();
    let bare = suite.contenders[0].clone();
    let more = ["actix-4", "axum", "rocket-0.4"].map(|name| Contender {
        name: name.to_owned(),
        folder: name.to_owned(),
        matrix: BTreeMap::new(),
        ..bare.clone()
    });
    suite.contenders.extend(more);
    let names = ["city-get", "start-up"];
    suite
        .benchmarks
        .retain(|one| names.contains(&one.name.as_str()));
    let second = bakeoff_model::suite::Benchmark {
        name: "closest".to_owned(),
        ..suite.benchmarks[0].clone()
    };
    suite.benchmarks.insert(1, second);
    suite
}

fn options() -> PlanOptions {
    PlanOptions {
        profile: "seed".to_owned(),
        contenders: Vec::new(),
        parameters: BTreeMap::new(),
        cases: Vec::new(),
        benchmarks: vec!["c*".to_owned()],
        runs: None,
        seed: 7,
        runtime: RuntimeKind::Process,
        backend: BackendName::Replay,
        backend_delay: None,
        no_turns: None,
    }
}

fn made(options: &PlanOptions) -> Plan {
    plan::plan(&suite(), options).unwrap()
}

#[test]
fn the_order_is_that_of_every_version() {
    let options = PlanOptions {
        benchmarks: vec!["city-get".to_owned()],
        runs: Some(2),
        ..options()
    };
    let plan = made(&options);
    let ids: Vec<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
    assert_snapshot!(ids.join("\n"), @r#"
    city-get.axum.r1
    city-get.rocket-0.4.r1
    city-get.actix-4.r1
    city-get.http4k-3_jetty.WORKERS=16.r1
    city-get.http4k-3.WORKERS=16.r1
    city-get.http4k-3.WORKERS=8.r1
    city-get.http4k-3_jetty.WORKERS=8.r1
    city-get.actix-4.r2
    city-get.http4k-3.WORKERS=16.r2
    city-get.http4k-3_jetty.WORKERS=16.r2
    city-get.rocket-0.4.r2
    city-get.http4k-3_jetty.WORKERS=8.r2
    city-get.axum.r2
    city-get.http4k-3.WORKERS=8.r2
    "#);
    assert_eq!(plan, made(&options));
}

#[test]
fn repetitions_are_interleaved() {
    let plan = made(&options());
    let cases = plan.runs.len() / 4;
    // Two contenders without their own matrix but with 2 combinations, and three plain ones.
    assert_eq!(cases, 2 * (2 * 2 + 3));
    let labels = |runs: &[plan::PlannedRun]| -> Vec<(String, String)> {
        runs.iter()
            .map(|run| (run.benchmark.clone(), run.case_label()))
            .collect()
    };
    let blocks: Vec<_> = plan.runs.chunks(cases).map(labels).collect();
    let sets: BTreeSet<BTreeSet<_>> = blocks.iter().map(|b| b.iter().collect()).collect();
    assert_eq!(sets.len(), 1, "each repetition has every case once");
    assert_eq!(
        blocks.iter().collect::<BTreeSet<_>>().len(),
        4,
        "in a different order"
    );
    for (position, run) in plan.runs.iter().enumerate() {
        assert_eq!(run.order, position);
        assert_eq!(run.repetition as usize, position / cases + 1);
    }
}

#[test]
fn runs_say_what_a_request_takes() {
    let benchmarks = vec!["*".to_owned()];
    let plan = made(&PlanOptions {
        benchmarks,
        ..options()
    });
    let work = |benchmark: &str| {
        let mut runs = plan.runs.iter();
        let run = runs.find(|run| run.benchmark == benchmark).unwrap();
        (run.work.backend_requests_min, run.work.log_lines_min)
    };
    assert_eq!(work("city-get"), (Some(1.0), Some(1.0)));
    assert_eq!(work("start-up"), (None, None));
}

#[test]
fn a_contender_may_owe_other_lines_of_its_log_than_the_rest() {
    let mut suite = suite();
    suite.contenders[1].log_lines_min = Some(2.0);
    let messages = &mut suite.benchmarks[1].transport.protocol;
    *messages = Protocol::Websocket(WebSocket::default());
    let plan = plan::plan(&suite, &options()).unwrap();
    let lines = |benchmark: &str, contender: &str| {
        let is = |run: &&PlannedRun| run.benchmark == benchmark && run.contender == contender;
        plan.runs.iter().find(is).unwrap().work.log_lines_min
    };
    let (verbose, usual) = (&suite.contenders[1].name, &suite.contenders[2].name);
    assert_eq!(lines("city-get", verbose), Some(2.0));
    assert_eq!(lines("city-get", usual), Some(1.0));
    assert_eq!(
        lines("closest", verbose),
        None,
        "a message is not a request"
    );
}

#[test]
fn more_repetitions_only_add() {
    let shorter = made(&options());
    let longer = made(&PlanOptions {
        runs: Some(6),
        ..options()
    });
    assert_eq!(shorter.runs, longer.runs[..shorter.runs.len()]);
}

#[test]
fn another_seed_is_another_order() {
    let other = made(&PlanOptions {
        seed: 8,
        ..options()
    });
    let ids = |plan: &Plan| {
        plan.runs
            .iter()
            .map(|run| run.id.clone())
            .collect::<Vec<_>>()
    };
    assert_ne!(ids(&made(&options())), ids(&other));
    let sorted = |plan: &Plan| ids(plan).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(sorted(&made(&options())), sorted(&other));
}

#[test]
fn cold_starts_have_a_count_of_their_own_and_nothing_else() {
    let options = PlanOptions {
        contenders: vec!["actix-4".to_owned(), "axum".to_owned()],
        benchmarks: vec!["closest".to_owned(), "start-up".to_owned()],
        ..options()
    };
    let plan = plan::plan(&suite(), &options).unwrap();
    let starts: Vec<_> = plan
        .runs
        .iter()
        .filter(|run| run.kind == RunKind::Startup)
        .collect();
    assert_eq!((plan.runs.len(), starts.len()), (2 * (4 + 20), 2 * 20));
    for run in &starts {
        assert!(run.steps.is_empty() && !run.lifecycle, "{}", run.id);
        assert_eq!(run.expected, Duration::from_secs(3));
    }
    // Fresh instances of all contenders alternate: a block of starts has each of them once.
    for block in starts.chunks(2) {
        assert_eq!(block[0].repetition, block[1].repetition);
        assert_ne!(block[0].contender, block[1].contender);
    }
    let firsts: BTreeSet<&str> = starts.chunks(2).map(|b| b[0].contender.as_str()).collect();
    assert_eq!(firsts.len(), 2, "the order is drawn for each block");
    let fewer = PlanOptions {
        runs: Some(3),
        ..options
    };
    let plan = plan::plan(&suite(), &fewer).unwrap();
    assert_eq!(plan.runs.len(), 2 * (3 + 3));
}

#[test]
fn parameters_narrow_a_matrix_and_cases_join() {
    let labels = |options: &PlanOptions| -> BTreeSet<String> {
        made(options)
            .runs
            .iter()
            .map(PlannedRun::case_label)
            .collect()
    };
    let eight = BTreeMap::from([("WORKERS".to_owned(), "8".to_owned())]);
    let winner = ChosenCase {
        contender: "http4k-3/jetty".to_owned(),
        parameters: eight.clone().into(),
    };
    let narrowed = PlanOptions {
        contenders: vec!["http4k-3".to_owned(), "axum".to_owned()],
        parameters: BTreeMap::from([("WORKERS".to_owned(), vec!["16".to_owned()])]),
        cases: vec![winner.clone()],
        ..options()
    };
    let wanted = ["axum", "http4k-3/jetty[WORKERS=8]", "http4k-3[WORKERS=16]"];
    assert_eq!(labels(&narrowed), wanted.map(str::to_owned).into());
    let alone = PlanOptions {
        cases: vec![winner.clone()],
        ..options()
    };
    assert_eq!(labels(&alone), BTreeSet::from([winner.label()]));
    let unknown = PlanOptions {
        cases: vec![ChosenCase {
            contender: "axun".to_owned(),
            parameters: eight.into(),
        }],
        ..options()
    };
    let errors = plan::plan(&suite(), &unknown).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].hint().contains("did you mean `axum`?"));
}

#[test]
fn contenders_are_measured_with_each_cpu_quota() {
    let mut suite = suite();
    let profile = suite.profiles.get_mut("seed").unwrap();
    profile.cpus = vec![0.25, 1.0];
    let chosen = PlanOptions {
        contenders: vec!["axum".to_owned()],
        benchmarks: vec!["closest".to_owned()],
        ..options()
    };
    let plan = plan::plan(&suite, &chosen).unwrap();
    let cases = plan.runs.iter();
    let cases = cases.map(|run| {
        (
            run.case_label(),
            run.limits.cpus.map(|cpus| cpus.to_string()),
        )
    });
    let quota = |cpus: &str| (format!("axum[cpu-limit={cpus}]"), Some(cpus.to_owned()));
    let cases: BTreeSet<(String, Option<String>)> = cases.collect();
    assert_eq!(cases, BTreeSet::from([quota("0.25"), quota("1")]));
    for run in &plan.runs {
        let written = serde_json::to_value(&run.parameters).unwrap();
        let cpus = run.limits.cpus.unwrap().to_string();
        assert_eq!(written, serde_json::json!({ "cpu-limit": cpus }));
        let read: Parameters = serde_json::from_value(written).unwrap();
        assert_eq!(read, run.parameters);
    }
    let memory = |run: &PlannedRun| run.limits.memory_bytes;
    assert!(
        plan.runs
            .iter()
            .all(|run| memory(run) == memory(&plan.runs[0]))
    );
}

#[test]
fn slow_checks_belong_to_the_first_run_of_each_contender() {
    let mut suite = suite();
    let plan = plan::plan(&suite, &options()).unwrap();
    let mut seen = BTreeSet::new();
    for run in &plan.runs {
        assert_eq!(
            run.lifecycle,
            seen.insert(run.contender.clone()),
            "{}",
            run.id
        );
        let slow = if run.lifecycle { 10 } else { 0 };
        let open = Duration::from_millis(5_200);
        assert_eq!(run.expected, Duration::from_secs(160 + 5 + slow) + open);
    }
    suite.profiles.get_mut("seed").unwrap().lifecycle_every_run = true;
    let plan = plan::plan(&suite, &options()).unwrap();
    assert!(plan.runs.iter().all(|run| run.lifecycle));
    let external = PlanOptions {
        runtime: RuntimeKind::External,
        ..options()
    };
    let plan = plan::plan(&suite, &external).unwrap();
    assert!(plan.runs.iter().all(|run| !run.lifecycle), "not ours");
    suite.lifecycle = false;
    let plan = plan::plan(&suite, &options()).unwrap();
    assert!(plan.runs.iter().all(|run| !run.lifecycle));
}

#[test]
fn ids_are_unique_and_safe_as_file_names() {
    let mut suite = suite();
    let values = ["a/b", "a b", "ň", ".."].map(str::to_owned).to_vec();
    suite.contenders[0].matrix.insert("X".to_owned(), values);
    suite.contenders[0]
        .matrix
        .insert("LONG".to_owned(), vec!["l".repeat(500)]);
    let plan = plan::plan(&suite, &options()).unwrap();
    let ids: BTreeSet<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids.len(), plan.runs.len());
    for id in ids {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_=.~".contains(c);
        assert!(id.chars().all(is_safe) && id.len() < 200, "{id}");
    }
}

#[test]
fn steps_of_a_benchmark_hold_under_every_profile() {
    let mut suite = suite();
    let own = &suite.profiles["seed"].steps[..1].to_vec();
    suite.benchmarks[0].steps.clone_from(own);
    let plan = plan::plan(&suite, &options()).unwrap();
    for run in &plan.runs {
        let expected = match run.benchmark == suite.benchmarks[0].name {
            true => own,
            false => &suite.profiles["seed"].steps,
        };
        assert_eq!(&run.steps, expected, "{}", run.id);
    }
}

#[test]
fn a_plan_survives_its_file() {
    let plan = made(&options());
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}

#[test]
fn unknown_names_come_together() {
    let options = PlanOptions {
        profile: "sead".to_owned(),
        contenders: vec!["actx-4".to_owned(), "axum".to_owned(), "tide*".to_owned()],
        benchmarks: vec!["?".to_owned()],
        backend: BackendName::Elasticsearch,
        ..options()
    };
    let mut suite = suite();
    suite.backends.retain(|one| one.name == BackendName::Replay);
    let errors = plan::plan(&suite, &options).unwrap_err();
    let texts: Vec<String> = errors
        .iter()
        .map(|error| format!("{error}\n  hint: {}", error.hint()))
        .collect();
    assert_snapshot!(texts.join("\n"), @r#"
    unknown profile `sead`
      hint: did you mean `seed`? known: gc, open, seed, standard, turns, until, whole
    unknown backend `elasticsearch`
      hint: known: replay, dependencies, none
    unknown contender `actx-4`
      hint: did you mean `actix-4`? known: http4k-3, http4k-3/jetty, actix-4, axum, rocket-0.4
    unknown contender `tide*`
      hint: known: http4k-3, http4k-3/jetty, actix-4, axum, rocket-0.4
    unknown benchmark `?`
      hint: known: city-get, closest, start-up
    "#);
}

#[test]
fn a_fixed_length_of_turns_is_in_the_plan() {
    let options = PlanOptions {
        profile: "turns".to_owned(),
        ..options()
    };
    let mut suite = suite();
    suite.profiles.get_mut("turns").unwrap().turn = Some(Duration::from_millis(50));
    for run in plan::plan(&suite, &options).unwrap().runs {
        assert_eq!(run.turn_ns, run.in_turns.then_some(50_000_000));
    }
}

#[test]
fn runs_in_turns_are_beside_each_other() {
    let options = PlanOptions {
        profile: "turns".to_owned(),
        benchmarks: vec!["c*".to_owned(), "start-up".to_owned()],
        runs: Some(2),
        ..options()
    };
    let plan = made(&options);
    assert!(plan.has_turns());
    let turns: Vec<&PlannedRun> = plan.runs.iter().filter(|run| run.in_turns).collect();
    assert!(turns.iter().all(|run| run.kind == RunKind::Load));
    let places: Vec<(u32, &str)> = turns
        .iter()
        .map(|run| (run.repetition, run.benchmark.as_str()))
        .collect();
    let mut groups = places.clone();
    groups.dedup();
    assert_eq!(
        groups.len(),
        4,
        "two benchmarks, two repetitions: {places:?}"
    );
    let with_control = 2 * 2 + 3 + 1;
    assert_eq!(places.len(), 4 * with_control);
    let first = turns[0];
    let beside = turns.iter().filter(|other| first.is_beside(other));
    assert_eq!(beside.count(), with_control);
    let starts = plan.runs.iter().find(|run| !run.in_turns).unwrap();
    assert_eq!(starts.kind, RunKind::Startup);
    assert!(!starts.is_beside(starts), "cold starts are whole runs");

    // Each contender is loaded as long as the steps of a whole run say.
    assert_eq!(first.played(), [0, 1]);
    let load = Duration::from_secs(40);
    assert!(
        first.expected > load && first.expected < 2 * load,
        "{:?}",
        first.expected
    );
}

/// Sets of eight: two contenders with two parameters each, three without, and the control.
fn set_of_eight(runs: u32) -> Plan {
    made(&PlanOptions {
        profile: "turns".to_owned(),
        benchmarks: vec!["city-get".to_owned()],
        runs: Some(runs),
        ..options()
    })
}

/// The groups of each repetition in their order: the number, and the members as drawn.
fn groups(plan: &Plan) -> Vec<(u32, u32, Vec<String>)> {
    let sets = plan.runs.chunk_by(PlannedRun::is_beside);
    let group = |set: &[PlannedRun]| {
        let labels = set.iter().map(PlannedRun::process_label).collect();
        (set[0].repetition, set[0].group.unwrap(), labels)
    };
    sets.map(group).collect()
}

#[test]
fn a_set_that_does_not_fit_is_split_into_groups_with_a_common_contender() {
    let whole = set_of_eight(6);
    assert!(!serde_json::to_string(&whole).unwrap().contains("group"));
    assert_eq!(whole.groups(), None);
    assert_eq!(whole.in_groups(8).as_ref(), Some(&whole), "it fits");
    let plan = whole.in_groups(4).unwrap();
    assert_eq!(plan.groups(), Some((3, "actix-4".to_owned())));
    let found = groups(&plan);
    assert_eq!(found.len(), 6 * 3);
    // In each repetition the same contenders are together, and every one takes part.
    let mut members: BTreeMap<u32, BTreeSet<Vec<String>>> = BTreeMap::new();
    for (_, number, labels) in &found {
        assert!(labels.len() <= 4 && labels.contains(&"actix-4".to_owned()));
        let mut sorted = labels.clone();
        sorted.sort();
        members.entry(*number).or_default().insert(sorted);
    }
    assert!(members.values().all(|one| one.len() == 1), "{members:?}");
    let all = members.values().flatten().flatten().cloned();
    let all: BTreeSet<String> = all.collect();
    let labels = whole.runs.iter().map(PlannedRun::process_label);
    assert_eq!(all, labels.collect());
    let twin = all.iter().find(|label| label.ends_with(" (twin)")).unwrap();
    let case = twin.trim_end_matches(" (twin)").to_owned();
    let with_twin = found.iter().filter(|one| one.2.contains(twin));
    assert!(with_twin.clone().all(|one| one.2.contains(&case)));
    // Their order is drawn.
    let first: BTreeSet<u32> = found.chunks(3).map(|groups| groups[0].1).collect();
    assert!(first.len() > 1, "{first:?}");
    let places: BTreeSet<usize> = found
        .iter()
        .filter_map(|one| one.2.iter().position(|label| label == "actix-4"))
        .collect();
    assert!(places.len() > 1, "nor is the common contender always first");
}

#[test]
fn runs_of_groups_have_names_and_times_of_their_own() {
    let whole = set_of_eight(2);
    let plan = whole.in_groups(4).unwrap();
    let ids: BTreeSet<&String> = plan.runs.iter().map(|run| &run.id).collect();
    assert_eq!(ids.len(), 2 * (8 + 2));
    for (order, run) in plan.runs.iter().enumerate() {
        assert_eq!(run.order, order);
        let group = run.group.unwrap();
        assert!(run.id.ends_with(&format!(".r{}.g{group}", run.repetition)));
        assert_eq!(
            run.repetition_text(),
            format!("{}, group {group}", run.repetition)
        );
        // Each group would have another rate.
        assert_eq!(run.latency, None);
        let same = whole
            .runs
            .iter()
            .find(|one| one.process_label() == run.process_label());
        assert!(run.expected <= same.unwrap().expected);
    }
    let checked = plan.runs.iter().filter(|run| run.lifecycle);
    let checked: Vec<String> = checked.map(PlannedRun::process_label).collect();
    let once: BTreeSet<&String> = checked.iter().collect();
    assert_eq!(checked.len(), once.len(), "slow checks are made once");
    let file = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&file).unwrap(), plan);
}

#[test]
fn what_is_compared_in_particular_stays_in_one_group() {
    let whole = set_of_eight(1);
    assert_eq!(whole.in_groups(1), None);
    // Where two are alive, that a contender and its twin are together makes it the common one.
    let twin = whole.runs.iter().find(|run| run.twin).unwrap();
    let pairs = whole.in_groups(2).unwrap();
    assert_eq!(pairs.groups(), Some((7, twin.case_label())));

    let mut plan = whole.clone();
    plan.runs.truncate(6);
    let names = ["b", "a", "b@base", "c", "c@base", "a@base"];
    for (run, name) in plan.runs.iter_mut().zip(names) {
        run.contender = name.to_owned();
        run.parameters = Parameters::default();
        run.twin = false;
    }
    let list = |most: usize| -> Vec<String> {
        let found = groups(&plan.in_groups(most).unwrap());
        found.iter().map(|one| one.2.join(" ")).collect()
    };
    assert_eq!(list(3), ["b b@base a@base", "a a@base", "c c@base a@base"]);
    assert_eq!(list(4), ["b a b@base a@base", "c c@base a@base"]);
    assert_eq!(plan.in_groups(2), None, "b and its base do not fit");
}

/// Whether the runs of each benchmark of kind `load` are in turns.
fn in_turns(suite: &Suite, options: &PlanOptions) -> BTreeMap<String, bool> {
    let plan = plan::plan(suite, options).unwrap();
    let loads = plan.runs.iter().filter(|run| run.kind == RunKind::Load);
    let mut found: BTreeMap<String, bool> = BTreeMap::new();
    for run in loads {
        let before = found.insert(run.benchmark.clone(), run.in_turns);
        assert!(
            before.is_none_or(|before| before == run.in_turns),
            "all runs of {} or none",
            run.benchmark
        );
    }
    found
}

#[test]
fn contenders_take_turns_where_the_load_can_wait() {
    #[track_caller]
    fn check(change: impl FnOnce(&mut Suite), closest: bool) {
        let mut suite = suite();
        change(&mut suite);
        let found = in_turns(&suite, &options());
        assert_eq!((found["city-get"], found["closest"]), (true, closest));
    }
    check(|_| {}, true);
    let pause = |max_ns| Some(Pause { min_ns: 0, max_ns });
    check(
        |suite| suite.benchmarks[1].requests[0].pause = pause(1_000_000),
        false,
    );
    check(
        |suite| suite.benchmarks[1].requests[0].pause = pause(0),
        true,
    );
    check(
        |suite| {
            let protocol = Protocol::Websocket(WebSocket::default());
            suite.benchmarks[1].transport.protocol = protocol;
        },
        false,
    );
    check(
        |suite| {
            let mut steps = suite.profiles["seed"].steps.clone();
            let rate_per_s = 100.0;
            steps[6].pace = Pace::Constant { rate_per_s };
            suite.benchmarks[1].steps = steps;
        },
        false,
    );
    // Users that connect on arrival have no open connections to take turns on.
    for (connect, expect) in [("before-step", true), ("on-arrival", false)] {
        let users = serde_json::json!({ "connect": connect });
        let users: Scenario = serde_json::from_value(users).unwrap();
        check(|suite| suite.benchmarks[1].scenario = Some(users), expect);
    }
    // Its own ladder is closed load, too.
    check(
        |suite| suite.benchmarks[1].steps = suite.profiles["seed"].steps[..7].to_vec(),
        true,
    );
}

#[test]
fn response_times_are_compared_of_those_that_take_turns() {
    /// Of each benchmark, whether all of its runs have open load after their turns.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Suite, &mut PlanOptions), expect: [(&str, bool); 2]) {
        let (mut suite, mut options) = (suite(), options());
        change(&mut suite, &mut options);
        let plan = plan::plan(&suite, &options).unwrap();
        for (benchmark, compared) in expect {
            let mut runs = plan.runs.iter().filter(|run| run.benchmark == benchmark);
            assert!(
                runs.all(|run| run.latency.is_some() == compared),
                "{benchmark}"
            );
        }
    }
    let both = |compared| [("city-get", compared), ("closest", compared)];
    check(|_, _| {}, both(true));
    check(
        |suite, _| suite.profiles.get_mut("seed").unwrap().latency = false,
        both(false),
    );
    check(
        |_, options| options.no_turns = Some("they cannot".to_owned()),
        both(false),
    );
    check(
        |suite, _| {
            let users: Scenario = serde_json::from_str("{}").unwrap();
            suite.benchmarks[1].scenario = Some(users);
        },
        [("city-get", true), ("closest", false)],
    );

    let made = |latency: bool| {
        let mut suite = suite();
        suite.profiles.get_mut("seed").unwrap().latency = latency;
        plan::plan(&suite, &options()).unwrap()
    };
    let (with, without) = (made(true), made(false));
    let run = &with.runs[0];
    let stated = run
        .steps
        .iter()
        .find(|step| step.connections == 64)
        .unwrap();
    let load = run.latency.unwrap();
    assert_eq!((load.connections, load.cycles(1e6)), (64, 25));
    assert_eq!(load.duration, stated.duration / 2);
    // 25 slices of 0.2 s, and one of warm-up.
    let more = run.expected - without.runs[0].expected;
    assert_eq!(more, Duration::from_millis(5_200));
    let file = serde_json::to_string(&with).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&file).unwrap(), with);
}

#[test]
fn one_case_alone_and_profiles_of_whole_runs_take_no_turns() {
    let alone = |contender: &str| PlanOptions {
        contenders: vec![contender.to_owned()],
        benchmarks: vec!["city-get".to_owned()],
        ..options()
    };
    let is = |expected| BTreeMap::from([("city-get".to_owned(), expected)]);
    assert_eq!(in_turns(&suite(), &alone("axum")), is(false));
    // Two combinations of one contender's parameters are two cases.
    assert_eq!(in_turns(&suite(), &alone("http4k-3")), is(true));
    let plan = made(&PlanOptions {
        profile: "whole".to_owned(),
        ..options()
    });
    assert!(!plan.has_turns());
    assert_eq!(plan.no_turns, None, "the profile asks for it");
}

#[test]
fn measured_steps_of_a_ladder_are_played_in_another_order_in_each_repetition() {
    let mut suite = suite();
    let order = |suite: &Suite, runs: u32| -> Vec<(u32, Vec<usize>)> {
        let options = PlanOptions {
            benchmarks: vec!["city-get".to_owned()],
            runs: Some(runs),
            ..options()
        };
        let plan = plan::plan(suite, &options).unwrap();
        let runs = plan.runs.iter();
        let mut orders: Vec<(u32, Vec<usize>)> =
            runs.map(|run| (run.repetition, run.played())).collect();
        orders.sort();
        // One for each repetition: all contenders have the same.
        orders.dedup();
        orders
    };
    let listed: Vec<usize> = (0..16).collect();
    assert_eq!(order(&suite, 2), [(1, listed.clone()), (2, listed.clone())]);

    suite.profiles.get_mut("seed").unwrap().step_order = StepOrder::Random;
    let three = order(&suite, 3);
    assert_eq!(three.len(), 3);
    for (_, played) in &three {
        let mut sorted = played.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, listed, "each step once");
        assert_eq!(played[..5], listed[..5], "warm-up comes first");
        assert_ne!(*played, listed);
    }
    assert!(three[0].1 != three[1].1 && three[1].1 != three[2].1);
    assert_eq!(order(&suite, 2), three[..2], "more runs add to the end");

    // A benchmark's own steps are its workload, in their order.
    suite.benchmarks[0].steps = suite.profiles["seed"].steps.clone();
    assert_eq!(order(&suite, 1), [(1, listed)]);
}

#[test]
fn a_profile_may_replace_the_steps_of_benchmarks() {
    let mut suite = suite();
    let own = &mut suite.benchmarks[0];
    own.steps = suite.profiles["seed"].steps[..1].to_vec();
    let planned = |suite: &Suite, profile: &str| -> Vec<usize> {
        let options = PlanOptions {
            profile: profile.to_owned(),
            benchmarks: vec!["city-get".to_owned()],
            runs: Some(1),
            ..options()
        };
        let plan = plan::plan(suite, &options).unwrap();
        let runs = plan.runs.iter();
        let mut planned: Vec<usize> = runs.map(|run| run.steps.len()).collect();
        planned.dedup();
        planned
    };
    assert_eq!(planned(&suite, "seed"), [1]);
    assert_eq!(planned(&suite, "turns"), [1]);
    for profile in suite.profiles.values_mut() {
        profile.replaces_steps = true;
    }
    assert_eq!(planned(&suite, "seed"), [16]);
    assert_eq!(planned(&suite, "turns"), [2]);
}

#[test]
fn turns_that_cannot_be_taken_are_whole_runs_of_the_same_contenders() {
    let options = PlanOptions {
        profile: "turns".to_owned(),
        ..options()
    };
    let why = "without root contenders have no separate networks";
    let (turns, whole) = (made(&options), made(&options.in_whole_runs(why.to_owned())));
    assert!(turns.has_turns() && !whole.has_turns());
    assert_eq!(turns.no_turns, None);
    assert_eq!(whole.no_turns.as_deref(), Some(why));
    let without = |plan: &Plan| -> Vec<PlannedRun> {
        let of = |run: &PlannedRun| PlannedRun {
            in_turns: false,
            turn_ns: None,
            latency: None,
            // The runs of a benchmark follow each other in turns only.
            order: 0,
            lifecycle: false,
            expected: Duration::ZERO,
            ..run.clone()
        };
        let mut all: Vec<_> = plan.runs.iter().map(of).collect();
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    };
    assert_eq!(without(&whole), without(&turns));
    let benchmarks = |plan: &Plan| {
        let mut all: Vec<_> = plan.runs.iter().map(|run| run.benchmark.clone()).collect();
        all.dedup();
        all.len()
    };
    // Five times two benchmarks, of which the last and the next one may be the same.
    assert!(benchmarks(&turns) <= 5 * 2, "{}", benchmarks(&turns));
    assert!(benchmarks(&whole) > 5 * 2, "{}", benchmarks(&whole));

    let file = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&file).unwrap(), whole);

    // Where the profile asks for whole runs, nothing is said.
    let asked = PlanOptions {
        profile: "whole".to_owned(),
        ..options
    };
    let not_possible = asked.in_whole_runs(why.to_owned());
    assert_eq!(made(&not_possible), made(&asked));
}

#[test]
fn a_pilot_decides_about_the_end_of_a_plan_only() {
    let made = |runs: Option<u32>| {
        let options = PlanOptions {
            profile: "until".to_owned(),
            benchmarks: vec!["city-get".to_owned(), "start-up".to_owned()],
            contenders: vec!["axum".to_owned(), "actix-4".to_owned()],
            runs,
            ..options()
        };
        made(&options)
    };
    let (plan, fixed, few) = (made(None), made(Some(30)), made(Some(3)));
    let until = plan.runs_until.unwrap();
    assert_eq!(
        until.sentence(),
        "3 to 30 runs of each contender, at most 2 h: after 3 it is decided how many find a \
         difference of 5 %."
    );
    let load = |plan: &Plan| -> Vec<String> {
        let runs = plan.runs.iter().filter(|run| run.kind == RunKind::Load);
        runs.map(|run| run.id.clone()).collect()
    };
    // Two processes of two cases; `--runs` replaces the pilot.
    assert_eq!(load(&plan).len(), 4 * 30);
    assert_eq!(load(&plan), load(&fixed));
    assert_eq!((fixed.runs_until, few.runs_until), (None, None));
    assert_eq!(load(&plan)[..12], load(&few));
    // Cold starts have a separate number.
    assert_eq!(plan.certain().count(), 12 + 2 * 20);
    assert_eq!(few.certain().count(), few.runs.len());
    let within = Duration::from_secs(2 * 3600);
    let certain: Duration = plan.certain().map(|run| run.expected).sum();
    assert!(certain < within && certain >= plan.shortest());
    let all: Duration = plan.runs.iter().map(|run| run.expected).sum();
    assert_eq!(plan.expected(), all.min(within));
    // Two cases and the control, each with ten minutes; their cold starts are not counted.
    let mut suite = suite();
    suite.profiles.get_mut("until").unwrap().within_each = Some(Duration::from_secs(600));
    let each = PlanOptions {
        profile: "until".to_owned(),
        benchmarks: vec!["city-get".to_owned(), "start-up".to_owned()],
        contenders: vec!["axum".to_owned(), "actix-4".to_owned()],
        ..options()
    };
    let each = plan::plan(&suite, &each).unwrap().runs_until.unwrap();
    assert_eq!(each.within, Some(Duration::from_secs(1200)));
    let short = Plan {
        runs_until: Some(RunsUntil {
            within: Some(Duration::from_secs(1)),
            ..until
        }),
        ..plan
    };
    assert_eq!(short.expected(), certain, "the pilot is made in any case");
    let text = serde_json::to_string(&short).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), short);
}

#[test]
fn a_twin_is_a_case_once_more() {
    let mut suite = suite();
    suite.profiles.get_mut("seed").unwrap().control = true;
    let made = |seed: u64, contenders: &[&str]| {
        let options = PlanOptions {
            seed,
            contenders: contenders.iter().map(|name| (*name).to_owned()).collect(),
            benchmarks: vec!["c*".to_owned(), "start-up".to_owned()],
            ..options()
        };
        plan::plan(&suite, &options).unwrap()
    };
    let plan = made(7, &[]);
    let ids: BTreeSet<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
    assert_eq!(ids.len(), plan.runs.len());
    let (twins, others): (Vec<&PlannedRun>, Vec<&PlannedRun>) =
        plan.runs.iter().partition(|run| run.twin);
    // Four repetitions of two benchmarks with load.
    assert_eq!(twins.len(), 8);
    let first = twins[0];
    for twin in &twins {
        assert_eq!(twin.case_label(), first.case_label());
        assert!(twin.process_label().ends_with(" (twin)"));
        let is_first = |run: &&&PlannedRun| {
            let same_place = (run.repetition, &run.benchmark);
            same_place == (twin.repetition, &twin.benchmark)
                && run.case_label() == twin.case_label()
        };
        assert_eq!(others.iter().filter(is_first).count(), 1);
        assert_eq!(twin.kind, RunKind::Load);
        assert_eq!(twin.steps, first.steps);
    }
    assert_eq!(made(7, &[]), plan);
    let picked = |seed: u64| {
        let plan = made(seed, &[]);
        let twin = plan.runs.iter().find(|run| run.twin).unwrap();
        twin.case_label()
    };
    let picked: BTreeSet<String> = (0..20).map(picked).collect();
    assert!(picked.len() > 2, "the seed picks: {picked:?}");
    let alone = made(7, &["axum"]);
    assert!(alone.runs.iter().all(|run| !run.twin), "nothing to compare");
}

#[test]
fn two_that_take_turns_have_two_processes_each() {
    let of_two = PlanOptions {
        profile: "turns".to_owned(),
        contenders: vec!["actix-4".to_owned(), "axum".to_owned()],
        benchmarks: vec!["city-get".to_owned()],
        runs: Some(3),
        ..options()
    };
    let plan = made(&of_two);
    let mut suite = suite();
    suite.profiles.get_mut("turns").unwrap().control = false;
    let alone = plan::plan(&suite, &of_two).unwrap();
    assert_eq!((plan.runs.len(), alone.runs.len()), (4 * 3, 2 * 3));
    let measured = |plan: &Plan| -> Duration {
        let steps = plan.runs.iter().flat_map(|run| &run.steps);
        steps
            .filter(|step| !step.warm_up)
            .map(|step| step.duration)
            .sum()
    };
    assert_eq!(measured(&plan), measured(&alone), "they share its time");
    let twins = plan.runs.iter().filter(|run| run.twin);
    assert_eq!(twins.clone().count(), 2 * 3);
    assert!(
        twins
            .clone()
            .all(|run| run.in_turns && run.latency.is_some())
    );
    assert!(all_have_twins(plan.runs.iter()));
    assert!(!all_have_twins(alone.runs.iter()));
    assert!(!all_have_twins(set_of_eight(2).runs.iter()), "one has");
    // Without memory for four, two are as they are without twins.
    let few = plan.in_groups(3).unwrap();
    assert_eq!(few.in_groups(2).as_ref(), Some(&few));
    assert_eq!((few.runs.len(), few.groups()), (2 * 3, None));
    assert_eq!(measured(&few), measured(&alone));
    assert_eq!(plan.in_groups(1), None);
    // Whole runs have one twin of one of them, which is measured as long as they are.
    let whole = made(&PlanOptions {
        no_turns: Some("they cannot".to_owned()),
        ..of_two
    });
    assert_eq!(whole.runs.iter().filter(|run| run.twin).count(), 3);
    assert_eq!(whole.runs[0].steps, alone.runs[0].steps);
}

#[test]
fn a_warm_up_until_steady_makes_a_plan_a_span() {
    let mut suite = suite();
    let fixed = plan::plan(&suite, &options()).unwrap();
    assert_eq!(fixed.shortest(), fixed.expected());
    let profile_steps = &mut suite.profiles.get_mut("seed").unwrap().steps;
    profile_steps[0].duration = Duration::from_secs(120);
    profile_steps[0].at_least = Some(Duration::from_secs(10));
    let plan = plan::plan(&suite, &options()).unwrap();
    let runs = u32::try_from(plan.runs.len()).unwrap();
    assert_eq!(
        plan.expected() - fixed.expected(),
        Duration::from_secs(110) * runs
    );
    assert_eq!(plan.shortest(), fixed.shortest());
}
