//! Sentences on the response times of contenders that take turns.

use bakeoff_stats::{Comparison, Pairs, Verdict};

use super::comparison::{self, Conclusion};
use crate::data::metric::{Metric, Percentile};
use crate::data::number::{ratio_text, significant};
use crate::data::row::Row;

/// Compares each row with the one with the shortest times, by p99 if both have it, otherwise by
/// p50. `p50` and `p99` are the comparisons of all rows.
pub(crate) fn conclusions(rows: &[Row], p50: &Pairs, p99: &Pairs) -> Vec<Conclusion> {
    let by = |wanted| {
        rows.iter()
            .map(move |row| of(row, wanted).map(|metric| &metric.sample))
    };
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
        middle: format!("serves {} in {}", wanted.describe(), times_of(found)),
        second: best.label.clone(),
        detail: format!("{detail}, at {rate} requests/s each"),
        price: median.map_or_else(String::new, |median| {
            let interval = comparison::detail(median, row.unit());
            let (words, times) = (Percentile::P50.describe(), times_of(median));
            format!("{words} in {times} {} {interval}", best.label)
        }),
        verdict: found.verdict,
    })
}

/// Returns a ratio of times: `1.31 times the time of`.
fn times_of(found: &Comparison) -> String {
    match found.verdict {
        Verdict::Equivalent => "as much time as".to_owned(),
        _ => format!("{} times the time of", ratio_text(found.ratio.point)),
    }
}

/// Returns a percentile of a row in open load.
pub(crate) fn of(row: &Row, wanted: Percentile) -> Option<&Metric> {
    row.open.as_ref()?.percentile(wanted)
}
