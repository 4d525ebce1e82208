//! Made-up results: overhead over a baseline.

use std::time::Duration;

use bakeoff_analysis::{Analysis, AnalysisInput, BaselineShare, Quantity, Ratio};
use bakeoff_model::load::Pace;
use bakeoff_model::record::Results;
use bakeoff_model::suite::Step;

use crate::synthetic::{Contender, contender, run_of_steps};

pub(crate) fn steps() -> Vec<Step> {
    let step = |connections, warm_up| Step {
        connections,
        duration: Duration::from_secs(4),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    vec![
        step(3, true),
        step(1, false),
        step(3, false),
        step(128, false),
    ]
}

/// Four runs of each contender in each benchmark.
pub(crate) fn results(benchmarks: &[&str], contenders: &[Contender]) -> Results {
    let mut results = Results::default();
    for repetition in 1..=4 {
        for benchmark in benchmarks {
            for one in contenders {
                let order = results.runs.len();
                let run = run_of_steps(benchmark, one, repetition, order, steps());
                results.runs.push(run);
            }
        }
    }
    results
}

pub(crate) const ROUTES_8: &[(&str, &str)] = &[("ROUTES", "8")];

pub(crate) const ROUTES_128: &[(&str, &str)] = &[("ROUTES", "128")];

/// A layer that serves four fifths of the bare server for five quarters of its CPU; with routes,
/// nine tenths. A server that is the layer's own, and one whose bare server was left out.
pub(crate) fn contenders() -> Vec<Contender> {
    let of = |one: Contender, baseline| Contender {
        baseline: Some(baseline),
        ..one
    };
    let routes = |one: Contender, parameters| Contender { parameters, ..one };
    let multi = || of(contender("fast/multi", 6300.0, 125.0), "fast/bare-multi");
    let bare_multi = || contender("fast/bare-multi", 7000.0, 100.0);
    vec![
        of(contender("fast/layer", 8000.0, 125.0), "fast/bare"),
        contender("fast/bare", 10_000.0, 100.0),
        routes(multi(), ROUTES_8),
        routes(bare_multi(), ROUTES_8),
        routes(bare_multi(), ROUTES_128),
        contender("own/layer", 12_000.0, 80.0),
        of(contender("slow/layer", 100.0, 900.0), "slow/bare"),
    ]
}

pub(crate) fn analyse(results: &Results) -> Analysis<'_> {
    Analysis::of(&AnalysisInput::new(results, "Synthetic overhead"))
}

pub(crate) fn share<'a>(analysis: &'a Analysis<'_>, label: &str, step: &str) -> &'a BaselineShare {
    let mut shares = analysis.overheads[0].shares.iter();
    let found = shares.find(|share| share.label == label && share.step.label == step);
    found.unwrap_or_else(|| panic!("{label} at {step}"))
}

pub(crate) fn ratio(share: &BaselineShare, quantity: Quantity) -> &Ratio {
    let place = Quantity::ALL.iter().position(|one| *one == quantity);
    share.ratios[place.unwrap()].as_ref().unwrap()
}
