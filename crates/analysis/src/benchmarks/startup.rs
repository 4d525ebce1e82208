//! Cold starts: the distribution of each contender's time from its start to its first valid
//! response over fresh instances, and the cost. The start-up of loaded runs is not included: it is
//! a column of their table.

use bakeoff_model::record::nodes::PodStart;
use bakeoff_model::record::{Results, Startup};
use bakeoff_stats::{Better, Comparison, Criteria, Estimate, Pairs, Sample, Tie, Verdict, rank};

use crate::data::benchmark::{self, BenchmarkData, CaseData};
use crate::data::metric::CONFIDENCE;
use crate::data::number::{mib, milliseconds, ratio_text, seconds};
use crate::data::row;
use crate::tables::comparison::{Conclusion, detail};
use crate::tables::failures::{self, FailedRun, Unranked};

/// A cold-start benchmark.
#[derive(Debug)]
pub struct StartupAnalysis<'r> {
    /// Contenders by start-up time, and those that do not start with the reason.
    pub summary: StartupSummary,
    /// The runs.
    pub data: BenchmarkData<'r>,
}

/// Returns one entry for each cold-start benchmark and set of conditions.
pub fn startups(results: &Results) -> Vec<StartupAnalysis<'_>> {
    let data = benchmark::startups(results).into_iter();
    let analyse = |data| StartupAnalysis {
        summary: of_benchmark(&data),
        data,
    };
    data.map(analyse).collect()
}

/// The ranks of a cold-start benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct StartupSummary {
    /// The benchmark.
    pub name: String,
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The contenders that started at least once, fastest mean first.
    pub rows: Vec<StartRow>,
    /// Comparisons of the fastest with each of the others, as sentences.
    pub conclusions: Vec<Conclusion>,
    /// Contenders that never responded.
    pub unranked: Vec<Unranked>,
    /// Starts that failed.
    pub failures: Vec<FailedRun>,
}

/// The starts of one contender.
#[derive(Debug, Clone, PartialEq)]
pub struct StartRow {
    /// One more than the number of faster contenders.
    pub rank: Option<usize>,
    /// Whether and how the contender shares its rank.
    pub tie: Tie,
    /// Contender and parameters.
    pub label: String,
    /// Caveat about the contender.
    pub note: Option<String>,
    /// Time from the program's start to the first valid response, mean over starts, s.
    pub startup_s: Estimate,
    /// Shortest, median, 90th percentile and longest start-up time, s.
    pub spread_s: [f64; 4],
    /// Mean length of each phase, ms.
    pub phases: Phases,
    /// CPU seconds until the first response.
    pub cpu_s: Option<Estimate>,
    /// Highest memory until the first response, mean over starts, MiB.
    pub memory_mib: Option<f64>,
    /// Size of the image, or of the artifact if there is no image, MiB.
    pub image_mib: Option<f64>,
    /// Starts that responded.
    pub starts: usize,
    /// Starts that were started.
    pub starts_begun: usize,
    /// Comparison with the fastest; `None` for the fastest itself.
    pub against_best: Option<Comparison>,
    /// The start of each run, s.
    pub sample: Sample,
}

/// The parts of a start, ms; they add up to the time from the request to the response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phases {
    /// Time until the process or container exists.
    pub create_ms: f64,
    /// Time from then until the contender's own program starts.
    pub exec_ms: f64,
    /// Time from then until it accepts a connection.
    pub listen_ms: f64,
    /// Time from then until the first valid response.
    pub respond_ms: f64,
    /// For a Pod, within the time before its program starts: time until it had a node, and time to
    /// pull its image.
    pub pod_ms: Option<(f64, f64)>,
}

/// Summarises the starts of a benchmark.
pub fn of_benchmark(benchmark: &BenchmarkData<'_>) -> StartupSummary {
    let mut unranked = Vec::new();
    let mut rows = Vec::new();
    for case in &benchmark.cases {
        match row(case) {
            Some(row) => rows.push(row),
            None => unranked.push(Unranked {
                label: case.label.clone(),
                reason: failures::no_numbers(case),
                row: None,
            }),
        }
    }
    let rows = ordered(rows);
    StartupSummary {
        name: benchmark.name.clone(),
        conditions: benchmark.conditions.clone(),
        conclusions: conclusions(&rows),
        rows,
        unranked,
        failures: failures::failures(benchmark),
    }
}

/// Returns the times of each completed start, with its repetition.
fn timed<'a>(case: &CaseData<'a>) -> Vec<(u32, &'a Startup)> {
    let completed = case.completed();
    completed
        .filter_map(|run| Some((run.repetition(), run.records.startup.as_ref()?)))
        .collect()
}

fn row(case: &CaseData<'_>) -> Option<StartRow> {
    let in_blocks = timed(case);
    let values = |value: fn(&Startup) -> Option<f64>| {
        let values = in_blocks.iter();
        let values = values.filter_map(|(block, start)| Some((*block, value(start)?)));
        Sample::in_blocks(values.collect())
    };
    let starts: Vec<&Startup> = in_blocks.iter().map(|(_, start)| *start).collect();
    let sample = values(|start| Some(seconds(start.startup_ns)))?;
    let mean_ms = |value: fn(&Startup) -> u64| {
        Sample::new(
            starts
                .iter()
                .map(|start| milliseconds(value(start)))
                .collect(),
        )
        .map_or(0.0, |sample| sample.mean())
    };
    let cpu = values(|start| Some(seconds(start.resources.cpu?.total_ns())));
    let memory = values(|start| Some(mib(start.resources.memory?.peak_bytes)));
    Some(StartRow {
        rank: None,
        tie: Tie::Alone,
        label: case.label.clone(),
        note: row::note(case),
        startup_s: sample.estimate(CONFIDENCE),
        spread_s: [0.0, 0.5, 0.9, 1.0].map(|share| sample.quantile(share)),
        phases: Phases {
            create_ms: mean_ms(|start| start.created_ns),
            exec_ms: mean_ms(|start| start.executed_ns.saturating_sub(start.created_ns)),
            listen_ms: mean_ms(|start| start.listened_ns.saturating_sub(start.executed_ns)),
            respond_ms: mean_ms(|start| start.answered_ns.saturating_sub(start.listened_ns)),
            pod_ms: starts.iter().any(|start| start.pod.is_some()).then(|| {
                let scheduled = mean_ms(|start| of_pod(start).scheduled_ns);
                (
                    scheduled,
                    mean_ms(|start| of_pod(start).pull_ns.unwrap_or(0)),
                )
            }),
        },
        cpu_s: cpu.map(|cpu| cpu.estimate(CONFIDENCE)),
        memory_mib: memory.map(|memory| memory.mean()),
        image_mib: starts.iter().find_map(|start| start.image_bytes).map(mib),
        starts: starts.len(),
        starts_begun: case.runs.len(),
        against_best: None,
        sample,
    })
}

fn of_pod(start: &Startup) -> PodStart {
    start.pod.clone().unwrap_or_default()
}

/// Sorts the fastest mean first, with ranks and comparisons with the fastest. All pairs of the
/// table are one family.
fn ordered(rows: Vec<StartRow>) -> Vec<StartRow> {
    let criteria = Criteria::new(Better::Lower);
    let samples: Vec<&Sample> = rows.iter().map(|row| &row.sample).collect();
    let all: Vec<Option<&Sample>> = samples.iter().copied().map(Some).collect();
    let pairs = Pairs::new(&all, &criteria);
    let order = rank(&samples, &pairs, &criteria);
    let best = order.first().map(|ranked| ranked.index);
    let in_order = order.iter().map(|ranked| StartRow {
        rank: ranked.rank,
        tie: ranked.tie,
        against_best: best.and_then(|best| pairs.get(ranked.index, best).copied()),
        ..rows[ranked.index].clone()
    });
    in_order.collect()
}

fn conclusions(rows: &[StartRow]) -> Vec<Conclusion> {
    let Some(best) = rows.first() else {
        return Vec::new();
    };
    let rest = rows.iter().skip(1);
    rest.filter_map(|row| {
        let inverse = row.against_best?.inverse();
        let middle = match inverse.verdict {
            Verdict::Equivalent => "starts as fast as".to_owned(),
            _ => format!(
                "starts in {} times the time of",
                ratio_text(inverse.ratio.point)
            ),
        };
        Some(Conclusion {
            first: best.label.clone(),
            middle,
            second: row.label.clone(),
            detail: detail(&inverse, "start"),
            price: String::new(),
            verdict: inverse.verdict,
        })
    })
    .collect()
}
