//! Every mistake of every file at once, each with its place.

use bakeoff_model::parse::{self, SuiteSources};
use bakeoff_model::text::diagnostic::SourceFile;
use insta::assert_snapshot;

const SUITE: &str = r#"
[suite]
name = "small"
port = 8080

[[backend]]
name = "replay"

[profile.quick]
runs = 2
ladder = { connections = [1, 2], step = "1s" }

[[benchmark]]
name = "get"
[[benchmark.request]]
path = "/"
"#;

const CONTENDER: &str = r#"
[contender]
name = "actix-4"
describe = "Actix Web 4"
language = "rust"
artifact = "target/release/service"
run = ["{artifact}"]
"#;

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}

/// All complaints about a suite of these files, one below the other.
fn complaints(suite: &str, checks: &[&str], contenders: &[&str]) -> String {
    all_complaints(suite, checks, contenders, None)
}

fn all_complaints(
    suite: &str,
    checks: &[&str],
    contenders: &[&str],
    published: Option<&str>,
) -> String {
    let checks = checks.iter().enumerate();
    let contenders = contenders.iter();
    let sources = SuiteSources {
        suite: file("suite.toml", suite),
        checks: checks
            .map(|(i, text)| file(&format!("checks/{i}.toml"), text))
            .collect(),
        contenders: contenders
            .map(|text| ("actix-4".to_owned(), file("contender.toml", text)))
            .collect(),
        published: published.map(|text| file("published.toml", text)),
    };
    match parse::suite(&sources) {
        Ok(_) => "no complaints".to_owned(),
        Err(diagnostics) => {
            let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            texts.join("\n")
        }
    }
}

fn suite_complaints(suite: &str) -> String {
    complaints(suite, &[], &[])
}

fn check_complaints(checks: &str) -> String {
    complaints(SUITE, &[checks], &[])
}

fn contender_complaints(contender: &str) -> String {
    complaints(SUITE, &[], &[contender])
}

#[test]
fn the_smallest_suite_has_no_mistakes() {
    assert_eq!(complaints(SUITE, &[], &[CONTENDER]), "no complaints");
    let short = "[contender]\nname = \"actix-4\"\nrun = [\"./server\"]";
    assert_eq!(complaints(SUITE, &[], &[short]), "no complaints");
}

#[test]
fn metrics_have_a_path_and_names_that_metrics_can_have() {
    let with = |table: &str| suite_complaints(&format!("{SUITE}\n[metrics]\n{table}\n"));
    assert_eq!(with("scrape = \"/metrics\""), "no complaints");
    let kept = "scrape = \"/metrics?all=1\"\nkeep = [\"jvm_gc_*\", \"a:b_total\", \"*\"]";
    assert_eq!(with(kept), "no complaints");
    assert_snapshot!(with("path = \"/metrics\""), @r"
    suite.toml:18:1: missing key `scrape` in `metrics`
      hint: the path on the contender's port, asked before and after each measured step
    suite.toml:19:1: unknown key `path` in `metrics`
      hint: known: scrape, keep
    ");
    let bad = "scrape = \"metrics\"\nkeep = [\"a{b=1}\", \"\", \"1st\", \"a-b\", \"ok\"]";
    assert_snapshot!(with(bad), @r#"
    suite.toml:19:10: `metrics.scrape`: "metrics" is not a request path
      hint: begin with `/` and escape spaces and everything beyond ASCII with `%`
    suite.toml:20:9: `metrics.keep[0]`: no metric can be called "a{b=1}"
      hint: names have letters, digits, `_` and `:`, no labels; `*` is any text, `?` a character
    suite.toml:20:19: `metrics.keep[1]`: no metric can be called ""
      hint: names have letters, digits, `_` and `:`, no labels; `*` is any text, `?` a character
    suite.toml:20:23: `metrics.keep[2]`: no metric can be called "1st"
      hint: names have letters, digits, `_` and `:`, no labels; `*` is any text, `?` a character
    suite.toml:20:30: `metrics.keep[3]`: no metric can be called "a-b"
      hint: names have letters, digits, `_` and `:`, no labels; `*` is any text, `?` a character
    "#);
    assert_snapshot!(with("scrape = \"/metrics\"\nkeep = []"), @r"
    suite.toml:20:8: `metrics.keep`: must not be empty
    ");
    let grpc = "port = 8080\n[suite.grpc]\nfiles = [\"shop.proto\"]";
    let grpc = SUITE.replace("port = 8080", grpc) + "\n[metrics]\nscrape = \"/metrics\"\n";
    assert_snapshot!(suite_complaints(&grpc), @r"
    suite.toml:20:1: contenders that speak gRPC have no metrics to read on their port
      hint: leave `[metrics]` out
    ");
}

#[test]
fn steps_of_a_profile_are_those_of_a_benchmark() {
    let own = "name = \"get\"\nladder = { connections = [4], step = \"1s\" }";
    let own = SUITE.replace("name = \"get\"", own);
    assert_snapshot!(suite_complaints(&own), @r"
    suite.toml:9:1: `profile.quick` has steps that no benchmark uses
      hint: `replaces-steps = true` plays them in place of the benchmarks' own
    ");
    let replacing = own.replace("runs = 2", "runs = 2\nreplaces-steps = true");
    assert_eq!(suite_complaints(&replacing), "no complaints");
    let ladder = "ladder = { connections = [1, 2], step = \"1s\" }";
    let without = own.replace(ladder, "");
    assert_eq!(suite_complaints(&without), "no complaints");
    let another = "\n[[benchmark]]\nname = \"put\"\nrequest = [{ path = \"/\" }]\n";
    assert_eq!(suite_complaints(&(own.clone() + another)), "no complaints");
    let starts = SUITE.split("[[benchmark.request]]").next().unwrap();
    let starts = starts.replace("name = \"get\"", "name = \"get\"\nkind = \"startup\"");
    let replacing = starts.replace("runs = 2", "runs = 2\nreplaces-steps = true");
    for only_starts in [starts, replacing] {
        let complaints = suite_complaints(&only_starts);
        assert!(complaints.contains("no benchmark uses"), "{complaints}");
    }
}

#[test]
fn wrong_types_in_three_places() {
    let suite = SUITE
        .replace("port = 8080", "port = \"8080\"")
        .replace("runs = 2", "runs = 2.5")
        .replace(
            "path = \"/\"",
            "path = [\"/\"]\nexpect = { values = { \"$.day\" = 2026-11-21 } }",
        );
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:4:8: `suite.port`: expected a whole number, found the string "8080"
      hint: write it without quotes: 8080
    suite.toml:10:8: `profile.quick.runs`: expected a whole number or a table, found the number 2.5
    suite.toml:16:8: `benchmark[0].request[0].path`: expected a string, found a list
    suite.toml:17:33: `benchmark[0].request[0].expect.values."$.day"`: a date is not possible here
    "#);
}

#[test]
fn values_out_of_range() {
    let suite = SUITE
        .replace("port = 8080", "port = 80800")
        .replace(
            "runs = 2",
            "runs = 5000000000\nlimits = { cpus = 0, memory = \"0MiB\" }",
        )
        .replace("[1, 2], step = \"1s\"", "[1, 0], step = \"1 s\"")
        .replace("name = \"get\"", "name = \"get it\"");
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:4:8: `suite.port`: must be at most 65535, found 80800
    suite.toml:10:8: `profile.quick.runs`: must be at most 4294967295, found 5000000000
    suite.toml:11:19: `profile.quick.limits.cpus`: must be more than 0, found 0
    suite.toml:11:31: `profile.quick.limits.memory`: the size "0MiB" is zero
      hint: write a whole number and a unit out of B, KiB, MiB, GiB: "512MiB"
    suite.toml:12:30: `profile.quick.ladder.connections[1]`: must be at least 1, found 0
    suite.toml:12:41: `profile.quick.ladder.step`: "1 s" is a duration with the unknown unit " s"
      hint: write a number and a unit out of ns, us, ms, s, m, h: "250ms", "1.5s"
    suite.toml:15:8: `benchmark[0].name`: "get it" is not a name
      hint: use letters, digits, `-`, `_` and `.`, the first a letter or digit
    "#);
}

#[test]
fn quotas_are_said_once() {
    let suite = SUITE.replace(
        "runs = 2",
        "runs = 2\ncpus = [0.5, 0, 0.5]\nlimits = { cpus = 1 }",
    );
    assert_snapshot!(suite_complaints(&suite), @r"
    suite.toml:11:8: `profile.quick` has both `cpus` and `limits.cpus`
      hint: keep the one that is meant
    suite.toml:11:14: `profile.quick.cpus[1]`: must be more than 0, found 0
    suite.toml:11:17: `profile.quick.cpus` has 0.5 twice
    ");
}

#[test]
fn unknown_keys_and_values() {
    let suite = SUITE
        .replace("port =", "prot = 1\nport =")
        .replace("name = \"replay\"", "name = \"mysql\"\nflavour = \"hot\"")
        .replace("runs = 2", "runs = 2\nlimit = { cpus = 1 }")
        .replace("[[benchmark]]", "[[benchmarks]]\n[[benchmark]]");
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:4:1: unknown key `prot` in `suite`
      hint: did you mean `port`?
    suite.toml:8:8: `backend[0].name`: unknown value "mysql"
      hint: known: elasticsearch, postgres, replay
    suite.toml:9:1: unknown key `flavour` in `backend[0]`
      hint: known: name, data, settings, rows
    suite.toml:13:1: unknown key `limit` in `profile.quick`
      hint: did you mean `limits`?
    suite.toml:16:3: unknown key `benchmarks`
      hint: did you mean `benchmark`?
    "#);
}

#[test]
fn a_dependency_is_a_program_or_a_container_with_a_port() {
    let with = |tables: &str| suite_complaints(&format!("{SUITE}{tables}"));
    let known = r#"
[[dependency]]
name = "cache"
image = "redis:7"
port = 6379
[[dependency]]
name = "users"
command = ["users", "{port}"]
env = { CACHE = "{dependency.cache.host}" }
"#;
    assert_eq!(with(known), "no complaints");
    assert_snapshot!(with("[[dependency]]\nname = \"a\"\n"), @r"
    suite.toml:17:1: dependency `a` has neither an image nor a command
      hint: name an `image`, or a program and its arguments in `command`
    ");
    let program = "[[dependency]]\nname = \"a\"\ncommand = [\"a\"]\n";
    assert_snapshot!(with(&format!("{program}volumes = [\"a:/a\"]\n")), @r"
    suite.toml:20:11: dependency `a` is a program, which has no `volumes`
      hint: a program sees the files of this host as they are
    ");
    let later = format!("{program}env = {{ B = \"{{dependency.b.port}}\" }}\n");
    assert_snapshot!(with(&later), @r"
    suite.toml:20:13: unknown dependency `b`
      hint: there are none
    ");
    let env = "[env]\nX = \"{dependency.cash.host}\"\n[[benchmark]]";
    let env = SUITE.replacen("[[benchmark]]", env, 1);
    assert_snapshot!(suite_complaints(&format!("{env}{known}")), @r"
    suite.toml:14:5: unknown dependency `cash`
      hint: did you mean `cache`? known: cache, users
    ");
}

#[test]
fn only_the_replay_backend_has_a_delay() {
    let with = |name: &str, settings: &str| {
        let backend = format!("name = \"{name}\"\nsettings = {{ {settings} }}");
        suite_complaints(&SUITE.replace("name = \"replay\"", &backend))
    };
    assert_eq!(with("replay", "delay = \"constant:1ms\""), "no complaints");
    assert_eq!(
        with("replay", "delay = \"slow\""),
        "suite.toml:8:22: `backend[0].settings.delay`: \"slow\" is not a delay: none, recorded, \
         constant:TIME, exponential:MEAN or log-normal:MEDIAN,SIGMA"
    );
    assert_snapshot!(with("elasticsearch", "delay = \"constant:1ms\""), @r"
    suite.toml:8:22: `backend[0].settings.delay`: elasticsearch does not support an artificial delay
      hint: only `replay` has a delay
    ");
    assert_snapshot!(with("elasticsearch", "gzip = true, queue = 5"), @r"
    suite.toml:8:21: `backend[0].settings.gzip`: elasticsearch compresses as it does
      hint: only `replay` has a gzip
    suite.toml:8:35: `backend[0].settings.queue`: elasticsearch has the queue that it has
      hint: only `replay` has a queue
    ");
    assert_snapshot!(with("replay", "speed = \"fast\""), @r"
    suite.toml:8:14: unknown key `speed` in `backend[0].settings`
      hint: known: delay, gzip, queue
    ");
}

#[test]
fn rows_are_of_known_requests_in_databases() {
    let with = |backend: &str, request: &str| {
        let rows = format!("{{ request = \"{request}\", query = \"SELECT 1\" }}");
        let backend = format!("name = \"{backend}\"\nrows = [{rows}]");
        suite_complaints(&SUITE.replace("name = \"replay\"", &backend))
    };
    assert_eq!(with("postgres", "GET /"), "no complaints");
    assert_snapshot!(with("postgres", "POST /"), @r"
    suite.toml:8:21: unknown request `POST /`
      hint: known: GET /
    ");
    assert_snapshot!(with("replay", "GET /"), @r"
    suite.toml:8:8: `backend[0].rows`: replay has no databases of contenders
      hint: only `postgres` has `rows`
    ");
}

#[test]
fn probes_are_of_known_requests_and_are_told_how_often() {
    let with = |probe: &str, command: &str, request: &str| {
        let probed = format!("[[benchmark.probe]]\nname = \"hash\"\nrequest = \"{request}\"\n");
        let probe =
            format!("[[probe]]\nname = \"{probe}\"\ncommand = [{command}]\noperations = 9\n");
        let contender = CONTENDER.to_owned() + &probe;
        complaints(&(SUITE.to_owned() + &probed), &[], &[&contender])
    };
    let command = "\"{artifact}\", \"{operations}\"";
    assert_eq!(with("hash", command, "GET /"), "no complaints");
    assert_snapshot!(with("hasch", command, "POST /"), @r"
    suite.toml:18:8: no contender has the probe `hash`
      hint: did you mean `hasch`? known: hasch
    suite.toml:19:11: unknown request `POST /`
      hint: known: GET /
    ");
    assert_snapshot!(with("hash", "\"{java}\", \"{operation}\"", "GET /"), @r"
    contender.toml:10:11: `probe[0].command`: uses `{java}`, but no `jdk` is wanted
      hint: say which one: jdk = 17
    contender.toml:10:11: `probe[0].command`: no argument says how often to do the work
      hint: `{operations}` stands for the number in `operations`
    contender.toml:10:22: `probe[0].command[1]`: unknown placeholder `{operation}`
      hint: did you mean `{operations}`?
    ");
    assert_snapshot!(suite_complaints(&SUITE.replace(
        "[[benchmark.request]]\npath = \"/\"",
        "kind = \"startup\"\nprobe = [{ name = \"hash\", request = \"GET /\" }]",
    )), @r"
    suite.toml:9:1: `profile.quick` has steps that no benchmark uses
      hint: `replaces-steps = true` plays them in place of the benchmarks' own
    suite.toml:16:9: `benchmark[0]`: kind `startup` has no `probe`
      hint: a contender is started, asked `ready-path`, and stopped
    suite.toml:16:19: no contender has the probe `hash`
      hint: there are none
    ");
}

#[test]
fn only_steps_replace_steps() {
    let own = "path = \"/\"\n[[benchmark.step]]\nconnections = 1\nduration = \"1s\"\n";
    let suite = SUITE.replace("path = \"/\"\n", own).replace(
        "ladder = { connections = [1, 2], step = \"1s\" }",
        "replaces-steps = true",
    );
    assert_snapshot!(suite_complaints(&suite), @r"
    suite.toml:11:18: `profile.quick` has no steps that could replace others
      hint: give it `ladder` or `[[step]]` tables
    ");
    let ladder = "replaces-steps = true\nladder = { connections = [1], step = \"1s\" }";
    let suite = suite.replace("replaces-steps = true", ladder);
    assert_eq!(suite_complaints(&suite), "no complaints");
}

#[test]
fn missing_keys() {
    let suite = SUITE
        .replace("name = \"small\"", "")
        .replace("runs = 2", "")
        .replace("path = \"/\"", "");
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:2:1: missing key `name` in `suite`
      hint: the name of the suite's folder
    suite.toml:9:1: missing key `runs` in `profile.quick`
      hint: repetitions: a number, or a table that says which difference they must find
    suite.toml:15:1: missing key `path` in `benchmark[0].request[0]`
      hint: path and query
    "#);
    assert_snapshot!(suite_complaints(""), @r#"
    suite.toml:1:1: missing table `[suite]`
      hint: the name of the suite, and what all its contenders share
    suite.toml:1:1: missing table `[profile.NAME]`
      hint: how much is measured and under which limits, by name
    suite.toml:1:1: missing table `[[benchmark]]`
      hint: the workloads
    "#);
}

#[test]
fn syntax_errors_keep_the_rest_readable() {
    let suite = SUITE
        .replace("port = 8080", "port = ")
        .replace("runs = 2", "runs = \"no\"")
        .replace("name = \"get\"", "name = \"get");
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:4:8: not TOML: string values must be quoted, expected literal string
    suite.toml:10:8: `profile.quick.runs`: expected a whole number or a table, found the string "no"
    suite.toml:14:12: not TOML: invalid basic string, expected `"`
    "#);
}

#[test]
fn mistakes_of_all_files_come_together() {
    let suite = SUITE.replace("runs = 2", "runz = 2");
    let check = "[[check]]\ngroup = \"get\"\nname = \"x\"\nexpect = {}";
    let contender = CONTENDER.replace("describe", "description");
    assert_snapshot!(complaints(&suite, &["[[", check], &[&contender]), @r#"
    suite.toml:10:1: unknown key `runz` in `profile.quick`
      hint: did you mean `runs`?
    checks/0.toml:1:3: not TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    checks/1.toml:1:1: missing key `path` in `check[0]`
      hint: path and query
    contender.toml:4:1: unknown key `description` in `contender`
      hint: did you mean `describe`?
    "#);
}

#[test]
fn names_that_must_exist_or_be_unique() {
    let suite = SUITE.replace("port", "default-backend = \"reply\"\nport")
        + r#"
[[benchmark]]
name = "get"
request = [{ path = "/2" }]

[[round]]
name = "main"
contenders = ["actix*", "rocket"]
benchmarks = ["gte"]
winners-of = ["options"]

[[round]]
name = "option"
contenders = ["*"]
winner = "p99"

[[round]]
name = "option"
"#;
    assert_snapshot!(complaints(&suite, &[], &[CONTENDER]), @r#"
    suite.toml:4:19: unknown backend `reply`
      hint: did you mean `replay`? known: replay
    suite.toml:20:8: the benchmark `get` exists twice
    suite.toml:25:25: no contender is called `rocket`
      hint: known: actix-4
    suite.toml:26:15: no benchmark is called `gte`
      hint: did you mean `get`? known: get
    suite.toml:27:15: `options` is not a round with a winner
      hint: did you mean `option`? known: option
    suite.toml:34:1: the round `option` has no contenders
      hint: give it `contenders` or `winners-of`
    suite.toml:35:8: the round `option` exists twice
    "#);
}

#[test]
fn what_was_published_is_checked_as_well() {
    let published = r#"
[[source]]
name = "article"
title = "A title"
author = "An Author"
date = "2020"

[[result]]
source = "artikle"
benchmark = "got"
name = "Actix"
contender = "actix-4"
connections = [1, 2]
throughput = [1.0]
p99-ms = { many = 1.0 }

[[claim]]
text = "Nothing has to hold"
source = "article"
benchmark = "get"
metric = "p99"

[[claim]]
text = "No bounds"
source = "article"
benchmark = "get"
metric = "peak-throughput"
first = "a"
second = "b"

[[claim]]
text = "An event is no ratio"
source = "article"
benchmark = "get"
metric = "killed-for-memory"
at = 8
first = "a"
second = "b"
min = 2
"#;
    let found = all_complaints(SUITE, &[], &[CONTENDER], Some(published));
    assert_snapshot!(found, @r#"
    published.toml:9:10: no source is called `artikle`
      hint: did you mean `article`? known: article
    published.toml:10:13: no benchmark is called `got`
      hint: did you mean `get`? known: get
    published.toml:14:14: `result[0]`: 1 values for 2 steps
      hint: one for each of `warm-up` and `connections`
    published.toml:15:19: "many" is not a number of connections
    published.toml:17:1: `claim[0]` does not say what has to hold
      hint: one of: `first` and `second`; `contender`; `best` and `among`; `order`; `contenders`
    published.toml:21:10: `claim[0]`: this metric needs `at`, the connections
    published.toml:23:1: `claim[1]` does not say in exactly one way how large it has to be
      hint: one of: `min`, `max` or both; `about`; `equal`
    published.toml:35:10: `claim[2]`: this metric does not go with that form
      hint: `contenders` goes with what happens, the others with values
    "#);
}

#[test]
fn claims_name_one_contender_and_one_size() {
    let published = r#"
[[source]]
name = "article"
title = "A title"
author = "An Author"
date = "2020"
limits = {}
conditions = "Elsewhere."

[[claim]]
text = "The best of several, and two sizes"
source = "article"
benchmark = "get"
metric = "peak-throughput"
first = "a*"
second = "b"
min = 2
about = 3

[[claim]]
text = "Equal to nothing"
source = "article"
benchmark = "get"
metric = "peak-throughput"
contender = "a"
equal = true

[[claim]]
text = "An order has no size"
source = "article"
benchmark = "get"
metric = "peak-throughput"
order = ["a", "b"]
about = 2
"#;
    let found = all_complaints(SUITE, &[], &[CONTENDER], Some(published));
    assert_snapshot!(found, @r#"
    published.toml:10:1: `claim[0]` does not say in exactly one way how large it has to be
      hint: one of: `min`, `max` or both; `about`; `equal`
    published.toml:15:9: "a*" does not name one contender
      hint: a claim is about certain contenders: write the case's whole label
    published.toml:20:1: `claim[1]` says `equal` of one contender
      hint: `equal` goes with `first` and `second`
    published.toml:28:1: `claim[2]` says how large something has to be, but not what
      hint: `min`, `max`, `about` and `equal` go with a ratio or a contender's value
    "#);
}

#[test]
fn what_goes_with_a_ratio_needs_one() {
    let published = r#"
[[source]]
name = "article"
title = "A title"
author = "An Author"
date = "2020"

[[claim]]
text = "One alone loses more"
source = "article"
benchmark = "get"
metric = "throughput"
at = 64
second-at = 8
contender = "a"
than = ["b", "c*"]
min = 2

[[claim]]
text = "A time of how many users"
source = "article"
benchmark = "get"
metric = "service-time"
first = "a"
second = "b"
min = 2
"#;
    let found = all_complaints(SUITE, &[], &[CONTENDER], Some(published));
    assert_snapshot!(found, @r#"
    published.toml:14:13: `claim[0]` has `second-at`, but no ratio
      hint: `second-at` goes with `first` and `second`
    published.toml:16:8: "c*" does not name one contender
      hint: a claim is about certain contenders: write the case's whole label
    published.toml:16:8: `claim[0]` has `than`, but no ratio
      hint: `than` goes with `first` and `second`
    published.toml:23:10: `claim[1]`: this metric needs `at`, the connections
    "#);
}

#[test]
fn claims_name_a_round_of_the_suite_and_what_is_absent_is_claimed() {
    let published = r#"
[[source]]
name = "article"
title = "A title"
author = "An Author"
date = "2020"

[[claim]]
text = "A misspelt round"
source = "article"
benchmark = "get"
metric = "peak-throughput"
order = ["a", "b"]
round = "alll"

[[absent]]
labels = "c/"
why = "it is not published"
ours = "b/"
stand-in = "ours"
"#;
    let suite = SUITE.to_owned() + "\n[[round]]\nname = \"every\"\ncontenders = [\"*\"]\n";
    let found = all_complaints(&suite, &[], &[CONTENDER], Some(published));
    assert_snapshot!(found, @r#"
    published.toml:14:9: no round is called `alll`
      hint: known: every
    published.toml:17:10: no claim names a contender `c/...`
    "#);
}

#[test]
fn rounds_say_what_they_decide() {
    let suite = SUITE.to_owned()
        + r#"
[[benchmark]]
name = "start"
kind = "startup"

[[round]]
name = "all"
contenders = ["actix-4"]
at = 64

[[round]]
name = "main"
winners-of = ["later"]

[[round]]
name = "later"
contenders = ["actix-4"]
parameters = { WORKERS = ["9"], WORKER = ["8"] }
winner = "throughput"

[[round]]
name = "starts"
contenders = ["actix-4"]
benchmarks = ["start"]
winner = "peak-throughput"
at = 8
"#;
    let contender = CONTENDER.to_owned() + "[matrix]\nWORKERS = [\"8\"]\n";
    assert_snapshot!(complaints(&suite, &[], &[&contender]), @r#"
    suite.toml:22:1: `round[0]`: `at` without `winner`
      hint: give it the rule that picks
    suite.toml:23:8: a round cannot be called `all`
      hint: `--round all` stands for every round
    suite.toml:29:15: the round `later` does not come before this one
      hint: move it up: rounds are run in the order of the file
    suite.toml:34:27: no contender of the round has WORKERS = "9"
      hint: known: 8
    suite.toml:34:42: no contender of the round has a parameter `WORKER`
      hint: did you mean `WORKERS`? known: WORKERS
    suite.toml:35:10: `round[2]`: `throughput` needs `at`, the connections
      hint: or use `winner = "peak-throughput"`
    suite.toml:40:14: `round[3].benchmarks`: none has a load that could be won
      hint: rules read throughput, CPU per request or p99
    suite.toml:41:10: `round[3]`: the peak is wherever it is, so it has no `at`
      hint: use `winner = "throughput"` for a number of connections
    "#);
}

#[test]
fn a_benchmark_has_the_keys_of_its_kind() {
    let suite = SUITE.to_owned()
        + r#"
[[benchmark]]
name = "load"
starts = 3

[[benchmark]]
name = "start"
kind = "startup"
ladder = { connections = [1], step = "1s" }
request = [{ path = "/" }]

[[benchmark]]
name = "fewer"
kind = "startup"
starts = 0

[[benchmark]]
name = "other"
kind = "start"
"#;
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:18:1: missing table `[[benchmark.request]]` in `benchmark[1]`
      hint: the requests; each connection goes through them in turn
    suite.toml:20:10: `benchmark[1]`: `starts` is for `kind = "startup"`
      hint: how often a load is repeated is the profile's `runs`
    suite.toml:25:10: `benchmark[2]`: kind `startup` has no `ladder`
      hint: a contender is started, asked `ready-path`, and stopped
    suite.toml:26:11: `benchmark[2]`: kind `startup` has no `request`
      hint: a contender is started, asked `ready-path`, and stopped
    suite.toml:31:10: `benchmark[3].starts`: must be at least 1, found 0
    suite.toml:35:8: `benchmark[4].kind`: unknown value "start"
      hint: did you mean `startup`? known: load, startup, capacity
    "#);
}

#[test]
fn steps_must_be_said_once() {
    let suite = SUITE.replace("ladder =", "#")
        + r#"
[profile.twice]
runs = 1
ladder = { connections = [], step = "1s" }
step = [{ connections = 1, duration = "1s", pace = "fast" }]

[profile.paces]
runs = 1
[[profile.paces.step]]
connections = 1
duration = "1s"
rate = 5
[[profile.paces.step]]
connections = 1
duration = "1s"
pace = "constant"
[[profile.paces.step]]
connections = 1
duration = "1s"
pace = "ramp"
rate = 5

[[round]]
name = "r"
contenders = ["*"]
winner = "fastest"

[profile.warm]
runs = 1
step = [{ connections = 1, duration = "1s", warm-up = true }]
"#;
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:9:1: `profile.quick` has no steps, and the benchmark `get` has none either
      hint: give the profile `ladder` or `[[step]]` tables
    suite.toml:20:10: `profile.twice` has both `ladder` and `step`
      hint: keep the one that is meant
    suite.toml:20:26: `profile.twice.ladder.connections`: must not be empty
    suite.toml:21:52: `profile.twice.step[0].pace`: unknown value "fast"
      hint: known: closed, constant, poisson, ramp, users
    suite.toml:28:8: `profile.paces.step[0]`: pace `closed` has no `rate`
      hint: paces with a rate: constant, poisson, ramp; with an end as well: ramp
    suite.toml:29:1: `profile.paces.step[1]`: pace `constant` needs `rate`
      hint: requests per second over all connections
    suite.toml:33:1: `profile.paces.step[2]`: pace `ramp` needs `rate-end`
      hint: requests per second over all connections
    suite.toml:41:15: no contender is called `*`
      hint: there are none
    suite.toml:42:10: `round[0].winner`: unknown value "fastest"
      hint: known: peak-throughput, throughput, cpu-per-request, p99
    suite.toml:46:8: `profile.warm`: all steps are warm-up, nothing would be measured
    "#);
}

#[test]
fn expectations() {
    let checks = r#"
[expect.err-400]
status = [400, 999]

[[check]]
group = "get"
name = "one"
path = "no-slash"
method = "get"
headers = { "Host" = "x", "a b" = "1", "line" = "a\nb" }
expect = { like = "err-40", has = ["name", "$.a[*]"], lists = { "$.a" = [1] }, statuses = 1 }

[[check]]
group = "get"
name = "one"
path = "/"
expect = { like = "err-400", keys = { "$[x]" = ["b"] }, values = { "$[\"a" = 1 } }

[[check]]
group = "lifecycle"
name = ""
path = "/ /"
body-repeat = 5
expect = { json = "yes" }
"#;
    assert_snapshot!(check_complaints(checks), @r#"
    checks/0.toml:3:16: `expect.err-400.status[1]`: no such status: 999
      hint: statuses are 100 to 599
    checks/0.toml:8:8: `check[0].path`: "no-slash" is not a request path
      hint: begin with `/` and escape spaces and everything beyond ASCII with `%`
    checks/0.toml:9:10: `check[0].method`: "get" is not a method
      hint: write it in upper case: "GET"
    checks/0.toml:10:35: "a b" is not a header name
    checks/0.toml:10:49: `check[0].headers.line`: a header value cannot have control characters
    checks/0.toml:11:19: unknown expectation `err-40`
      hint: did you mean `err-400`? known: err-400
    checks/0.toml:11:36: bad JSON path "name": it must begin with `$`
      hint: paths are like $.cities[0].name and $["any key"]
    checks/0.toml:11:44: the JSON path "$.a[*]" has `[*]`, which is for `lists`
      hint: name one item, as in `[0]`
    checks/0.toml:11:73: the JSON path "$.a" must have exactly one `[*]`
      hint: write it where the items are: $.cities[*].name
    checks/0.toml:11:80: unknown key `statuses` in `check[0].expect`
      hint: did you mean `status`?
    checks/0.toml:15:8: the check "one" of the group `get` exists twice
    checks/0.toml:17:48: bad JSON path "$[x]": `[x]` is neither an index, `[*]` nor a key in quotes
      hint: paths are like $.cities[0].name and $["any key"]
    checks/0.toml:17:78: bad JSON path "$[\"a": `["a` has a key without an end quote
      hint: paths are like $.cities[0].name and $["any key"]
    checks/0.toml:20:9: the group `lifecycle` is bakeoff's own
      hint: choose another name
    checks/0.toml:21:8: `check[2].name`: must not be empty
      hint: write at least one character
    checks/0.toml:22:8: `check[2].path`: "/ /" is not a request path
      hint: begin with `/` and escape spaces and everything beyond ASCII with `%`
    checks/0.toml:23:15: `check[2]`: `body-repeat` without `body`
    checks/0.toml:24:19: `check[2].expect.json`: expected true or false, found the string "yes"
    "#);
}

#[test]
fn contenders() {
    let contender = CONTENDER
        .replace("\"actix-4\"", "\"actix-3\"")
        .replace("\"rust\"", "\"Rust\"")
        .replace("\"target/release/service\"", "\"../service\"")
        .replace(
            "[\"{artifact}\"]",
            "[\"{java}\", \"{artefact}\", \"{level}\", \"x{jvm-options}\"]\nversion = []",
        )
        + r#"
[matrix]
WORKERS = ["8", "8"]
"A=B" = []

[variant."a b"]
env = { X = 1 }

[variant.fast]
run = "./fast"
builds = ["make"]
"#;
    assert_snapshot!(contender_complaints(&contender), @r#"
    contender.toml:3:8: `contender.name`: "actix-3" is not the folder's name
      hint: write "actix-4", or rename the folder
    contender.toml:5:12: `contender.language`: "Rust" has upper case
      hint: write "rust"
    contender.toml:6:12: `contender.artifact`: must be a path inside the contender's folder
    contender.toml:7:7: `contender.run`: uses `{java}`, but no `jdk` is wanted
      hint: say which one: jdk = 17
    contender.toml:7:18: `contender.run[1]`: unknown placeholder `{artefact}`
      hint: did you mean `{artifact}`?
    contender.toml:7:43: `contender.run[3]`: `{jvm-options}` must be a separate argument
      hint: it stands for any number of arguments
    contender.toml:8:11: `contender.version`: must not be empty
    contender.toml:11:17: `matrix.WORKERS[1]`: "8" is there twice
    contender.toml:12:9: `matrix."A=B"`: must not be empty
    contender.toml:14:1: `variant."a b"`: "a b" is not a name
      hint: use letters, digits, `-`, `_` and `.`, the first a letter or digit
    contender.toml:15:13: `variant."a b".env.X`: expected a string, found the whole number 1
      hint: write it in quotes: "1"
    contender.toml:18:7: `variant.fast.run`: expected a list, found the string "./fast"
      hint: write it in brackets: ["./fast"]
    contender.toml:19:1: unknown key `builds` in `variant.fast`
      hint: did you mean `build`?
    "#);
    let lonely = CONTENDER.replace("language", "only-variants = true\nlanguage");
    assert_eq!(
        contender_complaints(&lonely),
        "contender.toml:5:17: `contender.only-variants`: there are no variants"
    );
}

#[test]
fn a_baseline_is_a_contender_of_the_suite() {
    let own = CONTENDER.replace("language", "baseline = \"actix-4/fast\"\nlanguage");
    assert_snapshot!(contender_complaints(&own), @r"
    contender.toml:5:12: `contender.baseline`: no contender is called `actix-4/fast`
      hint: did you mean `actix-4`? known: actix-4
    ");
    let variant = format!("{own}\n[variant.fast]\nbaseline = \"actix-4/slow\"\n");
    assert_snapshot!(contender_complaints(&variant), @r"
    contender.toml:11:12: `variant.fast.baseline`: no contender is called `actix-4/slow`
      hint: did you mean `actix-4`? known: actix-4, actix-4/fast
    ");
}

#[test]
fn contenders_that_are_not_built() {
    let without = CONTENDER.replace("artifact = \"target/release/service\"\n", "");
    assert_eq!(
        contender_complaints(&without),
        "contender.toml:6:7: `contender.run`: uses `{artifact}`, but there is no `artifact`\n  \
         hint: say what the build makes: artifact = \"target/app\""
    );
    let nothing = without.replace("run = [\"{artifact}\"]", "");
    assert_snapshot!(contender_complaints(&nothing), @r"
    contender.toml:2:1: missing key `run` in `contender`
      hint: command that starts it; or give `image.name` or `url`
    ");
    assert_snapshot!(contender_complaints(&format!("{nothing}url = \"http://a/b\"")), @r"
    contender.toml:7:7: `contender.url`: it goes on after the port; paths belong to requests
      hint: write `http://HOST` or `http://HOST:PORT`
    ");
    for enough in [
        "run = [\"node\", \"a.js\"]",
        "url = \"http://a:1\"",
        "[image]\nname = \"nginx\"",
    ] {
        assert_eq!(
            contender_complaints(&format!("{nothing}{enough}")),
            "no complaints"
        );
    }
}

#[test]
fn spans_are_bytes_and_columns_are_characters() {
    let suite = SUITE.replace("name = \"small\"", "analysis = \"Plzeň\"; name = \"small\"");
    let suite = suite.replace(";", "\n\"ň\" = 1\n");
    let sources = SuiteSources {
        suite: file("suite.toml", &suite),
        checks: Vec::new(),
        contenders: Vec::new(),
        published: None,
    };
    let diagnostics = parse::suite(&sources).unwrap_err();
    let [diagnostic] = diagnostics.as_slice() else {
        panic!("{diagnostics:?}");
    };
    assert_eq!((diagnostic.line, diagnostic.column), (4, 1));
    assert_eq!(&suite[diagnostic.span.clone().unwrap()], "\"ň\"");
}

#[test]
fn requests_of_scenarios_know_their_variables() {
    let suite = SUITE.replace(
        "path = \"/\"",
        r#"
path = "/${nme}"
weight = 2
extract = { token = { json = "token" }, two = { header = "a", regex = "b" } }
expect = { matches = "(" }

[[benchmark.request]]
method = "POST"
path = "/${token}"
body = "${name} ${ $${x}"
pause = "2s"
pause-up-to = "1s"

[benchmark.scenario]
after-failure = "stop"
feed = [{ kind = "unique", variable = "name" }]

[[benchmark]]
name = "plain"
[[benchmark.request]]
path = "/${left-alone}"
pause = "1s"
"#,
    );
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:17:8: `benchmark[0].request[0].path`: the variable `nme` has no value here
      hint: did you mean `name`? known: name
    suite.toml:18:10: `benchmark[0].request[0]`: a request of a scenario has no `weight`
      hint: its users send all requests in order
    suite.toml:19:30: bad JSON path "token": it must begin with `$`
      hint: paths are like $.cities[0].name and $["any key"]
    suite.toml:19:47: `benchmark[0].request[0].extract.two`: must have one key
      hint: one of: json, header, regex
    suite.toml:20:22: `benchmark[0].request[0].expect.matches`: bad pattern "(": unclosed group
      hint: write it in single quotes, where \ is nothing special: '[0-9]+'
    suite.toml:25:8: `benchmark[0].request[1].body`: `${ $${x}` is not a variable (`$${` is text)
    suite.toml:27:15: `benchmark[0].request[1]`: `pause-up-to` is shorter than `pause`
    suite.toml:30:17: `benchmark[0].scenario.after-failure`: unknown value "stop"
      hint: known: give-up, go-on
    suite.toml:37:9: `benchmark[1].request[0]`: `pause` is for scenarios
      hint: give the benchmark a table `[benchmark.scenario]`
    "#);
}

#[test]
fn transports_do_not_contradict_themselves() {
    let suite = SUITE.replace(
        "path = \"/\"",
        r#"
path = "/"
[benchmark.transport]
protocol = "http2"
keep-alive = false
messages = 9

[[benchmark]]
name = "users"
scenario = {}
transport = { protocol = "websocket" }
[[benchmark.request]]
path = "/"

[[benchmark]]
name = "odd"
transport = { protocol = "http3", in-flight = 0 }
[[benchmark.request]]
path = "/"

[[benchmark]]
name = "arriving"
scenario = { connect = "on-arrival" }
transport = { protocol = "http2", in-flight = 2 }
[[benchmark.request]]
path = "/"
"#,
    );
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:18:1: `benchmark[0].transport`: HTTP/2 keeps its connections; keep-alive is always on
    suite.toml:21:12: `benchmark[0].transport`: `messages` is for `protocol = "websocket"`
    suite.toml:26:13: `benchmark[1]`: scenarios do not support WebSocket
    suite.toml:32:26: `benchmark[2].transport.protocol`: unknown value "http3"
      hint: did you mean `http2`? known: http1, http2, websocket
    suite.toml:32:47: `benchmark[2].transport.in-flight`: must be at least 1, found 0
    suite.toml:39:13: `benchmark[3]`: users that connect on arrival share no connections
    "#);
}

#[test]
fn scenarios_have_feeds_of_their_kind_and_users() {
    let suite = SUITE.replace(
        "path = \"/\"",
        r#"
path = "/"

[[benchmark.scenario.feed]]
kind = "csv"
variables = ["name"]

[[benchmark.scenario.feed]]
kind = "unique"
variable = "name"
from = 1

[[benchmark.scenario.feed]]
kind = "random"
variable = "a name"
from = 2
to = 1

[[benchmark.step]]
connections = 1
duration = "1s"
pace = "poisson"
rate = 5
times = 2

[[benchmark]]
name = "plain"
step = [{ connections = 1, duration = "1s", pace = "users" }]
request = [{ path = "/" }]
"#,
    );
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:9:1: `profile.quick` has steps that no benchmark uses
      hint: `replaces-steps = true` plays them in place of the benchmarks' own
    suite.toml:19:1: `benchmark[0].scenario.feed[0]`: a `csv` feed needs `file`
      hint: keys of a `csv` feed: kind, variables, file, order
    suite.toml:26:8: `benchmark[0].scenario.feed[1]`: a `unique` feed has no `from`
      hint: keys of a `unique` feed: kind, variable
    suite.toml:28:1: "a name" cannot be the name of a variable
      hint: a letter, then letters, digits, `-` and `_`
    suite.toml:32:6: `benchmark[0].scenario.feed[2]`: `to` is before `from`
    suite.toml:37:8: `benchmark[0].step[0]`: a scenario has users, not a rate
      hint: scenarios have pace `closed` or `users`, other requests have all others
    suite.toml:39:9: `benchmark[0].step[0]`: pace `poisson` has no `times`
      hint: write `pace = "users"` for users of a scenario
    suite.toml:43:52: `benchmark[1].step[0]`: pace `users` is for scenarios
      hint: scenarios have pace `closed` or `users`, other requests have all others
    "#);
}

#[test]
fn runs_until_a_difference_are_bounded_and_can_find_it() {
    let check = |runs: &str| {
        let suite = SUITE.replace("runs = 2", &format!("runs = {runs}"));
        suite_complaints(&suite)
    };
    let bounds = "{ until = \"2%\", at-most = 3, within = \"2\" }";
    assert_snapshot!(check(bounds), @r#"
    suite.toml:10:18: `profile.quick.runs.until`: "2%" is not above 3%
      hint: differences up to 3 % get no verdict, however many runs there are
    suite.toml:10:34: `profile.quick.runs.at-most`: must be at least 4, found 3
    suite.toml:10:46: `profile.quick.runs.within`: "2" is a duration without a unit: write 2s
      hint: write a number and a unit out of ns, us, ms, s, m, h: "250ms", "1.5s"
    "#);
    assert_snapshot!(check("{ until = \"much\", atmost = 30 }"), @r#"
    suite.toml:10:18: `profile.quick.runs.until`: "much" is not a share up to 100%
      hint: the difference to find, "5%", or "sure"
    suite.toml:10:26: unknown key `atmost` in `profile.quick.runs`
      hint: did you mean `at-most`?
    "#);
    assert_eq!(
        check("[{ until = 5 }]"),
        "suite.toml:10:8: `profile.quick.runs`: expected a whole number or a table, found a list"
    );
    assert_eq!(check("{ until = \"5%\", at-most = 30 }"), "no complaints");
}

#[test]
fn a_fixed_length_of_turns_fits_into_a_step() {
    let check = |keys: &str| {
        let suite = SUITE.replace("runs = 2", &format!("runs = 2\n{keys}"));
        suite_complaints(&suite)
    };
    assert_eq!(check("turn = \"50ms\""), "no complaints");
    let wrong = [
        ("turn = \"1ms\"", "it is shorter than 5ms"),
        ("turn = \"1h\"", "it is longer than a measured step"),
        (
            "turn = \"50ms\"\nwhole-runs = true",
            "there are no turns in `whole-runs`",
        ),
    ];
    for (keys, why) in wrong {
        let found = check(keys);
        let complaint = format!("`profile.quick.turn`: {why}");
        assert!(found.contains(&complaint), "{found}");
    }
}

#[test]
fn a_warm_up_until_steady_needs_a_step_and_time() {
    let check = |keys: &str| {
        let suite = SUITE.replace("runs = 2", &format!("runs = 2\nwarm-up = {keys}"));
        suite_complaints(&suite)
    };
    let none = check("{ until = \"steady\", at-most = \"60s\" }");
    assert!(
        none.contains("there is no warm-up step before the measured ones"),
        "{none}"
    );
    let warm = SUITE.replace(
        "connections = [1, 2]",
        "warm-up = [4, 1], connections = [1, 2]",
    );
    let check = |keys: &str| {
        let suite = warm.replace("runs = 2", &format!("runs = 2\nwarm-up = {keys}"));
        suite_complaints(&suite)
    };
    let short = check("{ until = \"steady\", at-least = \"7s\", at-most = \"6s\" }");
    assert!(
        short.contains("`at-least` is longer than `at-most`"),
        "{short}"
    );
    assert!(
        short.contains("too short to see whether throughput rises"),
        "{short}"
    );
    let until = check("{ until = \"warm\", at-most = \"60s\" }");
    assert!(until.contains("unknown value \"warm\""), "{until}");
    let other = SUITE.replace(
        "connections = [1, 2]",
        "warm-up = [4], connections = [1, 2]",
    );
    let other = other.replace(
        "runs = 2",
        "runs = 2\nwarm-up = { until = \"steady\", at-most = \"60s\" }",
    );
    let other = suite_complaints(&other);
    assert!(
        other.contains("nothing is measured at the 4 of the warm-up"),
        "{other}"
    );
    let good = check("{ until = \"steady\", at-most = \"60s\" }");
    assert!(!good.contains("warm-up"), "{good}");
}

#[test]
fn a_capacity_has_objectives_and_no_steps() {
    let suite = SUITE.replace(
        "name = \"get\"\n",
        r#"
name = "borne"
kind = "capacity"
slo = ["p99 < 50ms", "p99 <= 5ms", "p99<=5ms", "errors <= 2"]
rates = { from = 500, to = 100 }
within = "wide"
trials-at-most = 5
step = [{ connections = 1, duration = "1s" }]
request = [{ path = "/" }]

[[benchmark]]
name = "bare"
kind = "capacity"
request = [{ path = "/" }]

[[benchmark]]
name = "plain"
slo = ["p99 <= 5ms"]
within = "3%"
"#,
    );
    assert_snapshot!(suite_complaints(&suite), @r#"
    suite.toml:17:8: `benchmark[0].slo[0]`: "p99 < 50ms" has another sign than `<=`
      hint: bounds of percentiles and errors, joined by `and`: "p99 <= 50ms and errors <= 0.1%"
    suite.toml:17:36: `benchmark[0].slo[2]`: p99 <= 5ms is there twice
    suite.toml:17:48: `benchmark[0].slo[3]`: "errors <= 2" always holds: 0.1% is one in a thousand
      hint: bounds of percentiles and errors, joined by `and`: "p99 <= 50ms and errors <= 0.1%"
    suite.toml:18:9: `benchmark[0].rates`: `from` 500 is not below `to` 100
    suite.toml:19:10: `benchmark[0].within`: "wide" is not from 0.2% to 50%
      hint: how far the interval may reach from its middle: "3%"
    suite.toml:20:18: `benchmark[0].trials-at-most`: must be at least 6, found 5
    suite.toml:21:8: `benchmark[0]`: kind `capacity` has no `step`
      hint: its steps are trials of open load, whose rates the search chooses
    suite.toml:24:1: missing key `slo` in `benchmark[1]`
      hint: bounds of percentiles and errors, joined by `and`: "p99 <= 50ms and errors <= 0.1%"
    suite.toml:31:7: `benchmark[2]`: `slo` is for `kind = "capacity"`
      hint: steps define their own connections, durations and rates
    suite.toml:32:10: `benchmark[2]`: `within` is for `kind = "capacity"`
      hint: steps define their own connections, durations and rates
    "#);
}
