//! Made-up results: claims and published results.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::record::Results;
use bakeoff_model::suite::published::{
    Bounds, Claim, ClaimTest, Expected, Metric, PublishedResult, Source,
};
use bakeoff_model::suite::{Limits, Step};

use crate::synthetic::{self, Contender, contender};

pub(crate) fn results(contenders: &[Contender], runs: u32) -> Results {
    let mut results = Results::default();
    for repetition in 1..=runs {
        for one in contenders {
            let order = results.runs.len();
            let run = synthetic::run("city-get", one, repetition, order);
            results.runs.push(run);
        }
    }
    results
}

pub(crate) fn source() -> Source {
    Source {
        name: "article".to_owned(),
        title: "A title <b>".to_owned(),
        author: "An Author".to_owned(),
        date: "2020".to_owned(),
        limits: Limits {
            cpus: Some(1.5),
            memory_bytes: Some(512 << 20),
        },
        conditions: "Elsewhere.".to_owned(),
    }
}

pub(crate) fn claim(metric: Metric, at: Option<u32>, test: ClaimTest) -> Claim {
    Claim {
        text: "It is so".to_owned(),
        quote: Some("So it is.".to_owned()),
        source: "article".to_owned(),
        benchmark: "city-get".to_owned(),
        second_benchmark: None,
        metric,
        at,
        second_at: None,
        nth_step: 1,
        despite_failures: false,
        test,
        derived: None,
        same_limits: Vec::new(),
        round: None,
        absent: None,
        replaced_by: None,
        stand_in: None,
    }
}

pub(crate) fn ratio(first: &str, second: &str, min: f64) -> ClaimTest {
    ClaimTest::Ratio {
        first: first.to_owned(),
        second: second.to_owned(),
        than: None,
        expected: Expected::Within(Bounds {
            min: Some(min),
            max: None,
        }),
    }
}

pub(crate) fn three() -> [Contender; 3] {
    [
        contender("synthetic-fast", 9000.0, 150.0),
        contender("synthetic-middle", 6000.0, 200.0),
        contender("synthetic-slow", 3000.0, 600.0),
    ]
}

/// A result with one step that we have, one that we have not, and single numbers.
pub(crate) fn middle() -> PublishedResult {
    let step = |connections| Step {
        connections,
        duration: Duration::ZERO,
        pace: Pace::Closed,
        warm_up: connections == 1,
        at_least: None,
    };
    PublishedResult {
        source: "article".to_owned(),
        benchmark: "city-get".to_owned(),
        name: "Middle 1.0".to_owned(),
        contender: "synthetic-middle".to_owned(),
        round: None,
        steps: vec![step(1), step(8), step(4096)],
        throughput: vec![111.0, 888.0, 4096.0],
        cpu_us: Vec::new(),
        p99_ms: BTreeMap::from([(64, 48.7)]),
        errors: BTreeMap::new(),
        peak: Some((4096.0, 4096)),
        startup_s: Some(2.77),
        memory_start_mib: Some(119.0),
        memory_end_mib: Some(182.0),
        cpu_us_whole: Some(571.0),
    }
}
