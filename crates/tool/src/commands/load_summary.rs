//! What `bakeoff load` prints: the slices of one step added up, as text or as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::{Connections, CpuTime, ErrorClass, LoadInterval, LoadSpec};
use serde_json::{Map, Value, json};

/// Share of the loader's threads above which it was probably the bottleneck.
const GENERATOR_FULL: f64 = 0.9;

/// One step added up.
#[derive(Debug)]
pub(crate) struct Summary {
    target: String,
    reactor: String,
    connections: Connections,
    /// Asked for, and allowed by the service; 0 without streams.
    streams: (u32, u32),
    requests: u64,
    errors: BTreeMap<ErrorClass, u64>,
    examples: BTreeMap<ErrorClass, String>,
    service_time: Histogram,
    response_time: Option<Histogram>,
    send_lag: Option<Histogram>,
    censored: Histogram,
    offered: Option<u64>,
    sent_bytes: u64,
    received_bytes: u64,
    cpu: CpuTime,
    threads: usize,
    start_ns: Option<u64>,
    end_ns: u64,
}

impl Summary {
    /// An empty one.
    pub(crate) fn new(spec: &LoadSpec) -> Self {
        Self {
            target: spec.target.address.clone(),
            reactor: String::new(),
            connections: Connections::default(),
            streams: (spec.in_flight, 0),
            requests: 0,
            errors: BTreeMap::new(),
            examples: BTreeMap::new(),
            service_time: Histogram::new(),
            response_time: None,
            send_lag: None,
            censored: Histogram::new(),
            offered: None,
            sent_bytes: 0,
            received_bytes: 0,
            cpu: CpuTime::default(),
            threads: 1,
            start_ns: None,
            end_ns: 0,
        }
    }

    /// Notes what was really opened.
    pub(crate) fn ready(&mut self, connections: Connections, reactor: &str, streams: u32) {
        self.connections = connections;
        self.streams.1 = streams;
        reactor.clone_into(&mut self.reactor);
    }

    /// Adds a slice.
    pub(crate) fn add(&mut self, interval: &LoadInterval) {
        self.requests += interval.requests;
        for (class, error) in &interval.errors {
            *self.errors.entry(*class).or_default() += error.count;
            if let Some(example) = &error.example {
                self.examples
                    .entry(*class)
                    .or_insert_with(|| example.clone());
            }
        }
        self.service_time.merge(&interval.service_time);
        merge(&mut self.response_time, interval.response_time.as_ref());
        merge(&mut self.send_lag, interval.send_lag.as_ref());
        self.censored.merge(&interval.censored);
        if let Some(offered) = interval.offered {
            *self.offered.get_or_insert(0) += offered;
        }
        self.sent_bytes += interval.sent_bytes;
        self.received_bytes += interval.received_bytes;
        self.cpu.user_ns += interval.loader_cpu.user_ns;
        self.cpu.system_ns += interval.loader_cpu.system_ns;
        self.threads = interval.loader_threads;
        self.connections.reconnects += interval.connections.reconnects;
        self.start_ns.get_or_insert(interval.start_ns);
        self.end_ns = interval.end_ns;
    }

    /// Seconds that the window was open.
    pub(crate) fn duration_s(&self) -> f64 {
        let start = self.start_ns.unwrap_or(self.end_ns);
        as_f64(self.end_ns.saturating_sub(start)) / 1e9
    }

    /// Successful requests per second.
    pub(crate) fn requests_per_s(&self) -> f64 {
        let duration = self.duration_s();
        if duration > 0.0 {
            as_f64(self.requests) / duration
        } else {
            0.0
        }
    }

    /// Failed requests over all that ended, 0 to 1.
    pub(crate) fn error_share(&self) -> f64 {
        let failed: u64 = self.errors.values().sum();
        as_f64(failed) / as_f64((failed + self.requests).max(1))
    }

    /// A quantile of the response time where there is one, else of the service time, ns.
    pub(crate) fn quantile_ns(&self, share: f64) -> Option<f64> {
        let histogram = self.response_time.as_ref().unwrap_or(&self.service_time);
        histogram.quantile_ns(share).map(as_f64)
    }

    fn generator_busy(&self) -> f64 {
        let wall = self.duration_s() * 1e9 * as_f64(self.threads as u64);
        if wall > 0.0 {
            as_f64(self.cpu.total_ns()) / wall
        } else {
            0.0
        }
    }

    /// One line about the slice that just ended.
    pub(crate) fn live_line(&self, interval: &LoadInterval) -> String {
        let seconds = as_f64(interval.end_ns.saturating_sub(interval.start_ns).max(1)) / 1e9;
        let quantile = |share| interval.service_time.quantile_ns(share).map_or(0.0, as_f64) / 1e6;
        let failed: u64 = interval.errors.values().map(|error| error.count).sum();
        format!(
            "{:5.0} s {:10.0} req/s   p50 {:8.3} ms   p99 {:8.3} ms   errors {failed}",
            self.duration_s(),
            as_f64(interval.requests) / seconds,
            quantile(0.5),
            quantile(0.99),
        )
    }

    /// The documented JSON object, one line.
    pub(crate) fn json(&self) -> anyhow::Result<String> {
        let errors: Map<String, Value> = self
            .errors
            .iter()
            .map(|(class, count)| (class.name().into(), json!(count)))
            .collect();
        let mut object = json!({
            "target": self.target,
            "reactor": self.reactor,
            "requests": self.requests,
            "duration_s": self.duration_s(),
            "requests_per_s": self.requests_per_s(),
            "cpu_s": {
                "user": as_f64(self.cpu.user_ns) / 1e9,
                "system": as_f64(self.cpu.system_ns) / 1e9,
            },
            "cpu_us_per_request":
                as_f64(self.cpu.total_ns()) / 1e3 / as_f64(self.requests.max(1)),
            "generator_busy": self.generator_busy(),
            "errors": errors,
            "connections": self.connections,
            "sent_bytes": self.sent_bytes,
            "received_bytes": self.received_bytes,
            "service_time_us": times_us(&self.service_time),
            "unanswered": {
                "count": self.censored.count(),
                "age_us_max": self.censored.max_ns().map(|ns| as_f64(ns) / 1e3),
            },
        });
        let (asked, allowed) = self.streams;
        if allowed > 0 {
            object["streams"] = json!({ "asked": asked, "allowed": allowed });
        }
        if let Some(response_time) = &self.response_time {
            object["response_time_us"] = times_us(response_time);
        }
        if let Some(send_lag) = &self.send_lag {
            object["send_lag_us"] = times_us(send_lag);
        }
        if let Some(offered) = self.offered {
            object["offered"] = json!(offered);
            object["offered_per_s"] = json!(as_f64(offered) / self.duration_s().max(1e-9));
        }
        Ok(serde_json::to_string(&object)? + "\n")
    }

    /// A page for a person, within 80 columns.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<14} {value}");
        };
        line("target", format!("{} by {}", self.target, self.reactor));
        let connections = self.connections;
        line(
            "connections",
            format!(
                "{} of {} established, {} made anew",
                connections.established, connections.asked, connections.reconnects
            ),
        );
        let (asked, allowed) = self.streams;
        if allowed > 0 {
            let text = format!("{allowed} on each connection, {asked} asked for");
            line("streams", text);
        }
        line(
            "requests",
            format!("{} in {:.2} s", self.requests, self.duration_s()),
        );
        line("rate", format!("{:.1} requests/s", self.requests_per_s()));
        if let Some(offered) = self.offered {
            let rate = as_f64(offered) / self.duration_s().max(1e-9);
            line("offered", format!("{offered}, {rate:.1} requests/s"));
        }
        line(
            "traffic",
            format!(
                "{:.2} MiB sent, {:.2} MiB received",
                as_f64(self.sent_bytes) / 1_048_576.0,
                as_f64(self.received_bytes) / 1_048_576.0
            ),
        );
        if let Some(response_time) = &self.response_time {
            line("response time", times_text(response_time));
        }
        line("service time", times_text(&self.service_time));
        if let Some(send_lag) = &self.send_lag {
            line("send lag", times_text(send_lag));
        }
        if self.censored.count() > 0 {
            let oldest = self.censored.max_ns().map_or(0.0, as_f64) / 1e6;
            let count = self.censored.count();
            line(
                "unanswered",
                format!("{count} at the end, the oldest for {oldest:.1} ms"),
            );
        }
        line("errors", self.errors_text());
        line("generator", self.generator_text());
        text
    }

    fn errors_text(&self) -> String {
        if self.errors.is_empty() {
            return "none".to_owned();
        }
        let list: Vec<String> = self
            .errors
            .iter()
            .map(|(class, count)| match self.examples.get(class) {
                Some(example) => format!("{count} {} ({example})", class.name()),
                None => format!("{count} {}", class.name()),
            })
            .collect();
        format!("{:.3} %: {}", self.error_share() * 100.0, list.join("; "))
    }

    fn generator_text(&self) -> String {
        let busy = self.generator_busy();
        let verdict = if busy > GENERATOR_FULL {
            "it was probably the bottleneck"
        } else {
            "it had headroom"
        };
        let per_request = as_f64(self.cpu.total_ns()) / 1e3 / as_f64(self.requests.max(1));
        format!(
            "{:.0} % of {} thread{}, {per_request:.1} us CPU per request: {verdict}",
            busy * 100.0,
            self.threads,
            if self.threads == 1 { "" } else { "s" },
        )
    }
}

fn merge(into: &mut Option<Histogram>, from: Option<&Histogram>) {
    if let Some(from) = from {
        into.get_or_insert_with(Histogram::new).merge(from);
    }
}

fn times_us(histogram: &Histogram) -> Value {
    let quantile = |share| histogram.quantile_ns(share).map(|ns| as_f64(ns) / 1e3);
    json!({
        "p50": quantile(0.5),
        "p75": quantile(0.75),
        "p90": quantile(0.9),
        "p95": quantile(0.95),
        "p99": quantile(0.99),
        "p99_9": quantile(0.999),
        "max": histogram.max_ns().map(|ns| as_f64(ns) / 1e3),
        "mean": histogram.mean_ns().map(|ns| ns / 1e3),
    })
}

fn times_text(histogram: &Histogram) -> String {
    let Some(max) = histogram.max_ns() else {
        return "nothing measured".to_owned();
    };
    let milliseconds = |share| histogram.quantile_ns(share).map_or(0.0, as_f64) / 1e6;
    format!(
        "p50 {:.3}  p90 {:.3}  p99 {:.3}  p99.9 {:.3}  max {:.3} ms",
        milliseconds(0.5),
        milliseconds(0.9),
        milliseconds(0.99),
        milliseconds(0.999),
        as_f64(max) / 1e6
    )
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a load stay below 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}
