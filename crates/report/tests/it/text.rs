//! The terminal's table, Markdown and CSV.

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::record::Results;
use bakeoff_report::{csv, html, markdown, terminal_table};

use crate::synthetic;

fn analysis(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput {
        results,
        title: "Synthetic, profile seed, backend replay",
        rounds: &[],
    })
}

#[test]
fn the_table_fits_the_terminal() {
    let analysis = analysis(synthetic::results());
    for width in [40, 60, 80, 100, 200] {
        let table = terminal_table(&analysis, width);
        // The path of a log stays whole.
        for line in table.lines().filter(|line| !line.contains("logs/")) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn the_table_says_who_is_ranked_where_and_why() {
    let table = terminal_table(&analysis(synthetic::results()), 80);
    let (loads, _) = table.split_once("start-up: ").unwrap();
    insta::assert_snapshot!(loads, @r##"
    Synthetic, profile seed, backend replay
    warning: some contenders have a single completed run: their numbers have no
        interval and nothing can be concluded from their order

    city-get: backend replay, 1.5 CPUs, 512 MiB, runtime process, profile seed

    Ranked: fair and degraded numbers
    p99, us/req and MiB at 64 connections; errors over all measured steps
        contender       req/s   ±95% conns p99 ms us/req   MiB start s errors checks
     1= synthet…ctix-4  10022  ±0.8%   256   21.5    163  17.0 0.00201      0    2/2
     1= synthetic-axum   9868  ±2.0%   256   22.1    165  17.0 0.00199      0    2/2
      3 synthet…RS=16]   6181  ±1.3%   256   36.4    250  17.0 0.00201      0    2/2
      4 synthet…ktor-1   4606  ±1.3%   256   48.5    466   170    2.60  0.17%    2/2
      5 synthet…dertow   3230  ±0.9%   256   66.7    571   170    2.60      0    2/2
      6 synthet…ache-4   2821  ±0.9%   256   75.8    640   170    2.60      0    2/2
    = not significantly different from another of the rank
    synthetic-axum needs 2.00 µs more CPU per request than synthetic-actix-4 (95 %:
        1.99–2.01, 4 runs) at 64 connections: 1.50 µs in its own code and 0.499 µs
        in the kernel.
    why: degraded: 0.34 % of the requests failed (64 header-timeout of 18567)

    Not ranked
      synthetic-rocket-0.4[WORKERS=8]: check get/Plzeň in Czech failed: $.name:
        expected "Plzeň", found "<Pilsen & co>"
      synthetic-tide: no completed run; first failure at ready: not ready after 15 s

    Failed runs
      synthetic-http4k-3/apache-4 run 2: load: killed for memory (512 MiB) at 256
        connections; its log is
        logs/city-get.synthetic-http4k-3/apache-4.{}.r2.a1.log
      synthetic-tide runs 1, 2, 3, 4: ready: not ready after 15 s; its log is
        logs/city-get.synthetic-tide.{}.r1.a1.log

    closest: backend replay, 1.5 CPUs, 512 MiB, runtime process, profile seed

    Ranked: fair numbers
    p99, us/req and MiB at 64 connections; errors over all measured steps
        contender       req/s   ±95% conns p99 ms us/req   MiB start s errors checks
      1 synthetic-slow    108          256  2000!  8008! 17.0! 0.00199      0    2/2
    ! degraded at 64 connections

    Host-bound: the parts shared the host's cores, so the order holds for this host
        only
    p99, us/req and MiB at 64 connections; errors over all measured steps
        contender       req/s   ±95% conns p99 ms us/req   MiB start s errors checks
     1= synthet…ctix-4   8052          256  26.7!   200! 17.0! 0.00198      0    2/2
     1= synthet…ktor-1   3655          256  57.6!   480!  170!    2.60      0    2/2
    = not significantly different from another of the rank
    ! host-bound at 64 connections
    why: host-bound in 100 % of the time: contender, load generator and backend used
        1.93 of 2 cores
    Whether synthetic-actix-4 and synthetic-ktor-1 can serve more than
        synthetic-slow is not known: a lower bound shows it only where it is
        significantly higher.
    "##);
}

#[test]
fn the_table_of_cold_starts_says_which_starts_fastest() {
    let table = terminal_table(&analysis(synthetic::results()), 80);
    let begin = table.find("start-up: ").unwrap();
    insta::assert_snapshot!(&table[begin..], @r##"
    start-up: backend replay, 1.5 CPUs, 512 MiB, runtime process, profile seed

    Cold starts, fastest mean first
        contender           start s   ±95%  median     max   CPU s  MiB image starts
     1≈ synthetic…ORKERS=8] 0.00200  ±0.4% 0.00200 0.00203 0.00280 12.0  12.0  20/20
     1≈ synthetic…RKERS=16] 0.00200  ±0.4% 0.00199 0.00203 0.00280 12.0  12.0  20/20
     1≈ synthetic-axum      0.00200  ±0.5% 0.00200 0.00203 0.00280 12.0  12.0  20/20
     1≈ synthetic-actix-4   0.00201  ±0.4% 0.00201 0.00203 0.00280 12.0  12.0  20/20
     5≈ synthetic-ktor-1       2.60  ±0.4%    2.59    2.64    3.64  120   120  20/20
     5≈ synthetic…/undertow    2.61  ±0.4%    2.61    2.64    3.64  120   120  20/20
     5≈ synthetic…/apache-4    2.61  ±0.4%    2.61    2.64    3.64  120   120  20/20
    ≈ equivalent to the others of the rank, within 3 %

    Not ranked
      synthetic-tide: no completed run; first failure at ready: not ready after 15 s

    Failed runs
      synthetic-tide runs 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20: ready: not ready after 15 s; its log is
        logs/start-up.synthetic-tide.{}.r1.a1.log
    "##);
}

#[test]
fn nothing_commands_the_terminal() {
    let mut results = Results {
        runs: synthetic::results().runs[..1].to_vec(),
        ..Results::default()
    };
    results.runs[0].begin.run.contender = "evil\u{1b}[2Jname\n".to_owned();
    let table = terminal_table(&analysis(&results), 80);
    assert!(
        !table.contains('\u{1b}') && table.contains("evil [2Jname"),
        "{table}"
    );
}

#[test]
fn markdown_is_the_answer() {
    let text = markdown(&analysis(synthetic::results()));
    let answer = text.split("## closest").next().unwrap();
    for line in [
        "> **Note:** some contenders have a single completed run: ",
        "- synthetic-actix-4 serves 1.62 times the requests per second of \
         synthetic-rocket-0.4\\[WORKERS=16\\] (95 %: 1.60–1.64, 4 runs): faster; with 0.65 times \
         the CPU per request at 64 connections\n",
        "Latencies, CPU per request and memory: all at 64 connections, a dash ",
        "| 1= | synthetic-axum | 9868 | 9672–10068 | 256 | ",
        "| 6 | synthetic-http4k-3/apache-4 | 2821 | 2795–2848 | 256 | 75.8 | 640 | 170 | 2.60 | \
         0 | 2/2 | 3/4 |\n",
        "- **synthetic-rocket-0.4\\[WORKERS=8\\]**: check get/Plzeň in Czech failed: $.name: \
         expected \"Plzeň\", found \"&lt;Pilsen & co>\" (measured all the same: 5613 req/s)\n",
        "- **synthetic-http4k-3/apache-4** run 2: load: killed for memory (512 MiB) at 256",
        "- **synthetic-tide** runs 1, 2, 3, 4: ready: not ready after 15 s; its log is \
         logs/city-get.synthetic-tide.",
    ] {
        assert!(answer.contains(line), "{line}\n{answer}");
    }
}

#[test]
fn csv_has_a_row_for_each_step_of_each_run() {
    let results = synthetic::results();
    let text = csv(&analysis(results));
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let steps = |run: &bakeoff_model::record::RunRecords| {
        let mut steps: Vec<usize> = run.intervals.iter().map(|i| i.load.step).collect();
        steps.dedup();
        steps.len().max(1)
    };
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), results.runs.iter().map(steps).sum::<usize>());
    let first: Vec<&str> = rows[0].split(',').collect();
    assert_eq!(header.len(), first.len());
    let cell = |name: &str| first[header.iter().position(|other| *other == name).unwrap()];
    assert_eq!(
        (cell("contender"), cell("step_label"), cell("warm_up")),
        ("synthetic-actix-4", "w1: 1", "true")
    );
    let of_step = results.runs[0]
        .intervals
        .iter()
        .filter(|interval| interval.load.step == 0);
    let requests: u64 = of_step.map(|interval| interval.load.requests).sum();
    assert_eq!(
        (cell("requests"), cell("errors")),
        (requests.to_string().as_str(), "0")
    );
    let cpu_us: f64 = cell("cpu_us_per_request").parse().unwrap();
    assert!((cpu_us - 163.0).abs() < 0.1, "{cpu_us}");
    assert!(text.contains("contender, load generator and backend used 1.93 of 2 cores"));
    assert!(text.contains("failed at load: killed for memory (512 MiB) at 256 connections"));
}

#[test]
fn columns_without_any_value_are_left_out() {
    let one = synthetic::contender("synthetic-a", 5000.0, 100.0);
    let whole = synthetic::run("city-get", &one, 1, 0);
    let mut bare = whole.clone();
    bare.checks.clear();
    bare.startup = None;
    let documents = |run| {
        let results = Results {
            runs: vec![run],
            ..Results::default()
        };
        let analysis = analysis(&results);
        (html(&analysis), markdown(&analysis))
    };
    for (run, is_there) in [(whole, true), (bare, false)] {
        let (page, text) = documents(run);
        for column in ["lifecycle", "checks", "start-up s"] {
            let heading = format!("<th scope=\"col\">{column}</th>");
            assert_eq!(page.contains(&heading), is_there, "{column}");
        }
        assert_eq!(
            text.contains("| start-up s | errors | checks | runs |"),
            is_there
        );
        assert_eq!(
            text.contains("| MiB | errors | runs |"),
            !is_there,
            "{text}"
        );
    }
}
