//! Response times of contenders that take turns: from the open load after the turns, at one rate
//! for all. The times in the turns themselves are those of bursts, and in no document.

use bakeoff_model::validity::Validity;
use bakeoff_stats::{Comparison, Pairs, Sample, Verdict};

use super::benchmark::{Latency, RunData, StepData};
use super::comparison::{self, Conclusion};
use super::metric::Metric;
use super::row::Row;
use super::validity;
use crate::number::{as_f64, count, ratio_text, significant};

/// A percentile counts where so many requests took longer. Its standard error is then a tenth of
/// the share beyond it: that of a count of 100.
const BEYOND_MIN: f64 = 100.0;

/// The response times of a contender in open load.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTimes {
    /// 50th percentile of each set, ms; `None` where the load is invalid or cannot be judged, and
    /// with too few requests in every set.
    pub p50: Option<Metric>,
    /// The same of the 99th.
    pub p99: Option<Metric>,
    /// The worst verdict on the load of all sets.
    pub validity: Validity,
    /// Requests per second, mean over sets.
    pub rate_per_s: f64,
}

/// Which percentile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Percentile {
    P50,
    P99,
}

impl Percentile {
    fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P99 => 0.99,
        }
    }

    fn of(self, times: &Latency) -> f64 {
        match self {
            Self::P50 => times.p50_ms,
            Self::P99 => times.p99_ms,
        }
    }

    /// Of which requests it says how long they take.
    fn words(self) -> &'static str {
        match self {
            Self::P50 => "half of the requests",
            Self::P99 => "99 % of the requests",
        }
    }
}

impl OpenTimes {
    /// Those of completed runs; `None` where none of them has open load.
    pub(crate) fn of(runs: &[&RunData<'_>]) -> Option<Self> {
        let steps: Vec<&StepData<'_>> = runs.iter().filter_map(|run| run.open.as_ref()).collect();
        let rates: Option<Vec<f64>> = steps.iter().map(|step| step.open_rate_per_s).collect();
        let rates = rates.filter(|rates| !rates.is_empty())?;
        Some(Self {
            p50: percentile(runs, Percentile::P50),
            p99: percentile(runs, Percentile::P99),
            validity: validity::worst(steps.iter().map(|step| &step.validity)),
            rate_per_s: rates.iter().sum::<f64>() / count(rates.len()),
        })
    }
}

/// A percentile in the open load of each set with enough requests, ms. `None` where there is none,
/// and where the load of a set is invalid or cannot be judged: the others would flatter.
fn percentile(runs: &[&RunData<'_>], wanted: Percentile) -> Option<Metric> {
    let loaded = runs
        .iter()
        .filter_map(|run| Some((*run, run.open.as_ref()?)));
    let counting = loaded.filter(|(_, step)| step.resolves(wanted.share()));
    let with_value = counting.filter_map(|(run, step)| {
        let value = wanted.of(&step.latency()?);
        Some((run.with_block(value), step))
    });
    let (values, steps): (Vec<(u32, f64)>, Vec<&StepData<'_>>) = with_value.unzip();
    let all = runs.iter().filter_map(|run| run.open.as_ref());
    let verdict = validity::worst(all.map(|step| &step.validity));
    let metric = Metric::new(values, steps.into_iter())?;
    validity::unranked(&verdict).is_none().then_some(metric)
}

impl StepData<'_> {
    /// Whether enough of its requests took longer than this quantile. Only asked of open load in a
    /// set: other documents show what there is.
    pub(crate) fn resolves(&self, share: f64) -> bool {
        let requests: u64 = self.histograms().map(|times| times.count()).sum();
        // The product of decimal fractions may be short of a whole number by rounding.
        let beyond = as_f64(requests) * (1.0 - share) + 1e-6;
        self.open_rate_per_s.is_none() || beyond >= BEYOND_MIN
    }
}

/// Each row against the one with the shortest times, by p99 where both have it, otherwise by p50.
/// `p50` and `p99` are the comparisons of all rows.
pub(crate) fn conclusions(rows: &[Row], p50: &Pairs, p99: &Pairs) -> Vec<Conclusion> {
    let by = |wanted| rows.iter().map(move |row| sample(row, wanted));
    let (wanted, pairs) = match by(Percentile::P99).flatten().count() {
        0 | 1 => (Percentile::P50, p50),
        _ => (Percentile::P99, p99),
    };
    let means = by(wanted)
        .enumerate()
        .filter_map(|(place, sample)| Some((place, sample?.mean())));
    let Some((best, _)) = means.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let others = (0..rows.len()).filter(|place| *place != best);
    let conclusion = |place: usize| {
        let found = pairs.get(place, best)?;
        let median = p50.get(place, best).filter(|_| wanted == Percentile::P99);
        conclusion(&rows[place], &rows[best], wanted, found, median)
    };
    others.filter_map(conclusion).collect()
}

fn conclusion(
    row: &Row,
    best: &Row,
    wanted: Percentile,
    found: &Comparison,
    median: Option<&Comparison>,
) -> Option<Conclusion> {
    found.ratio.point.is_finite().then_some(())?;
    let rate = significant(row.open.as_ref()?.rate_per_s);
    let detail = comparison::detail(found, row.unit());
    Some(Conclusion {
        first: row.label.clone(),
        middle: format!("answers {} in {}", wanted.words(), times(found)),
        second: best.label.clone(),
        detail: format!("{detail}, at {rate} requests/s each"),
        price: median.map_or_else(String::new, |median| {
            let interval = comparison::detail(median, row.unit());
            let (words, times) = (Percentile::P50.words(), times(median));
            format!("{words} in {times} {} {interval}", best.label)
        }),
        verdict: found.verdict,
    })
}

/// `1.31 times the time of`.
fn times(found: &Comparison) -> String {
    match found.verdict {
        Verdict::Equivalent => "as much time as".to_owned(),
        _ => format!("{} times the time of", ratio_text(found.ratio.point)),
    }
}

/// The percentile of a row in each set.
pub(crate) fn sample(row: &Row, wanted: Percentile) -> Option<&Sample> {
    metric(row, wanted).map(|metric| &metric.sample)
}

/// The percentile of a row.
pub(crate) fn metric(row: &Row, wanted: Percentile) -> Option<&Metric> {
    let open = row.open.as_ref()?;
    match wanted {
        Percentile::P50 => open.p50.as_ref(),
        Percentile::P99 => open.p99.as_ref(),
    }
}

/// The percentile of completed runs at so many connections, or at whichever.
pub(crate) fn at(runs: &[&RunData<'_>], wanted: Percentile, at: Option<u32>) -> Option<Metric> {
    let mut steps = runs.iter().filter_map(|run| run.open.as_ref());
    let fits = steps.all(|step| at.is_none_or(|at| step.connections == at));
    percentile(runs, wanted).filter(|_| fits)
}

#[cfg(test)]
mod tests;
