//! Time and size of the documents of a large session: 60 contenders, the 16
//! steps of profile `seed`, 10 runs of each, all synthetic.
//!
//! `cargo bench -p bakeoff-report --bench large [-- FOLDER]` prints times and sizes, and writes the
//! documents into FOLDER, so that the page can be opened in a browser. The bar is 2 s for all
//! documents and 10 MB for the page; `README.md` in this folder has what was measured.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any fault")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_model::load::Pace;
use bakeoff_model::record::Results;
use bakeoff_model::suite::Step;
use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_report::{csv, html, markdown, terminal_table};

#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../../analysis/tests/it/synthetic/mod.rs"]
mod synthetic;

use synthetic::{Contender, contender};

const CONTENDERS: u32 = 60;
const RUNS: u32 = 10;

fn main() {
    let results = results();
    let input = AnalysisInput {
        results: &results,
        title: "Synthetic, profile seed, backend replay",
        rounds: &[],
    };
    let begun = Instant::now();
    let analysis = Analysis::of(&input);
    println!("{:12} {:>12.1?}", "analysis", begun.elapsed());
    let documents = [
        ("index.html", timed(|| html(&analysis))),
        ("results.md", timed(|| markdown(&analysis))),
        ("results.csv", timed(|| csv(&analysis))),
        ("terminal.txt", timed(|| terminal_table(&analysis, 100))),
    ];
    let took = begun.elapsed();
    for (name, (text, took)) in &documents {
        println!("{name:12} {took:>12.1?} {:>10} bytes", text.len());
    }
    println!("{:12} {took:>12.1?}", "all");
    let folder = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    if let Some(folder) = folder.map(PathBuf::from) {
        fs::create_dir_all(&folder).unwrap();
        for (name, (text, _)) in &documents {
            fs::write(folder.join(name), text).unwrap();
        }
    }
}

fn timed(make: impl FnOnce() -> String) -> (String, Duration) {
    let begun = Instant::now();
    let text = make();
    (text, begun.elapsed())
}

fn results() -> Results {
    let contenders: Vec<Contender> = (0..CONTENDERS).map(varied).collect();
    let mut results = Results::default();
    for repetition in 1..=RUNS {
        for one in &contenders {
            let order = results.runs.len();
            results.runs.push(synthetic::run_of_steps(
                "city-get",
                one,
                repetition,
                order,
                steps(),
            ));
        }
    }
    results
}

/// Every fifth is bound by the host, every third is slow to start and to get warm.
fn varied(index: u32) -> Contender {
    let name = format!(
        "synthetic-framework-{}/variant-{}",
        index / 4 + 1,
        index % 4 + 1
    );
    let peak = 20_000.0 * 0.95_f64.powi(index.cast_signed());
    let mut one = contender(name.leak(), peak, 1.3e6 / peak);
    if index.is_multiple_of(3) {
        (one.startup_s, one.memory_mib, one.cold) = (2.6, 120, 0.25);
    }
    if index % 5 == 4 {
        one.validity = Validity::recorded(
            FairnessVerdict::HostBound,
            "contender, load generator and backend used 1.93 of 2 cores",
        );
    }
    one
}

/// The 16 steps of profile `seed`.
fn steps() -> Vec<Step> {
    let step = |connections, warm_up| Step {
        connections,
        duration: Duration::from_secs(10),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    let mut steps = vec![step(1, true); 5];
    steps.extend((1..=11).map(|power| step(1 << power, false)));
    steps
}
