//! The slices of one step added up as reports do it: the numbers of a progress line are those of
//! the table.

use bakeoff_analysis::turns_of;
use bakeoff_base::number::{as_f64, significant, significant_or_dash};
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::record::totals::{Growth, Times, Totals, geometric_mean};

/// Slices added up.
#[derive(Debug, Default)]
pub(crate) struct StepTotal {
    connections: u32,
    /// Connections that were open when the step started.
    pub(crate) established: u32,
    warm_up: bool,
    totals: Totals,
    times: Times,
    cpu: Growth,
    peak_bytes: Option<u64>,
    /// Requests per second and CPU time per request of each turn.
    turns: Vec<(f64, Option<f64>)>,
    unfair: Option<&'static str>,
}

impl StepTotal {
    /// The titles of [`StepTotal::text`].
    pub(crate) const TITLES: &str =
        "    conns      req/s   p50 ms   p99 ms  errors  us/req     MiB";

    /// A step that starts, with the connections that it wants and those that are open.
    pub(crate) fn begin(connections: u32, established: u32) -> Self {
        Self {
            connections,
            established,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, record: &IntervalRecord) {
        self.connections = record.connections;
        self.warm_up = record.warm_up;
        self.totals.add(&record.load);
        self.times.add(&record.load);
        self.cpu.add_contender(record, ResourceSample::cpu_ns);
        let memory = record.contender_after.as_ref().and_then(|it| it.memory);
        self.peak_bytes = memory.map(|it| it.peak_bytes).or(self.peak_bytes);
        let turns = turns_of(record).into_iter();
        self.turns
            .extend(turns.map(|turn| (turn.requests_per_s, turn.cpu_us)));
        if !record.validity.is_fair() {
            self.unfair = Some(record.validity.name());
        }
    }

    /// Whether no time has been added.
    pub(crate) fn is_empty(&self) -> bool {
        self.totals.open_ns == 0
    }

    fn requests_per_s(&self) -> f64 {
        let turns = self.turns.iter().map(|(rate, _)| *rate);
        geometric_mean(turns).unwrap_or_else(|| self.totals.requests_per_s())
    }

    fn cpu_us_per_request(&self) -> Option<f64> {
        if self.turns.is_empty() {
            return self.totals.cpu_us_per_request(self.cpu.value()?);
        }
        let each: Option<Vec<f64>> = self.turns.iter().map(|(_, cpu_us)| *cpu_us).collect();
        geometric_mean(each?.into_iter())
    }

    /// The line, within 80 columns.
    pub(crate) fn text(&self) -> String {
        let missing = if self.established < self.connections {
            format!(" {} open", self.established)
        } else {
            String::new()
        };
        let mark = match (self.unfair, self.warm_up) {
            (_, true) => &format!(" warm-up {:.1} s", self.totals.open_s()),
            (Some(unfair), false) => &format!(" {unfair}"),
            (None, false) => "",
        };
        // The times of short turns are those of bursts.
        let times = self.turns.is_empty().then(|| self.times.stated());
        let milliseconds = |share| {
            let time_ns = times.and_then(|times| times.quantile_ns(share));
            significant_or_dash(time_ns.map(|time_ns| as_f64(time_ns) / 1e6))
        };
        format!(
            "    {:>5} {:>10} {:>8} {:>8} {:>7} {:>7} {:>7}{mark}{missing}",
            self.connections,
            significant(self.requests_per_s()),
            milliseconds(0.5),
            milliseconds(0.99),
            self.totals.failed(),
            significant_or_dash(self.cpu_us_per_request()),
            significant_or_dash(self.peak_bytes.map(|bytes| as_f64(bytes) / 1_048_576.0)),
        )
    }
}
