//! The metrics that contenders export, at the stated step: the growth of counters for each request,
//! and the values of gauges at the end.

use std::collections::BTreeMap;

use bakeoff_base::natural;
use bakeoff_model::suite::metrics::{MetricSeries, MetricsRecord};

use crate::data::benchmark::{BenchmarkData, CaseData, StepData};
use crate::data::metric::{Metric, in_runs};
use crate::data::number::{as_f64, counted};
use crate::data::stated_step::StatedStep;

/// The metrics of all contenders of a benchmark.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnMetrics {
    /// The step, in words.
    pub at: String,
    /// The series by name, and for each name contender by contender.
    pub rows: Vec<OwnMetricRow>,
    /// The metrics that are missing and why, sentences.
    pub remarks: Vec<String>,
}

/// A series of a contender.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnMetricRow {
    /// Name and labels of the series.
    pub name: String,
    /// Contender and parameters.
    pub label: String,
    /// Growth of a counter, divided by the requests that ended; `None` for a gauge.
    pub per_request: Option<Metric>,
    /// The value of a gauge after the step.
    pub value: Option<Metric>,
}

impl OwnMetrics {
    /// Whether there was nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.remarks.is_empty()
    }
}

/// Returns the metrics. Counters that grew in no contender are omitted, and counted.
pub fn of(benchmark: &BenchmarkData<'_>, stated: Option<&StatedStep>) -> OwnMetrics {
    let mut remarks: Vec<String> = benchmark.cases.iter().flat_map(remarks_on).collect();
    let Some(stated) = stated else {
        return OwnMetrics {
            remarks,
            ..OwnMetrics::default()
        };
    };
    let mut by_name: BTreeMap<String, Vec<OwnMetricRow>> = BTreeMap::new();
    for case in &benchmark.cases {
        for row in rows(case, &stated.label) {
            by_name.entry(row.name.clone()).or_default().push(row);
        }
    }
    let grew = |row: &OwnMetricRow| row.per_request.as_ref().is_none_or(|one| one.mean() != 0.0);
    let all = by_name.len();
    by_name.retain(|_, rows| rows.iter().any(grew));
    if let left_out @ 1.. = all - by_name.len() {
        let counters = counted(left_out, "counter");
        remarks.push(format!("{counters} grew in no contender at this step."));
    }
    let mut rows: Vec<OwnMetricRow> = by_name.into_values().flatten().collect();
    rows.sort_by(|one, other| natural::compare(&one.name, &other.name));
    OwnMetrics {
        at: stated.describe(),
        rows,
        remarks,
    }
}

/// Returns the series of a contender at a step that any of its runs has.
fn rows(case: &CaseData<'_>, label: &str) -> Vec<OwnMetricRow> {
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    for run in case.completed() {
        let index = run.step(label).map(|step| step.index);
        let records = run.records.metrics.iter();
        for series in records
            .filter(|one| Some(one.step) == index)
            .flat_map(|one| &one.series)
        {
            names.insert(&series.name, series.gauge().is_some());
        }
    }
    let row = |(name, is_gauge): (&str, bool)| OwnMetricRow {
        name: name.to_owned(),
        label: case.label.clone(),
        per_request: (!is_gauge)
            .then(|| read(case, label, |step, record| per_request(step, record, name)))
            .flatten(),
        value: is_gauge
            .then(|| read(case, label, |_, record| found(record, name)?.gauge()))
            .flatten(),
    };
    let rows = names.into_iter().map(row);
    rows.filter(|row| row.per_request.is_some() || row.value.is_some())
        .collect()
}

/// Returns a value of each run whose metrics could be read.
fn read(
    case: &CaseData<'_>,
    label: &str,
    value: impl Fn(&StepData<'_>, &MetricsRecord) -> Option<f64>,
) -> Option<Metric> {
    in_runs(case, label, |run, step| {
        let mut records = run.records.metrics.iter();
        let record = records.find(|one| one.step == step.index && one.problem.is_none())?;
        value(step, record)
    })
}

fn found<'r>(record: &'r MetricsRecord, name: &str) -> Option<&'r MetricSeries> {
    record.series.iter().find(|one| one.name == name)
}

/// Returns the growth of a counter per request. A counter missing in a run has not counted yet,
/// unless it was omitted.
fn per_request(step: &StepData<'_>, record: &MetricsRecord, name: &str) -> Option<f64> {
    let growth = match found(record, name) {
        Some(series) => series.growth()?,
        None if record.left_out == 0 => 0.0,
        None => return None,
    };
    let ended = step.totals.ended();
    (ended > 0).then(|| growth / as_f64(ended))
}

/// Returns the gaps of a contender: each problem with the number of runs that have it, and series
/// that were not recorded.
fn remarks_on(case: &CaseData<'_>) -> Vec<String> {
    let mut problems: BTreeMap<&str, usize> = BTreeMap::new();
    for run in &case.runs {
        let records = run.records.metrics.iter();
        let mut of_run: Vec<&str> = records.filter_map(|one| one.problem.as_deref()).collect();
        of_run.sort_unstable();
        of_run.dedup();
        for problem in of_run {
            *problems.entry(problem).or_default() += 1;
        }
    }
    let label = &case.label;
    let problems = problems.into_iter();
    let problems = problems.map(|(problem, runs)| {
        let of = counted(case.runs.len(), "run");
        format!("{label}, in {runs} of {of}: {problem}.")
    });
    let records = case.runs.iter().flat_map(|run| &run.records.metrics);
    let left_out = records
        .map(|one| one.left_out)
        .max()
        .filter(|most| *most > 0);
    let left_out = left_out.map(|most| {
        format!("{label}: {most} further series are not recorded; `keep` of `[metrics]` chooses.")
    });
    problems.chain(left_out).collect()
}
