//! Metrics that services count themselves: read around measured steps, and reported.

use serde_json::Value;

use crate::world::{Ran, World, program};

/// The records of each run of a contender.
fn runs(world: &World, contender: &str) -> Vec<Vec<Value>> {
    let files = std::fs::read_dir(world.out().join("records")).unwrap();
    let runs = files.map(|file| {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    });
    let is_its = |run: &Vec<Value>| run[0]["run"]["contender"] == contender;
    runs.filter(is_its).collect()
}

fn of_kind<'r>(run: &'r [Value], kind: &str) -> Vec<&'r Value> {
    let is_kind = |record: &&Value| record["record"] == kind;
    run.iter().filter(is_kind).collect()
}

/// Asserts that a run has the series of this number of steps, and that the service has counted what
/// the load generator did in each.
#[track_caller]
fn check_counted(run: &[Value], steps: usize) {
    let told = of_kind(run, "metrics");
    assert_eq!(told.len(), steps, "{told:?}");
    for one in told {
        let series = one["series"].as_array().unwrap();
        let found = |name: &str| {
            let mut all = series.iter();
            all.find(|one| one["name"] == name)
                .unwrap_or_else(|| panic!("{name}: {one}"))
        };
        let answer = found("answer");
        assert_eq!(
            (&answer["kind"], answer["after"].as_f64()),
            (&"gauge".into(), Some(42.0))
        );
        let items = found("items_total{path=\"/item\"}");
        let value = |key: &str| items[key].as_f64().unwrap();
        let slices = of_kind(run, "interval")
            .into_iter()
            .map(|slice| &slice["load"]);
        let of_step = slices.filter(|load| load["step"] == one["step"]);
        let ended: f64 = of_step.map(|load| load["requests"].as_f64().unwrap()).sum();
        // In turns what is in flight is awaited. On a busy host a request may time out.
        let growth = value("after") - value("before");
        assert!(
            ended > 0.0 && (growth - ended).abs() <= 8.0,
            "{ended} ended: {one}"
        );
    }
}

#[test]
fn a_service_that_counts_its_requests_has_counted_those_of_the_step() {
    let world = World::new(&["counts", "good"]);
    let suite = world.read("suite/suite.toml");
    let suite = suite + "\n[metrics]\nscrape = \"/metrics\"\nkeep = [\"items_*\", \"answer\"]\n";
    world.write("suite.toml", &suite);
    let missing = "its own metrics, GET /metrics: status 404, expected 200";
    let ran = world.run("run SUITE --profile tiny --verbose --out OUT");
    // A warning, not a failed run.
    ran.unwrapped().check(0, &[missing]);
    let counts = runs(&world, "counts");
    check_counted(&counts[0], 2);
    let kept = counts[0]
        .iter()
        .filter_map(|record| record["series"].as_array());
    assert!(
        kept.map(Vec::len).all(|length| length == 2),
        "idle_total is not kept"
    );
    let good = runs(&world, "good");
    let told = of_kind(&good[0], "metrics");
    assert!(
        told.len() == 2 && told.iter().all(|one| one["problem"] == missing),
        "{told:?}"
    );
    let end = of_kind(&good[0], "end")[0];
    assert!(
        end["notes"].as_array().unwrap().contains(&missing.into()),
        "{end}"
    );
    let sentence = format!("good, in 1 of 1 run: {missing}.");
    for file in ["out/results.md", "out/report/index.html"] {
        let text = world.read(file);
        assert!(
            text.contains("Metrics of the services themselves"),
            "{text}"
        );
        assert!(text.contains(&sentence), "{text}");
    }
}

#[test]
fn a_duel_reads_them_too() {
    let world = World::new(&[]);
    let mut command = world.command(&format!("duel --out OUT --port {}", world.port()));
    for name in ["one", "other"] {
        command.arg(format!("{name}=env MODE=counts {}", program().display()));
    }
    let short = "--get /item --scrape /metrics --runs 2 --duration 300ms --warm-up 200ms \
                 --connections 2";
    let ran = Ran::from(command.args(short.split_whitespace()).output().unwrap());
    ran.check(0, &["report: "]);
    let suite = world.read("out/suite/suite.toml");
    assert!(
        suite.contains("[metrics]\nscrape = \"/metrics\""),
        "{suite}"
    );
    for name in ["one", "other"] {
        let runs = runs(&world, name);
        // One of them is measured twice, as a control.
        assert!([2, 4].contains(&runs.len()), "{name}: {} runs", runs.len());
        runs.iter().for_each(|run| check_counted(run, 1));
    }
}
