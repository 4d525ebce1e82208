//! A parameter with numbers as an axis: how throughput, CPU per request and memory depend on the
//! number of routes, of workers, or on another number in a matrix.

use std::collections::{BTreeMap, BTreeSet};

use bakeoff_model::plan::case_label;

use crate::data::benchmark::{BenchmarkData, CaseData};
use crate::data::metric::{Metric, Quantity};
use crate::data::stated_step::{self, StatedStep};
use crate::tables::summary::BenchmarkSummary;

/// A benchmark along one parameter.
#[derive(Debug)]
pub struct Scaling {
    /// The parameter.
    pub parameter: String,
    /// Values of the parameter as written, the smallest first.
    pub values: Vec<String>,
    /// The steps that are shown, in order.
    pub steps: Vec<StatedStep>,
    /// Index of the step that tables state.
    pub stated: Option<usize>,
    /// Lines, one for each contender and combination of its other parameters that has enough
    /// values.
    pub lines: Vec<Line>,
}

/// A contender with its other parameters, along the parameter.
#[derive(Debug)]
pub struct Line {
    /// Contender and its other parameters.
    pub label: String,
    /// Cases of the line, by the value of the parameter, ascending.
    pub places: Vec<ScalingPoint>,
}

impl Line {
    /// Returns the metric at a value, a step and a quantity, by their indices.
    pub fn metric(&self, value: usize, step: usize, quantity: usize) -> Option<&Metric> {
        let place = self.places.iter().find(|place| place.value == value)?;
        place.metrics.get(step)?.get(quantity)?.as_ref()
    }
}

/// A case of a line.
#[derive(Debug)]
pub struct ScalingPoint {
    /// Index in [`Scaling::values`].
    pub value: usize,
    /// The value as a number.
    pub number: f64,
    /// Index of the case in its benchmark.
    pub case: usize,
    /// Metrics of [`Quantity::ALL`] for each step that is shown.
    pub metrics: Vec<[Option<Metric>; 3]>,
}

/// Returns one entry for each numeric parameter of which a contender has at least three values.
pub(super) fn scalings(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Vec<Scaling> {
    let names: BTreeSet<String> = benchmark
        .cases
        .iter()
        .flat_map(|case| parameters(case).into_keys())
        .collect();
    let names = names.into_iter();
    names
        .filter_map(|name| scaling(benchmark, summary, &name))
        .collect()
}

fn scaling(
    benchmark: &BenchmarkData<'_>,
    summary: &BenchmarkSummary,
    parameter: &str,
) -> Option<Scaling> {
    let mut groups = groups(benchmark, summary, parameter)?;
    groups.retain(|(_, cases)| cases.len() >= VALUES_MIN);
    let mut values: Vec<(f64, String)> = Vec::new();
    for one in groups.iter().flat_map(|(_, cases)| cases) {
        if !values.iter().any(|(_, known)| *known == one.text) {
            values.push((one.number, one.text.clone()));
        }
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let steps = stated_step::shown(&stated_step::measured(benchmark), summary.stated.as_ref());
    let place = |one: &Value| ScalingPoint {
        value: { values.iter() }
            .position(|(_, known)| *known == one.text)
            .unwrap_or_default(),
        number: one.number,
        case: one.case,
        metrics: { steps.iter() }
            .map(|step| metrics(&benchmark.cases[one.case], step))
            .collect(),
    };
    let lines = groups.into_iter().map(|(label, cases)| {
        let mut places: Vec<ScalingPoint> = cases.iter().map(place).collect();
        places.sort_by_key(|place| place.value);
        Line { label, places }
    });
    let lines: Vec<Line> = lines.collect();
    let texts = values.iter().map(|(_, text)| text.clone());
    let is_stated = |step: &StatedStep| summary.stated.as_ref() == Some(step);
    (!lines.is_empty()).then(|| Scaling {
        parameter: parameter.to_owned(),
        values: texts.collect(),
        stated: steps.iter().position(is_stated),
        steps,
        lines,
    })
}

/// Minimum number of values for an axis; tables show fewer, too.
const VALUES_MIN: usize = 3;

/// A case with its value of the parameter.
struct Value {
    number: f64,
    text: String,
    case: usize,
}

/// Returns the ranked cases, by contender and other parameters, in their order. `None` if a value
/// is not a number.
fn groups(
    benchmark: &BenchmarkData<'_>,
    summary: &BenchmarkSummary,
    parameter: &str,
) -> Option<Vec<(String, Vec<Value>)>> {
    let mut groups: Vec<(String, Vec<Value>)> = Vec::new();
    for (index, case) in benchmark.cases.iter().enumerate() {
        let unranked = summary.unranked.iter().any(|one| one.label == case.label);
        let Some(text) = parameters(case).remove(parameter).filter(|_| !unranked) else {
            continue;
        };
        let number = text.parse().ok();
        let value = Value {
            number: number.filter(|number: &f64| number.is_finite())?,
            text,
            case: index,
        };
        let label = without(case, parameter);
        match groups.iter_mut().find(|(known, _)| *known == label) {
            Some((_, values)) => values.push(value),
            None => groups.push((label, vec![value])),
        }
    }
    Some(groups)
}

fn metrics(case: &CaseData<'_>, step: &StatedStep) -> [Option<Metric>; 3] {
    Quantity::ALL.map(|quantity| quantity.at(case, &step.label))
}

fn parameters(case: &CaseData<'_>) -> BTreeMap<String, String> {
    let run = case.runs.first().map(|run| &run.records.begin.run);
    run.map_or_else(BTreeMap::new, |run| run.parameters.by_name())
}

/// Returns the label of a case without one of its parameters.
fn without(case: &CaseData<'_>, parameter: &str) -> String {
    let mut others = parameters(case);
    others.remove(parameter);
    let run = case.runs.first().map(|run| &run.records.begin.run);
    run.map_or_else(String::new, |run| {
        case_label(&run.contender, &others.into())
    })
}
