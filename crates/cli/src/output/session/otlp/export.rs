//! The numbers of slices as messages of OTLP. Nothing is sent here.

use std::time::{SystemTime, UNIX_EPOCH};

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::IntervalRecord;
use bakeoff_model::record::totals::{Growth, Totals};
use bakeoff_session::clock::now_rfc3339;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    DataPointFlags, Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

/// A metric.
#[derive(Debug, PartialEq, Eq)]
struct Quantity {
    name: &'static str,
    /// By UCUM. Prometheus makes it a part of the name.
    unit: &'static str,
    describe: &'static str,
}

static REQUESTS: Quantity = Quantity {
    name: "bakeoff.requests.rate",
    unit: "{request}/s",
    describe: "Successful requests per second of the slice",
};
static ERRORS: Quantity = Quantity {
    name: "bakeoff.errors.rate",
    unit: "{request}/s",
    describe: "Failed requests per second of the slice",
};
static P50: Quantity = Quantity {
    name: "bakeoff.response.time.p50",
    unit: "s",
    describe: "Median of the response times of the slice",
};
static P99: Quantity = Quantity {
    name: "bakeoff.response.time.p99",
    unit: "s",
    describe: "99th percentile of the response times of the slice",
};
static CPU: Quantity = Quantity {
    name: "bakeoff.contender.cpu",
    unit: "{cpu}",
    describe: "Cores' worth of CPU that the contender used while it was loaded",
};
static MEMORY: Quantity = Quantity {
    name: "bakeoff.contender.memory",
    unit: "By",
    describe: "Memory of the contender at the end of the slice",
};

/// The numbers of a slice, with the attributes that they have in common.
#[derive(Default)]
pub(super) struct Numbers {
    attributes: Vec<KeyValue>,
    values: Vec<(&'static Quantity, f64)>,
}

impl Numbers {
    /// Each number that the slice has.
    pub(super) fn of(suite: &str, run: &PlannedRun, interval: &IntervalRecord) -> Self {
        Self {
            attributes: attributes(suite, run, interval),
            values: values(interval),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the time series that are not in the others.
    pub(super) fn without(&self, others: &Self) -> Self {
        let goes_on =
            |quantity: &Quantity| others.values.iter().any(|(other, _)| *other == quantity);
        let is_same = self.attributes == others.attributes;
        let values = self.values.iter();
        Self {
            attributes: self.attributes.clone(),
            values: values
                .filter(|(quantity, _)| !(is_same && goes_on(quantity)))
                .copied()
                .collect(),
        }
    }

    /// Returns one metric for each number; without a value if the time series has ended.
    fn metrics(&self, now_ns: u64, has_ended: bool) -> impl Iterator<Item = Metric> {
        let no_value = DataPointFlags::NoRecordedValueMask as u32;
        self.values.iter().map(move |(quantity, value)| {
            let point = NumberDataPoint {
                attributes: self.attributes.clone(),
                time_unix_nano: now_ns,
                flags: if has_ended { no_value } else { 0 },
                value: (!has_ended).then_some(Value::AsDouble(*value)),
                ..NumberDataPoint::default()
            };
            Metric {
                name: quantity.name.to_owned(),
                description: quantity.describe.to_owned(),
                unit: quantity.unit.to_owned(),
                data: Some(Data::Gauge(Gauge {
                    data_points: vec![point],
                })),
                ..Metric::default()
            }
        })
    }
}

/// The source of the numbers: this program, from its start to its end.
pub(super) struct Source {
    resource: Resource,
}

impl Source {
    /// This program, with further attributes, which win over its own.
    pub(super) fn new(further: &[(String, String)]) -> Self {
        let own = [
            ("service.name", "bakeoff".to_owned()),
            ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("service.instance.id", instance()),
            ("host.name", host_name()),
        ];
        let is_replaced = |key: &str| further.iter().any(|(other, _)| other == key);
        let own = own.into_iter().filter(|(key, _)| !is_replaced(key));
        let own = own.map(|(key, value)| text(key, &value));
        let further = further.iter().map(|(key, value)| text(key, value));
        Self {
            resource: Resource {
                attributes: own.chain(further).collect(),
                ..Resource::default()
            },
        }
    }

    /// A request with these numbers, which also ends time series.
    pub(super) fn export(&self, numbers: &Numbers, ended: &Numbers) -> ExportMetricsServiceRequest {
        let now_ns = now_ns();
        let ended = ended.metrics(now_ns, true);
        let scope = ScopeMetrics {
            scope: Some(InstrumentationScope {
                name: "bakeoff".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..InstrumentationScope::default()
            }),
            metrics: numbers.metrics(now_ns, false).chain(ended).collect(),
            ..ScopeMetrics::default()
        };
        ExportMetricsServiceRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(self.resource.clone()),
                scope_metrics: vec![scope],
                ..ResourceMetrics::default()
            }],
        }
    }
}

/// An identity that no other start of this program has. It starts with the time, so that lists of
/// sessions are in order.
fn instance() -> String {
    let process = std::process::id();
    format!("{} {}:{process}", now_rfc3339(), host_name())
}

fn host_name() -> String {
    let uname = rustix::system::uname();
    uname.nodename().to_string_lossy().into_owned()
}

fn now_ns() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a metric has the time of the wall clock"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

fn attributes(suite: &str, run: &PlannedRun, interval: &IntervalRecord) -> Vec<KeyValue> {
    let is_open = interval.load.offered.is_some() || interval.latency_rate_per_s.is_some();
    let connections = Any::IntValue(interval.connections.into());
    vec![
        text("bakeoff.suite", suite),
        text("bakeoff.benchmark", &run.benchmark),
        text("bakeoff.contender", &run.process_label()),
        text(
            "bakeoff.phase",
            match interval.warm_up {
                true => "warm-up",
                false => "measured",
            },
        ),
        text("bakeoff.load", if is_open { "open" } else { "closed" }),
        attribute("bakeoff.connections", connections),
    ]
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Any::StringValue(value.to_owned()))
}

fn attribute(key: &str, value: Any) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

/// Each number that the slice has.
fn values(interval: &IntervalRecord) -> Vec<(&'static Quantity, f64)> {
    let mut totals = Totals::default();
    totals.add(&interval.load);
    let open_s = totals.open_s();
    let mut cpu = Growth::default();
    cpu.add_contender(interval, ResourceSample::cpu_ns);
    let memory = interval.contender_after.as_ref();
    let memory = memory.and_then(|sample| sample.memory);
    let mut values = vec![(&REQUESTS, totals.requests_per_s())];
    if open_s > 0.0 {
        values.push((&ERRORS, as_f64(totals.failed()) / open_s));
        if let Some(cpu_ns) = cpu.value() {
            values.push((&CPU, as_f64(cpu_ns) / 1e9 / open_s));
        }
    }
    if let Some(memory) = memory {
        values.push((&MEMORY, as_f64(memory.now_bytes)));
    }
    // Times within fast turns are those of bursts.
    if interval.load.turns.is_empty() {
        let times = interval.load.stated_times();
        for (quantity, share) in [(&P50, 0.5), (&P99, 0.99)] {
            if let Some(time_ns) = times.quantile_ns(share) {
                values.push((quantity, as_f64(time_ns) / 1e9));
            }
        }
    }
    values
}
