//! The comparison of a few services as one sentence: which serves more, by how much, with which
//! interval, at what cost; or that they do not differ significantly.

use bakeoff_stats::{Comparison, Threshold, Verdict};

use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{counted, enumerated, ratio_text, significant};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::outcome::conclusion::detectable;
use bakeoff_analysis::tables::control::VOID;
use bakeoff_analysis::tables::lower_bounds::LowerBound;
use bakeoff_analysis::tables::summary::BenchmarkSummary;

/// The best of the first benchmark against the next one, in one sentence.
#[must_use]
pub fn sentence(analysis: &Analysis<'_>) -> String {
    let Some(load) = analysis.loads.first() else {
        return "Nothing was measured.".to_owned();
    };
    let summary = &load.summary;
    let by_requests = by_requests(summary);
    match &summary.by_cpu {
        Some(found) => format!("{} {by_requests}", found.sentence()),
        None => by_requests,
    }
}

/// How the best compares with the next one by requests per second.
fn by_requests(summary: &BenchmarkSummary) -> String {
    match summary.tables.as_slice() {
        [table] if summary.unranked.is_empty() && table.rows.len() > 1 => {
            let (best, next) = (&table.rows[0], &table.rows[1]);
            let threshold = table.threshold();
            let mut text = match &next.standing.throughput {
                Some(comparison) => compared(best, next, comparison, &threshold),
                None => numbers(best, next),
            };
            if !table.verdict.ranks() {
                text.push_str(&format!(" ({})", lower(table.title)));
            }
            text.push('.');
            text
        }
        [fair, bound] if summary.unranked.is_empty() && bound.rows.len() == 1 => {
            match summary.lower_bounds.as_slice() {
                [one] if one.is_higher() || fair.rows.len() == 1 => {
                    bounded(&fair.rows[0], &bound.rows[0], one)
                }
                _ => incomparable(summary),
            }
        }
        _ => incomparable(summary),
    }
}

/// A fair number and one that is a lower bound.
fn bounded(fair: &Row, bound: &Row, found: &LowerBound) -> String {
    let rate = |row: &Row| significant(row.peak.throughput.mean());
    let because = found.because();
    if found.is_higher() {
        return format!(
            "{} serves {} the requests per second of {} {}{}: {because}.",
            found.label,
            found.at_least(),
            found.best,
            found.detail(),
            cost(bound, fair)
        );
    }
    format!(
        "{} served {} requests per second and {} at least {}{}; which serves more is not known: \
         {because}.",
        found.best,
        rate(fair),
        found.label,
        rate(bound),
        cost(fair, bound)
    )
}

/// Two of one table.
fn compared(best: &Row, next: &Row, comparison: &Comparison, threshold: &Threshold) -> String {
    let (a, b) = (&best.label, &next.label);
    // It is of the next one against the best.
    let point = 1.0 / comparison.ratio.point;
    let Some((interval, test)) = comparison.ratio.interval.zip(comparison.exactness) else {
        return numbers(best, next);
    };
    let (low, high) = (1.0 / interval.high, 1.0 / interval.low);
    let sure = format!(
        "(95 %: {}–{}, {} each)",
        ratio_text(low),
        ratio_text(high),
        counted(comparison.ratio.runs, best.unit())
    );
    let (ratio, cost) = (ratio_text(point), cost(best, next));
    match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            format!("{a} serves {ratio} times the requests per second of {b} {sure}{cost}")
        }
        Verdict::Equivalent => {
            format!("{a} and {b} serve as many requests per second, {ratio} times {sure}{cost}")
        }
        Verdict::Void => format!(
            "{a} serves {ratio} times the requests per second of {b} {sure}{cost}, which is {VOID}"
        ),
        Verdict::Inconclusive => {
            let difference = detectable::found(&test, threshold);
            format!(
                "{a} and {b} do not differ significantly: {ratio} times the requests per second \
                 {sure}{cost}; a difference of {difference} would have shown in four of five such \
                 sessions"
            )
        }
    }
}

/// Two of one table that have no interval.
fn numbers(best: &Row, next: &Row) -> String {
    let rate = |row: &Row| format!("{} {}", row.label, significant(row.peak.throughput.mean()));
    let (one, two) = (rate(best), rate(next));
    let cost = cost(best, next);
    format!("{one} against {two} requests per second, without an interval{cost}")
}

/// `, at 21.3 against 35.5 µs of CPU per request, and 12.1 against 45.3 MiB of memory`.
fn cost(best: &Row, next: &Row) -> String {
    let both = |value: fn(&Row) -> Option<f64>, unit: &str| {
        let (one, two) = (significant(value(best)?), significant(value(next)?));
        Some(format!("{one} against {two} {unit}"))
    };
    let known = [
        both(
            |row| row.stated.cpu_us.as_ref().map(Metric::mean),
            "µs of CPU per request",
        ),
        both(
            |row| row.stated.memory_mib.as_ref().map(Metric::mean),
            "MiB of memory",
        ),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    match known.is_empty() {
        true => ", and what they cost is not known".to_owned(),
        false => format!(", at {}", enumerated(&known)),
    }
}

/// Why there is no comparison: each with what was found.
fn incomparable(summary: &BenchmarkSummary) -> String {
    let ranked = summary.tables.iter().flat_map(|table| {
        let rows = table.rows.iter();
        rows.map(|row| {
            let (label, rate) = (&row.label, significant(row.peak.throughput.mean()));
            format!(
                "{label} served {rate} requests per second ({})",
                lower(table.title)
            )
        })
    });
    let unranked = summary.unranked.iter();
    let unranked = unranked.map(|one| format!("{}: {}", one.label, one.reason));
    let each: Vec<String> = ranked.chain(unranked).collect();
    let what = match summary.by_cpu {
        Some(_) => "Their requests per second",
        None => "They",
    };
    format!("{what} cannot be compared: {}.", each.join("; "))
}

/// A title as a part of a sentence.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}
