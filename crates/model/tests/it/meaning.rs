//! The meaning of valid files: variants, named expectations, steps, defaults, the digest.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::delay::Delay;
use bakeoff_model::text::diagnostic::SourceFile;
use proptest::prelude::{ProptestConfig, prop_assert, proptest};
use serde_json::json;

const SUITE: &str = r#"
[suite]
name = "small"
port = 8080

[profile.steps]
runs = 2
replaces-steps = true
[[profile.steps.step]]
connections = 4
duration = "2s"
warm-up = true
[[profile.steps.step]]
connections = 8
duration = "500ms"
pace = "ramp"
rate = 100
rate-end = 2_000.5

[profile.bare]
runs = 1
jvm-options = []

[[benchmark]]
name = "post"
ladder = { warm-up = [1], connections = [2, 4], step = "1s" }
[[benchmark.request]]
method = "POST"
path = "/"
headers = { B = "2", a = "1" }
body = "ab"
body-repeat = 3
"#;

const CHECKS: &str = r#"
[expect.base]
status = [400]
headers = { "Content-Type" = "text/html", "X-A" = "1" }
has = ["$.a"]
values = { "$.a" = 1, "$.b" = 2 }
contains = "base"
body-bytes = 7

[[check]]
group = "g"
name = "own fields add"
path = "/"
[check.expect]
like = "base"
headers = { "content-type" = "application/json" }
has = ["$.c"]
values = { "$.b" = "own" }
status = [404]
contains = "own"
"#;

const CONTENDER: &str = r#"
[contender]
name = "rocket-10"
describe = "bare"
language = "rust"
note = "a caveat"
baseline = "rocket-10"
needs = ["rust"]
build = ["make"]
artifact = "out"
run = ["{artifact}"]

[env]
A = "1"
B = "1"

[matrix]
WORKERS = ["8"]

[variant.zoom]
note = "another caveat"
build = ["make", "zoom"]
env = { B = "2" }
build-env = { FLAGS = "-O" }
image = { base = "scratch", name = "zoom:1" }
url = "http://zoom:81"
workdir = "elsewhere"
matrix = {}

[variant.all]
describe = "with everything"
log-lines-min = 2
matrix = { KEEP_ALIVE = ["0", "5"] }
"#;

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

fn sources() -> SuiteSources {
    let other = CONTENDER
        .replace(
            "name = \"rocket-10\"",
            "name = \"rocket-9\"\nonly-variants = true",
        )
        .replace(
            "[variant.zoom]",
            "[variant.zoom]\nbaseline = \"rocket-9/all\"",
        );
    SuiteSources {
        suite: file("suites/small/suite.toml", SUITE),
        checks: vec![file("suites/small/checks/a.toml", CHECKS)],
        contenders: vec![
            ("rocket-10".to_owned(), file("10/contender.toml", CONTENDER)),
            ("rocket-9".to_owned(), file("9/contender.toml", &other)),
        ],
        published: None,
    }
}

fn suite() -> Suite {
    parse::suite(&sources()).unwrap()
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = entries
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    owned.collect()
}

#[test]
fn variants_replace_by_key() {
    let contenders = suite().contenders;
    let names: Vec<&str> = contenders.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "rocket-9/all",
            "rocket-9/zoom",
            "rocket-10",
            "rocket-10/all",
            "rocket-10/zoom"
        ]
    );
    let (bare, all, zoom) = (&contenders[2], &contenders[3], &contenders[4]);
    assert_eq!(
        (bare.variant.as_deref(), zoom.variant.as_deref()),
        (None, Some("zoom"))
    );
    assert_eq!(
        (zoom.folder.as_str(), zoom.describe.as_str()),
        ("rocket-10", "bare")
    );
    assert_eq!(zoom.build, ["make", "zoom"]);
    assert_eq!(zoom.run, bare.run);
    assert_eq!(
        (bare.image.as_deref(), zoom.image.as_deref()),
        (None, Some("zoom:1"))
    );
    assert_eq!(zoom.workdir.as_deref(), Some("elsewhere"));
    let url = zoom.url.as_ref().map(ToString::to_string);
    assert_eq!(url.as_deref(), Some("http://zoom:81"));
    assert_eq!(zoom.env, map(&[("A", "1"), ("B", "2")]));
    assert_eq!(zoom.build_env, map(&[("FLAGS", "-O")]));
    assert_eq!(
        (bare.image_base.as_str(), zoom.image_base.as_str()),
        ("debian", "scratch")
    );
    assert_eq!(all.note.as_deref(), Some("a caveat"));
    assert_eq!(zoom.note.as_deref(), Some("another caveat"));
    assert_eq!(bare.matrix["WORKERS"], ["8"]);
    assert_eq!(all.matrix.keys().collect::<Vec<_>>(), ["KEEP_ALIVE"]);
    assert!(zoom.matrix.is_empty());
}

#[test]
fn a_folder_has_one_baseline_unless_a_variant_has_its_own() {
    let contenders = suite().contenders;
    let baselines = contenders.iter();
    let baselines: Vec<_> = baselines.map(|one| one.baseline.as_deref()).collect();
    let bare = Some("rocket-10");
    // The third is that one itself.
    assert_eq!(baselines, [bare, Some("rocket-9/all"), None, bare, bare]);
    let lines: Vec<_> = contenders.iter().map(|one| one.log_lines_min).collect();
    assert_eq!(lines, [Some(2.0), None, None, Some(2.0), None]);
}

#[test]
fn a_check_adds_to_a_named_expectation() {
    let expect = &suite().checks[0].expect;
    assert_eq!(expect.status, [404]);
    assert_eq!(
        expect.headers,
        map(&[("content-type", "application/json"), ("x-a", "1")])
    );
    assert_eq!(expect.has, ["$.a", "$.c"]);
    assert_eq!(expect.values["$.a"], json!(1));
    assert_eq!(expect.values["$.b"], json!("own"));
    assert_eq!(expect.contains.as_deref(), Some("own"));
    assert_eq!(expect.body_bytes, Some(7));
}

#[test]
fn steps_come_from_the_profile_or_the_benchmark() {
    let suite = suite();
    let steps = &suite.profiles["steps"].steps;
    assert_eq!((steps[0].connections, steps[0].warm_up), (4, true));
    assert_eq!(steps[1].duration, Duration::from_millis(500));
    let ramp = Pace::Ramp {
        from_per_s: 100.0,
        to_per_s: 2000.5,
    };
    assert_eq!(steps[1].pace, ramp);
    assert!(suite.profiles["bare"].steps.is_empty());
    let ladder = &suite.benchmarks[0].steps;
    let rungs: Vec<(u32, bool)> = ladder.iter().map(|s| (s.connections, s.warm_up)).collect();
    assert_eq!(rungs, [(1, true), (2, false), (4, false)]);
}

#[test]
fn the_replay_backend_has_the_delay_of_its_settings() {
    let backend = |settings: &str| {
        let text = format!("[[backend]]\nname = \"replay\"\n{settings}\n[profile.steps]");
        let mut sources = sources();
        sources.suite.text = SUITE.replacen("[profile.steps]", &text, 1);
        let suite = parse::suite(&sources).unwrap();
        suite.backend_settings(BackendName::Replay).delay
    };
    assert_eq!(backend(""), Delay::None);
    let mean = Duration::from_millis(2);
    assert_eq!(
        backend("settings = { delay = \"exponential:2ms\" }"),
        Delay::Exponential { mean }
    );
}

#[test]
fn what_is_left_out_has_its_default() {
    let suite = suite();
    assert_eq!(
        (suite.ready_path.as_str(), suite.default_backend),
        ("/", BackendName::None)
    );
    assert!(suite.logs_requests);
    let mut sources = sources();
    sources.suite.text = SUITE.replace("port = 8080", "port = 8080\nlogs-requests = false");
    assert!(!parse::suite(&sources).unwrap().logs_requests);
    assert_eq!(suite.metrics, None);
    let metrics = "\n[metrics]\nscrape = \"/own\"\nkeep = [\"gc_*\", \"up\"]\n";
    sources.suite.text = SUITE.to_owned() + metrics;
    let metrics = parse::suite(&sources).unwrap().metrics.unwrap();
    assert_eq!(metrics.path, "/own");
    let names = ["gc_count", "up", "upper", "other"];
    assert_eq!(
        names.map(|name| metrics.keeps(name)),
        [true, true, false, false]
    );
    let profile = &suite.profiles["steps"];
    assert_eq!(profile.slice, Duration::from_secs(1));
    assert_eq!(profile.jvm_options, ["-XX:MaxRAMPercentage=75"]);
    assert!(suite.profiles["bare"].jvm_options.is_empty());
    assert_eq!(
        (profile.limits.cpus, profile.limits.memory_bytes),
        (None, None)
    );
    assert_eq!(suite.benchmarks[0].requests[0].body, "ababab".into());
}

#[test]
fn the_digest_is_that_of_suite_and_checks() {
    let digest = suite().digest;
    assert_eq!(digest.len(), 64);
    let digest_after = |change: &dyn Fn(&mut SuiteSources)| {
        let mut sources = sources();
        change(&mut sources);
        parse::suite(&sources).unwrap().digest
    };
    // Neither the place of the suite nor its contenders matter, every byte of the rest does.
    assert_eq!(
        digest,
        digest_after(&|s| s.suite.path = "elsewhere/suite.toml".to_owned())
    );
    assert_eq!(digest, digest_after(&|s| s.contenders.clear()));
    assert_ne!(digest, digest_after(&|s| s.suite.text.push('\n')));
    assert_ne!(digest, digest_after(&|s| s.checks[0].text.push('\n')));
    assert_ne!(
        digest,
        digest_after(&|s| s.checks[0].path = "checks/b.toml".to_owned())
    );
    let both = |names: [&str; 2]| {
        let files = names.map(|name| file(name, if name == "a.toml" { CHECKS } else { "" }));
        digest_after(&|s| s.checks = files.to_vec())
    };
    assert_eq!(both(["a.toml", "b.toml"]), both(["b.toml", "a.toml"]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged files are complained about at places that exist, and never stop the reader.
    #[test]
    fn damage_is_told_with_its_place(
        at in 0_usize..1000,
        length in 0_usize..9,
        put in "\\PC{0,4}",
    ) {
        let damage = |source: &mut SourceFile| {
            let at = at % source.text.len();
            let end = (at + length).min(source.text.len());
            source.text.replace_range(at..end, &put);
        };
        let mut sources = sources();
        damage(&mut sources.suite);
        damage(&mut sources.checks[0]);
        damage(&mut sources.contenders[0].1);
        let diagnostics = parse::suite(&sources).err().unwrap_or_default();
        for diagnostic in diagnostics {
            let files = [&sources.suite, &sources.checks[0], &sources.contenders[0].1];
            let file = files.into_iter().find(|file| file.path == diagnostic.path);
            if let (Some(file), Some(span)) = (file, diagnostic.span.clone()) {
                prop_assert!(file.text.get(span).is_some(), "{diagnostic}");
            }
            prop_assert!(diagnostic.line > 0, "{diagnostic}");
        }
    }
}
