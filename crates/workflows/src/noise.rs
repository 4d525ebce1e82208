//! How small a difference this host finds and how long that takes, by measuring a service against
//! itself.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bakeoff_analysis::{Analysis, AnalysisInput};
use bakeoff_base::number::{as_f64, length_as_f64};
use bakeoff_model::plan::baseline::ConditionMetric;
use bakeoff_model::record::{Results, RunRecords};
use bakeoff_session::session::Audience;
use bakeoff_session::store::locked_folder::LockedFolder;
use bakeoff_stats::{PilotPair, Threshold};

use crate::duel::{self, Duel, SuitePlace, Unprepared};
use crate::series;

/// The differences whose times are stated.
const DIFFERENCES: [f64; 3] = [0.05, 0.02, 0.01];

/// A difference has no time if it takes more sets than this.
const SETS_MAX: u32 = 2000;

/// A significant difference, whatever its size.
const THRESHOLD: Threshold = Threshold {
    level: 0.05,
    relevance: 0.0,
};

/// Noise is forgotten when less than this share of it is left.
const FORGOTTEN: f64 = 1.0 / std::f64::consts::E;

/// The differences that a host finds, and its noise.
#[derive(Debug, Clone, PartialEq)]
pub struct HostNoise {
    /// Sets of fresh processes that were measured.
    pub sets: usize,
    /// Time for each difference (0.02 = 2 %) to be found in four of five sessions; `None` if there
    /// is no end to it.
    pub finds: Vec<(f64, Option<Duration>)>,
    /// Standard deviation of a service's throughput from block to block: 0.1 = 10 %.
    pub of_blocks: f64,
    /// Standard deviation of the ratio of both services in the same block.
    pub of_pairs: f64,
    /// Length of a block.
    pub block: Duration,
    /// The time after which the noise of blocks is forgotten, in whole blocks.
    pub memory: Duration,
}

/// Measures two services that are the same program, in a folder for the results.
///
/// # Errors
/// The services cannot be measured, or two sets of them are too few to tell.
pub async fn measure(
    duel: &Duel,
    seed: u64,
    folder: &Path,
    audience: &mut Audience<'_>,
) -> anyhow::Result<HostNoise> {
    let locked = LockedFolder::make(folder)?;
    let suite = folder.join("suite");
    let prepared = duel::prepare(duel, SuitePlace::InResults(&suite)).await;
    let prepared = prepared.map_err(|error| match error {
        Unprepared::Order(error) | Unprepared::Services(error) => error,
    })?;
    let open = prepared.open(locked, duel.options(), seed)?;
    let start = Instant::now();
    let recorded = series::play(open, folder, audience).await?;
    noise(&recorded, start.elapsed())
}

fn noise(results: &Results, took: Duration) -> anyhow::Result<HostNoise> {
    let analysis = Analysis::of(&AnalysisInput::new(results, ""));
    let samples = analysis.samples(ConditionMetric::Slower);
    let [(_, first), (_, second)] = samples.as_slice() else {
        anyhow::bail!("the numbers of a service against itself are not fair on this host now");
    };
    let PilotPair::Known(spread) = PilotPair::of(first, second) else {
        anyhow::bail!("two sets are too few to tell: give it more time");
    };
    let sets = first.values().len();
    let of_set = took / u32::try_from(sets).unwrap_or(u32::MAX);
    let time = |difference: f64| {
        let mut numbers = 3..=SETS_MAX;
        let found =
            numbers.find(|sets| spread.exactness(*sets).detectable(&THRESHOLD) <= difference)?;
        Some(of_set * found)
    };
    let series = Series::of(results);
    let (of_blocks, of_pairs) = series.deviations().context("no set has two blocks")?;
    Ok(HostNoise {
        sets,
        finds: DIFFERENCES.map(|one| (one, time(one))).into(),
        of_blocks,
        of_pairs,
        block: series.block,
        memory: series.memory(),
    })
}

/// Logarithms in the blocks of each set, less their mean: the first service's rates, and the ratios
/// between both.
struct Series {
    rates: Vec<Vec<f64>>,
    ratios: Vec<Vec<f64>>,
    block: Duration,
}

impl Series {
    fn of(results: &Results) -> Self {
        let mut contenders: Vec<&str> = results
            .runs
            .iter()
            .map(|run| run.begin.run.contender.as_str())
            .collect();
        contenders.sort_unstable();
        contenders.dedup();
        let of_name = |name: &str| {
            let runs = results.runs.iter();
            let own = runs.filter(|run| run.begin.run.contender == name);
            own.map(rates).collect::<Vec<_>>()
        };
        let both: Vec<Vec<Blocks>> = contenders.iter().map(|name| of_name(name)).collect();
        let pairs = both.first().into_iter().flatten();
        let pairs = pairs.zip(both.get(1).into_iter().flatten());
        let mut series = Self {
            rates: Vec::new(),
            ratios: Vec::new(),
            block: Duration::ZERO,
        };
        for (one, other) in pairs {
            series.block = series.block.max(one.length());
            let shared = one.logs.iter().filter_map(|(block, log)| {
                let of_other = other.logs.iter().find(|(number, _)| number == block)?.1;
                Some((*log, log - of_other))
            });
            let (rates, ratios): (Vec<f64>, Vec<f64>) = shared.unzip();
            series.rates.push(centred(rates));
            series.ratios.push(centred(ratios));
        }
        series
    }

    /// The standard deviations of rates and ratios; `None` without two blocks in any set.
    fn deviations(&self) -> Option<(f64, f64)> {
        Some((deviation(&self.rates)?, deviation(&self.ratios)?))
    }

    /// The shortest distance of blocks at which the noise of rates is forgotten.
    fn memory(&self) -> Duration {
        let products = |lag: usize| {
            let of_set = |rates: &Vec<f64>| {
                let later = rates.iter().skip(lag);
                rates.iter().zip(later).map(|(a, b)| a * b).sum::<f64>()
            };
            self.rates.iter().map(of_set).sum::<f64>()
        };
        let longest = self.rates.iter().map(Vec::len).max().unwrap_or_default();
        let all = products(0);
        let forgotten = (1..longest).find(|lag| products(*lag) < FORGOTTEN * all);
        self.block * u32::try_from(forgotten.unwrap_or(longest)).unwrap_or(u32::MAX)
    }
}

/// The blocks of a run: their numbers, with the logarithms of its rates in them.
struct Blocks {
    logs: Vec<(u64, f64)>,
    /// Time from the first to the last, ns.
    span_ns: u64,
}

impl Blocks {
    fn length(&self) -> Duration {
        let steps = self.logs.len().saturating_sub(1).max(1) as u64;
        Duration::from_nanos(self.span_ns / steps)
    }
}

fn rates(run: &RunRecords) -> Blocks {
    let mut logs = Vec::new();
    let mut times = Vec::new();
    for slice in run.intervals.iter().filter(|slice| !slice.warm_up) {
        for turn in &slice.load.turns {
            if turn.requests > 0 && turn.length_us > 0 {
                let rate = as_f64(turn.requests) / as_f64(turn.length_us);
                logs.push((turn.block, rate.ln()));
                times.push(slice.load.start_ns + turn.start_us * 1000);
            }
        }
    }
    let span_ns = match (times.first(), times.last()) {
        (Some(first), Some(last)) => last.saturating_sub(*first),
        _ => 0,
    };
    Blocks { logs, span_ns }
}

fn centred(values: Vec<f64>) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / length_as_f64(values.len().max(1));
    values.into_iter().map(|value| value - mean).collect()
}

fn deviation(sets: &[Vec<f64>]) -> Option<f64> {
    let squares: f64 = sets.iter().flatten().map(|value| value * value).sum();
    let freedom: usize = sets.iter().map(|set| set.len().saturating_sub(1)).sum();
    (freedom > 0).then(|| (squares / length_as_f64(freedom)).sqrt())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Series;

    #[test]
    fn noise_that_lasts_is_remembered() {
        let block = Duration::from_millis(100);
        let series = |rates: Vec<f64>| Series {
            ratios: vec![rates.clone()],
            rates: vec![rates],
            block,
        };
        let alternating = series(
            (0..40)
                .map(|at| if at % 2 == 0 { 1.0 } else { -1.0 })
                .collect(),
        );
        assert_eq!(alternating.memory(), block);
        let slow = series(
            (0..40)
                .map(|at| if at % 20 < 10 { 1.0 } else { -1.0 })
                .collect(),
        );
        assert_eq!(slow.memory(), block * 4);
        let (of_blocks, _) = slow.deviations().unwrap();
        assert!((of_blocks - 1.013).abs() < 0.001, "{of_blocks}");
    }
}
