//! Rules for `published.toml` beyond its schema: names that must exist, series that must be as
//! long as their steps, claims that must say what has to hold.

use std::collections::BTreeMap;
use std::time::Duration;

use super::raw_published::{
    AbsentTable, ChartTable, ClaimTable, PublishedFile, ResultTable, SourceTable,
};
use super::source::{KeyPath, Reading};
use crate::load::Pace;
use crate::suite::published::{
    Bounds, Claim, ClaimTest, Expected, Metric, OwnChart, Published, PublishedChart,
    PublishedResult, Source,
};
use crate::suite::{Benchmark, Limits, Round, Step};
use crate::text::names;

pub(super) fn published(
    reading: &mut Reading<'_>,
    file: PublishedFile,
    benchmarks: &[Benchmark],
    rounds: Option<&[Round]>,
) -> Published {
    let root = KeyPath::root();
    let names = file.source.iter().map(|source| source.name.as_str());
    reading.report_duplicates(&root.key("source"), "source", names);
    let sources: Vec<Source> = file.source.into_iter().map(source).collect();
    let known = Known {
        sources: sources.iter().map(|source| source.name.as_str()).collect(),
        benchmarks: benchmarks.iter().map(|one| one.name.as_str()).collect(),
        rounds: rounds.map(|rounds| rounds.iter().map(|one| one.name.as_str()).collect()),
    };
    let mut results = Vec::new();
    for (index, table) in file.result.into_iter().enumerate() {
        let place = root.key("result").index(index);
        known.check(reading, &place, &table.source, &table.benchmark);
        known.check_round(reading, &place, table.round.as_deref());
        let benchmark = benchmarks.iter().find(|one| one.name == table.benchmark);
        results.push(result(reading, &place, table, benchmark));
    }
    let mut claims = Vec::new();
    for (index, table) in file.claim.into_iter().enumerate() {
        let place = root.key("claim").index(index);
        known.check(reading, &place, &table.source, &table.benchmark);
        if let Some(second) = &table.second_benchmark {
            known.check_one(reading, &place, "second-benchmark", second);
        }
        known.check_round(reading, &place, table.round.as_deref());
        let claim = claim(reading, &place, table);
        claims.extend(
            claim
                .into_iter()
                .flat_map(|one| with_ours(one, &file.absent)),
        );
    }
    for (index, absent) in file.absent.iter().enumerate() {
        if !claims.iter_mut().any(|claim| names_one(claim, absent)) {
            let place = root.key("absent").index(index);
            let message = format!("no claim names a contender `{}...`", absent.labels);
            reading.complain(&place.key("labels"), &message, None);
        }
    }
    let mut charts = Vec::new();
    for (index, table) in file.chart.into_iter().enumerate() {
        let place = root.key("chart").index(index);
        known.check_one(reading, &place, "source", &table.source);
        known.check_round(reading, &place, table.round.as_deref());
        charts.extend(chart(reading, &place, table, &known));
    }
    Published {
        sources,
        results,
        claims,
        charts,
    }
}

/// The names to which results and claims may refer.
struct Known<'k> {
    sources: Vec<&'k str>,
    benchmarks: Vec<&'k str>,
    /// Names of rounds; `None` if they could not be read.
    rounds: Option<Vec<&'k str>>,
}

impl Known<'_> {
    fn check(&self, reading: &mut Reading<'_>, place: &KeyPath, source: &str, benchmark: &str) {
        self.check_one(reading, place, "source", source);
        self.check_one(reading, place, "benchmark", benchmark);
    }

    fn check_round(&self, reading: &mut Reading<'_>, place: &KeyPath, round: Option<&str>) {
        if let (Some(round), Some(rounds)) = (round, &self.rounds) {
            check_name(reading, &place.key("round"), "round", round, rounds);
        }
    }

    fn check_one(&self, reading: &mut Reading<'_>, place: &KeyPath, key: &str, name: &str) {
        let (kind, known) = match key {
            "source" => ("source", &self.sources),
            _ => ("benchmark", &self.benchmarks),
        };
        if !known.is_empty() {
            check_name(reading, &place.key(key), kind, name, known);
        }
    }
}

fn check_name(reading: &mut Reading<'_>, place: &KeyPath, kind: &str, name: &str, known: &[&str]) {
    if !known.contains(&name) {
        let message = format!("no {kind} is called `{name}`");
        reading.complain(place, &message, Some(names::suggestion(name, known)));
    }
}

fn source(table: SourceTable) -> Source {
    Source {
        name: table.name,
        title: table.title,
        author: table.author,
        date: table.date,
        limits: Limits {
            cpus: table.limits.cpus,
            memory_bytes: table.limits.memory.map(|memory| memory.0),
        },
        conditions: table.conditions,
    }
}

/// Values by connections.
fn by_connections<T: Copy>(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &BTreeMap<String, T>,
) -> BTreeMap<u32, T> {
    let mut figures = BTreeMap::new();
    for (connections, value) in table {
        if let Ok(connections) = connections.parse() {
            figures.insert(connections, *value);
        } else {
            let message = format!("{connections:?} is not a number of connections");
            reading.complain(&place.key(connections), &message, None);
        }
    }
    figures
}

/// Returns the chart, which has either one of ours or a reason why not.
fn chart(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: ChartTable,
    known: &Known<'_>,
) -> Option<PublishedChart> {
    let ours = match (table.ours, table.benchmark, table.why) {
        (Some(id), Some(benchmark), None) => {
            known.check_one(reading, place, "benchmark", &benchmark);
            Ok(OwnChart {
                id,
                benchmark,
                round: table.round,
                contenders: table.contenders,
            })
        }
        (None, None, Some(why)) => Err(why),
        _ => {
            let message = format!("`{place}` needs `ours` and `benchmark`, or `why` alone");
            reading.complain(place, &message, None);
            return None;
        }
    };
    Some(PublishedChart {
        source: table.source,
        title: table.title,
        ours,
    })
}

/// Returns the published values. Their steps are of the kind that the benchmark has.
fn result(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: ResultTable,
    benchmark: Option<&Benchmark>,
) -> PublishedResult {
    let paces = benchmark.into_iter().flat_map(|one| &one.steps);
    let mut paces = paces.map(|step| step.pace);
    let users = paces.find(|pace| matches!(pace, Pace::Users { .. }));
    let pace = users.unwrap_or(Pace::Closed);
    let warm_up = table.warm_up.iter().map(|connections| (connections, true));
    let measured = table.connections.iter().map(|one| (one, false));
    let steps: Vec<Step> = warm_up
        .chain(measured)
        .map(|(connections, warm_up)| Step {
            connections: *connections,
            duration: Duration::ZERO,
            pace,
            warm_up,
            at_least: None,
        })
        .collect();
    for (key, series) in [("throughput", &table.throughput), ("cpu-ms", &table.cpu_ms)] {
        if !series.is_empty() && series.len() != steps.len() {
            let message = format!(
                "`{place}`: {} values for {} steps",
                series.len(),
                steps.len()
            );
            let hint = Some("one for each of `warm-up` and `connections`".to_owned());
            reading.complain(&place.key(key), &message, hint);
        }
    }
    let p99_ms = by_connections(reading, &place.key("p99-ms"), &table.p99_ms);
    let errors = by_connections(reading, &place.key("errors"), &table.errors);
    let highest = steps.iter().zip(&table.throughput);
    let highest = highest.max_by(|a, b| a.1.total_cmp(b.1));
    let given = table.peak.map(|peak| (peak.throughput, peak.connections));
    PublishedResult {
        source: table.source,
        benchmark: table.benchmark,
        name: table.name,
        contender: table.contender,
        round: table.round,
        peak: given.or(highest.map(|(step, throughput)| (*throughput, step.connections))),
        cpu_us: table.cpu_ms.iter().map(|ms| ms * 1e3).collect(),
        throughput: table.throughput,
        steps,
        p99_ms,
        errors,
        startup_s: table.startup_s,
        memory_start_mib: table.memory_mib.map(|memory| memory.start),
        memory_end_mib: table.memory_mib.map(|memory| memory.end),
        cpu_us_whole: table.cpu_us_whole,
    }
}

fn claim(reading: &mut Reading<'_>, place: &KeyPath, table: ClaimTable) -> Option<Claim> {
    let metric = table.metric;
    let needs_at = metric.is_event()
        || matches!(
            metric,
            Metric::Throughput
                | Metric::ServiceTime
                | Metric::P99
                | Metric::FailedShare
                | Metric::Apdex
        );
    if needs_at && table.at.is_none() {
        let message = format!("`{place}`: this metric needs `at`, the connections");
        reading.complain(&place.key("metric"), &message, None);
    }
    let test = test(reading, place, &table)?;
    let fits = metric.is_event() == matches!(test, ClaimTest::Happens { .. });
    if !fits {
        let message = format!("`{place}`: this metric does not go with that form");
        let hint = "`contenders` goes with what happens, the others with values".to_owned();
        reading.complain(&place.key("metric"), &message, Some(hint));
    }
    let of_ratios = [
        ("second-benchmark", table.second_benchmark.is_some()),
        ("second-at", table.second_at.is_some()),
        ("than", table.than.is_some()),
    ];
    for (key, _) in of_ratios.into_iter().filter(|(_, given)| *given) {
        if !matches!(test, ClaimTest::Ratio { .. }) {
            let message = format!("`{place}` has `{key}`, but no ratio");
            let hint = format!("`{key}` goes with `first` and `second`");
            reading.complain(&place.key(key), &message, Some(hint));
        }
    }
    let of_steps = [
        ("nth-step", table.nth_step.is_some()),
        ("despite-failures", table.despite_failures),
    ];
    for (key, _) in of_steps.into_iter().filter(|(_, given)| *given) {
        if table.at.is_none() {
            let message = format!("`{place}` has `{key}` without `at`");
            let hint = format!("`{key}` is about the steps with `at` connections");
            reading.complain(&place.key(key), &message, Some(hint));
        }
    }
    Some(Claim {
        text: table.text,
        quote: table.quote,
        source: table.source,
        benchmark: table.benchmark,
        second_benchmark: table.second_benchmark,
        metric,
        at: table.at,
        second_at: table.second_at,
        nth_step: table.nth_step.unwrap_or(1),
        despite_failures: table.despite_failures,
        test,
        derived: table.derived,
        same_limits: table.same_limits,
        round: table.round,
        absent: None,
        replaced_by: None,
        stand_in: table.stand_in,
    })
}

/// Returns the claim and, if it names systems that are not available here, the same question about
/// their stand-ins.
fn with_ours(mut claim: Claim, absent: &[AbsentTable]) -> Vec<Claim> {
    let is_named = |one: &&AbsentTable| names_one(&mut claim, one);
    let named: Vec<&AbsentTable> = absent.iter().filter(is_named).collect();
    let own = claim.stand_in.take();
    let stand_ins = named.iter().map(|one| &one.stand_in).chain(&own);
    let stand_ins: Vec<&str> = stand_ins.map(String::as_str).collect();
    if stand_ins.is_empty() {
        return vec![claim];
    }
    let mut ours = Claim {
        stand_in: Some(stand_ins.join(" and ")),
        quote: None,
        derived: None,
        ..claim.clone()
    };
    for label in labels(&mut ours.test) {
        let replaced = named.iter().find_map(|one| {
            let rest = label.strip_prefix(&one.labels)?;
            Some(format!("{}{rest}", one.ours))
        });
        if let Some(replaced) = replaced {
            *label = replaced;
        }
    }
    let why: Vec<&str> = named.iter().map(|one| &*one.why).collect();
    claim.absent = (!why.is_empty()).then(|| why.join(", "));
    claim.replaced_by = own;
    vec![claim, ours]
}

fn names_one(claim: &mut Claim, absent: &AbsentTable) -> bool {
    let mut labels = labels(&mut claim.test).into_iter();
    labels.any(|label| label.starts_with(&absent.labels))
}

/// The labels and globs of contenders in what has to hold.
fn labels(test: &mut ClaimTest) -> Vec<&mut String> {
    match test {
        ClaimTest::Ratio {
            first,
            second,
            than,
            ..
        } => [first, second]
            .into_iter()
            .chain(than.iter_mut().flatten())
            .collect(),
        ClaimTest::Value { contender, .. } => vec![contender],
        ClaimTest::Best { best, among } => std::iter::once(best).chain(among).collect(),
        ClaimTest::Order { order } => order.iter_mut().collect(),
        ClaimTest::Happens { contenders, .. } => contenders.iter_mut().collect(),
    }
}

/// The ways in which a claim says what has to hold.
const FORMS: &str =
    "one of: `first` and `second`; `contender`; `best` and `among`; `order`; `contenders`";

/// Returns the test of a claim, which must have exactly one.
fn test(reading: &mut Reading<'_>, place: &KeyPath, table: &ClaimTable) -> Option<ClaimTest> {
    exact(reading, place, table);
    let sizes = sizes(table);
    let unbounded = Expected::Within(Bounds::default());
    let expected = sizes.first().copied().unwrap_or(unbounded);
    let mut found = Vec::new();
    if let (Some(first), Some(second)) = (table.first.clone(), table.second.clone()) {
        found.push(ClaimTest::Ratio {
            first,
            second,
            than: table.than.clone(),
            expected,
        });
    }
    if let Some(contender) = table.contender.clone() {
        found.push(ClaimTest::Value {
            contender,
            expected,
        });
    }
    if let (Some(best), false) = (table.best.clone(), table.among.is_empty()) {
        let among = table.among.clone();
        found.push(ClaimTest::Best { best, among });
    }
    if table.order.len() > 1 {
        let order = table.order.clone();
        found.push(ClaimTest::Order { order });
    }
    if !table.contenders.is_empty() {
        let contenders = table.contenders.clone();
        let happens = table.happens.unwrap_or(true);
        found.push(ClaimTest::Happens {
            contenders,
            happens,
        });
    } else if table.happens.is_some() {
        let message = format!("`{place}` says whether something happens, but not to which");
        let hint = "`happens` goes with `contenders`".to_owned();
        reading.complain(&place.key("happens"), &message, Some(hint));
    }
    let (message, hint) = match (found.len(), found.first(), sizes.len()) {
        (1, Some(ClaimTest::Value { .. }), 1) if expected == Expected::Equal => {
            let message = "says `equal` of one contender";
            (message, "`equal` goes with `first` and `second`")
        }
        (1, Some(ClaimTest::Ratio { .. } | ClaimTest::Value { .. }), 1) => return found.pop(),
        (1, Some(ClaimTest::Ratio { .. } | ClaimTest::Value { .. }), _) => {
            let message = "does not say in exactly one way how large it has to be";
            (message, "one of: `min`, `max` or both; `about`; `equal`")
        }
        (1, _, 0) => return found.pop(),
        (1, _, _) => {
            let message = "says how large something has to be, but not what";
            (
                message,
                "`min`, `max`, `about` and `equal` go with a ratio or a contender's value",
            )
        }
        (count, _, _) => {
            let message = match count {
                0 => "does not say what has to hold",
                _ => "says in several ways what has to hold",
            };
            (message, FORMS)
        }
    };
    let message = format!("`{place}` {message}");
    reading.complain(place, &message, Some(hint.to_owned()));
    None
}

/// All ways in which the table says how large something has to be.
fn sizes(table: &ClaimTable) -> Vec<Expected> {
    let bounds = Bounds {
        min: table.min,
        max: table.max,
    };
    let within = (bounds != Bounds::default()).then_some(Expected::Within(bounds));
    let equal = table.equal.then_some(Expected::Equal);
    let about = table.about.map(Expected::About);
    within.into_iter().chain(about).chain(equal).collect()
}

/// A claim is about certain contenders: the best of several would be chosen by the runs that then
/// judge it.
fn exact(reading: &mut Reading<'_>, place: &KeyPath, table: &ClaimTable) {
    let single = [
        ("first", &table.first),
        ("second", &table.second),
        ("contender", &table.contender),
        ("best", &table.best),
    ];
    let single = single
        .into_iter()
        .filter_map(|(key, label)| Some((key, label.as_deref()?)));
    let ordered = table.order.iter().map(|label| ("order", label.as_str()));
    let than = table.than.iter().flatten();
    let than = than.map(|label| ("than", label.as_str()));
    for (key, label) in single.chain(ordered).chain(than) {
        if label.contains(['*', '?']) {
            let message = format!("{label:?} does not name one contender");
            let hint = "a claim is about certain contenders: write the case's whole label";
            reading.complain(&place.key(key), &message, Some(hint.to_owned()));
        }
    }
}
