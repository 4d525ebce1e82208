//! The contender's own metrics around a measured step. They are read while nothing loads it, before
//! its counters of the first slice and after those of the last one: what that costs is in no slice.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::plan::RunKind;
use bakeoff_model::record::Record;
use bakeoff_model::request::Body;
use bakeoff_model::request::check::{Check, Expect};
use bakeoff_model::suite::metrics::{MetricSeries, MetricValues, MetricsRecord, OwnMetrics};
use bakeoff_places::contracts::Destination;
use bakeoff_store::event::{self, Observer};

use super::exposition::{self, Kind, Sample};
use super::{Account, LoadDriver, RunContext};
use crate::contracts::Halt;

/// A record has no more series than this.
const SERIES_MAX: usize = 100;

/// A series with a longer name and labels is not recorded, bytes.
const NAME_MAX: usize = 400;

/// Longest quoted reason, characters: it may quote the contender's response.
const WHY_MAX: usize = 200;

/// How long a contender may take to report its metrics.
const LIMIT: Duration = Duration::from_secs(5);

/// The formats that are read: the older one, without exemplars, is the shorter.
const ACCEPT: &str =
    "text/plain;version=0.0.4,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1";

/// The series of a contender by name and labels.
type Samples = BTreeMap<String, Sample>;

/// The series that a contender reported, or why it did not.
type Told = Result<Samples, Problem>;

impl LoadDriver {
    /// Reads the metrics of all contenders that take part before a step; none if the step is
    /// warm-up, and if the suite has no metrics.
    pub(super) async fn scrape(&self, on: &[RunContext<'_>], step: usize) -> Vec<Option<Told>> {
        let Some(first) = on.first() else {
            return Vec::new();
        };
        let run = &first.case.begin.run;
        let is_warm_up = run.steps.get(step).is_none_or(|step| step.warm_up);
        let metrics = first.parts.suite.metrics.as_ref();
        let metrics = metrics.filter(|_| run.kind == RunKind::Load && !is_warm_up);
        let Some(metrics) = metrics else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (one, account) in on.iter().zip(&self.accounts) {
            all.push(match account.lost {
                None => Some(ask(one, metrics).await),
                Some(_) => None,
            });
        }
        all
    }

    /// Reads the metrics again after the step, and records both readings.
    pub(super) async fn record_metrics(
        &mut self,
        on: &[RunContext<'_>],
        step: usize,
        before: Vec<Option<Told>>,
        observer: &mut dyn Observer,
    ) -> Result<(), Halt> {
        let all = on.iter().zip(&mut self.accounts).zip(before);
        for ((one, account), before) in all {
            let metrics = one.parts.suite.metrics.as_ref();
            let (Some(before), Some(metrics), None) = (before, metrics, &account.lost) else {
                continue;
            };
            let told = match before {
                Ok(before) => ask(one, metrics).await.map(|after| (before, after)),
                Err(problem) => Err(problem),
            };
            let record = record(step, told, metrics);
            note(account, &record);
            event::record(observer, one.case.run_id(), Record::Metrics(record))?;
        }
        Ok(())
    }
}

/// Keeps a note for the reader of the run, once for all steps.
fn note(account: &mut Account, record: &MetricsRecord) {
    if let Some(problem) = &record.problem {
        account.noted.insert(problem.clone());
    }
}

/// Asks a contender for its metrics.
async fn ask(on: &RunContext<'_>, metrics: &OwnMetrics) -> Told {
    let check = Check {
        group: String::new(),
        name: String::new(),
        method: "GET".to_owned(),
        path: metrics.path.clone(),
        headers: vec![("accept".to_owned(), ACCEPT.to_owned())],
        body: Body::default(),
        expect: Expect::default(),
    };
    let to = Destination::of(&*on.instance);
    let asking = tokio::time::timeout(LIMIT, on.parts.place.client.ask(&to, &check)).await;
    let late = || Err(format!("no response within {} s", LIMIT.as_secs()).into());
    let answer = asking.unwrap_or_else(|_| late());
    let told = answer.and_then(|answer| match answer.status {
        200 => {
            let text = String::from_utf8(answer.body).map_err(|_| "it is not UTF-8 text")?;
            exposition::read(&text)
        }
        status => Err(format!("status {status}, expected 200").into()),
    });
    told.map_err(|why| {
        let why: String = why.message().chars().take(WHY_MAX).collect();
        format!("its own metrics, GET {}: {why}", metrics.path).into()
    })
}

/// The series that are kept, with their values before and after a step.
fn record(
    step: usize,
    told: Result<(Samples, Samples), Problem>,
    metrics: &OwnMetrics,
) -> MetricsRecord {
    let (before, after) = match told {
        Ok(told) => told,
        Err(problem) => {
            return MetricsRecord {
                step,
                problem: Some(problem.to_string()),
                ..MetricsRecord::default()
            };
        }
    };
    let kept = after.iter().filter(|(_, one)| metrics.keeps(&one.metric));
    let (kept, long): (Vec<_>, Vec<_>) = kept.partition(|(name, _)| name.len() <= NAME_MAX);
    let left_out = kept.len().saturating_sub(SERIES_MAX) + long.len();
    let series = kept.into_iter().take(SERIES_MAX).map(|(name, sample)| {
        let (before, after) = (before.get(name).map(|one| one.value), sample.value);
        MetricSeries {
            name: name.clone(),
            values: match sample.kind {
                Kind::Counter => MetricValues::Counter {
                    before: before.unwrap_or_default(),
                    after,
                },
                Kind::Gauge => MetricValues::Gauge { after },
            },
        }
    });
    let series: Vec<MetricSeries> = series.collect();
    let problem = (series.is_empty() && left_out == 0).then(|| {
        let what = match metrics.keep.is_empty() {
            true => "no series",
            false => "no series that `keep` names",
        };
        format!("its own metrics, GET {}: {what}", metrics.path)
    });
    MetricsRecord {
        step,
        series,
        left_out,
        problem,
    }
}
