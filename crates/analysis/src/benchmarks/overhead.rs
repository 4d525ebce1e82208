//! Contenders as a share of their baselines: the cost of a layer over the bare server below it. The
//! baseline of a contender is stated in its file and recorded with each of its runs.

use std::collections::BTreeSet;

use bakeoff_base::natural;
use bakeoff_base::problem::Problem;
use bakeoff_model::record::Begin;
use bakeoff_model::validity::Validity;
use bakeoff_stats::{Criteria, Estimate, compare};

use super::load::LoadAnalysis;
use crate::data::benchmark::{BenchmarkData, CaseData};
use crate::data::metric::{Metric, Quantity};
use crate::data::number::enumerated;
use crate::data::stated_step::{self, StatedStep};
use crate::data::validity;

/// Contenders as a share of their baselines, under one set of conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Overhead {
    /// Backend, limits, runtime and profile in words.
    pub conditions: String,
    /// The backend.
    pub backend: String,
    /// Shares by benchmark, then step, then contender.
    pub shares: Vec<BaselineShare>,
    /// Contenders without a share, and why.
    pub without: Vec<Without>,
}

/// A contender and its baseline at one step of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineShare {
    /// The benchmark.
    pub benchmark: String,
    /// Contender and parameters.
    pub label: String,
    /// Baseline of the contender, with its parameters.
    pub baseline: String,
    /// The step.
    pub step: StatedStep,
    /// Whether this is the stated step of the benchmark's tables.
    pub is_stated: bool,
    /// Whether charts show this step: it is the first, the stated or the last one.
    pub is_shown: bool,
    /// A ratio for each of [`Quantity::ALL`].
    pub ratios: [Option<Ratio>; 3],
}

/// The ratio of a contender's number to its baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// The contender's number, mean over runs.
    pub contender: f64,
    /// The baseline's number, mean over runs.
    pub baseline: f64,
    /// The ratio of the geometric means with its own 95 % interval.
    pub ratio: Estimate,
    /// The worst verdict on the steps behind both.
    pub validity: Validity,
}

/// Contenders that have no share, for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Without {
    /// Contenders with their parameters.
    pub labels: Vec<String>,
    /// The reason, to follow the names and a colon.
    pub reason: String,
}

impl Overhead {
    /// Returns the benchmarks with a share, in the report's order.
    #[must_use]
    pub fn benchmarks(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for share in &self.shares {
            if !names.contains(&share.benchmark.as_str()) {
                names.push(&share.benchmark);
            }
        }
        names
    }

    /// Returns the shares of a benchmark at its stated step, the highest throughput first, to be
    /// quoted.
    #[must_use]
    pub fn headline(&self, benchmark: &str) -> Vec<&BaselineShare> {
        let shares = self.shares.iter();
        let wanted = shares.filter(|one| one.is_stated && one.benchmark == benchmark);
        let mut wanted: Vec<&BaselineShare> = wanted.collect();
        let throughput = |share: &BaselineShare| {
            let [throughput, ..] = &share.ratios;
            throughput.as_ref().map_or(0.0, |one| one.ratio.point)
        };
        wanted.sort_by(|a, b| throughput(b).total_cmp(&throughput(a)));
        wanted
    }
}

/// A contender at a step, through all benchmarks.
#[derive(Debug)]
pub struct Line<'s> {
    /// Contender and parameters.
    pub label: &'s str,
    /// Baseline of the contender.
    pub baseline: &'s str,
    /// The step at which they are compared.
    pub step: &'s StatedStep,
    /// Shares, one for each of [`Overhead::benchmarks`] that has it.
    pub shares: Vec<Option<&'s BaselineShare>>,
}

impl Overhead {
    /// Returns the rows of tables: the contenders, each with the steps that are shown.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let benchmarks = self.benchmarks();
        let mut lines: Vec<Line<'_>> = Vec::new();
        for share in self.shares.iter().filter(|share| share.is_shown) {
            let same = |line: &Line<'_>| {
                line.label == share.label
                    && line.baseline == share.baseline
                    && line.step == &share.step
            };
            let place = lines.iter().position(same).unwrap_or_else(|| {
                lines.push(Line {
                    label: &share.label,
                    baseline: &share.baseline,
                    step: &share.step,
                    shares: vec![None; benchmarks.len()],
                });
                lines.len() - 1
            });
            let column = benchmarks.iter().position(|name| *name == share.benchmark);
            if let Some(cell) = column.and_then(|column| lines[place].shares.get_mut(column)) {
                *cell = Some(share);
            }
        }
        // Steps stay in the order in which they first occurred.
        lines.sort_by(|a, b| natural::compare(a.label, b.label));
        lines
    }
}

/// Returns one entry for each set of conditions; none if no contender has a baseline.
pub(crate) fn overheads(loads: &[LoadAnalysis<'_>]) -> Vec<Overhead> {
    let baselines: BTreeSet<&str> = loads
        .iter()
        .flat_map(|load| &load.data.cases)
        .filter_map(stated_baseline)
        .collect();
    if baselines.is_empty() {
        return Vec::new();
    }
    let mut overheads: Vec<Overhead> = Vec::new();
    for load in loads {
        let conditions = &load.data.conditions;
        let place = overheads
            .iter()
            .position(|one| one.conditions == *conditions);
        let place = place.unwrap_or_else(|| {
            overheads.push(Overhead {
                conditions: conditions.clone(),
                backend: load.data.backend.clone(),
                shares: Vec::new(),
                without: Vec::new(),
            });
            overheads.len() - 1
        });
        add(&mut overheads[place], load, &baselines);
    }
    overheads
}

/// Adds the contenders of one benchmark. `all` are the contenders that are the baseline of another.
fn add(overhead: &mut Overhead, load: &LoadAnalysis<'_>, all: &BTreeSet<&str>) {
    let benchmark = &load.data;
    let mut pairs: Vec<(&CaseData<'_>, &CaseData<'_>)> = Vec::new();
    for case in &benchmark.cases {
        // The ranking reports the contender's own problems.
        if reason_unranked(load, case).is_some() {
            continue;
        }
        match found(load, case) {
            Ok(baseline) => pairs.push((case, baseline)),
            Err(_) if all.contains(contender(case)) && stated_baseline(case).is_none() => {}
            Err(reason) => leave_out(&mut overhead.without, &case.label, reason.to_string()),
        }
    }
    let stated = load.summary.stated.as_ref();
    let steps = stated_step::measured(benchmark);
    let shown = stated_step::shown(&steps, stated);
    for step in &steps {
        let shares = pairs.iter().map(|(case, baseline)| BaselineShare {
            benchmark: benchmark.name.clone(),
            label: case.label.clone(),
            baseline: baseline.label.clone(),
            is_stated: stated == Some(step),
            is_shown: shown.contains(step),
            ratios: Quantity::ALL.map(|quantity| ratio(quantity, case, baseline, &step.label)),
            step: step.clone(),
        });
        overhead.shares.extend(shares);
    }
}

fn leave_out(without: &mut Vec<Without>, label: &str, reason: String) {
    match without.iter_mut().find(|one| one.reason == reason) {
        Some(one) if one.labels.iter().any(|known| known == label) => {}
        Some(one) => one.labels.push(label.to_owned()),
        None => without.push(Without {
            labels: vec![label.to_owned()],
            reason,
        }),
    }
}

/// Returns the case that a case is compared with, or why there is none.
fn found<'s, 'r>(
    load: &'s LoadAnalysis<'r>,
    case: &CaseData<'_>,
) -> Result<&'s CaseData<'r>, Problem> {
    let benchmark: &BenchmarkData<'r> = &load.data;
    let name = stated_baseline(case).ok_or("without a baseline")?;
    let cases = benchmark.cases.iter();
    let named: Vec<&CaseData<'r>> = cases.filter(|one| contender(one) == name).collect();
    let alike: Vec<&CaseData<'r>> = { named.iter().copied() }
        .filter(|one| agree(case, one))
        .collect();
    let of = &benchmark.name;
    match alike.as_slice() {
        [] if named.is_empty() => {
            Err(format!("the baseline {name} was not measured in {of}").into())
        }
        [] => {
            Err(format!("the baseline {name} was not measured with such parameters in {of}").into())
        }
        [one] => match reason_unranked(load, one) {
            None => Ok(*one),
            Some(reason) => {
                Err(format!("the baseline {} has no number in {of}: {reason}", one.label).into())
            }
        },
        several => {
            let labels: Vec<String> = several.iter().map(|one| one.label.clone()).collect();
            let labels = enumerated(&labels);
            Err(format!("{labels} may be the baseline in {of}, each with other parameters").into())
        }
    }
}

/// Whether all parameters that both have are equal.
fn agree(case: &CaseData<'_>, other: &CaseData<'_>) -> bool {
    let (Some(own), Some(other)) = (begin(case), begin(other)) else {
        return false;
    };
    let [own, theirs] = [own, other].map(|begin| begin.run.parameters.by_name());
    let mut own = own.iter();
    own.all(|(name, value)| theirs.get(name).is_none_or(|other| other == value))
}

fn begin<'s>(case: &'s CaseData<'_>) -> Option<&'s Begin> {
    case.runs.first().map(|run| &run.records.begin)
}

fn contender<'s>(case: &'s CaseData<'_>) -> &'s str {
    begin(case).map_or("", |begin| begin.run.contender.as_str())
}

fn stated_baseline<'s>(case: &'s CaseData<'_>) -> Option<&'s str> {
    begin(case)?.baseline.as_deref()
}

fn reason_unranked<'s>(load: &'s LoadAnalysis<'_>, case: &CaseData<'_>) -> Option<&'s str> {
    let mut unranked = load.summary.unranked.iter();
    let found = unranked.find(|one| one.label == case.label)?;
    Some(found.reason.as_str())
}

fn ratio(
    quantity: Quantity,
    case: &CaseData<'_>,
    baseline: &CaseData<'_>,
    label: &str,
) -> Option<Ratio> {
    let (own, other): (Metric, Metric) = (quantity.at(case, label)?, quantity.at(baseline, label)?);
    let criteria = Criteria::new(quantity.better());
    let ratio = compare(&own.sample, &other.sample, &criteria).ratio;
    ratio.point.is_finite().then(|| Ratio {
        contender: own.mean(),
        baseline: other.mean(),
        ratio,
        validity: validity::worst([&own.validity, &other.validity].into_iter()),
    })
}
