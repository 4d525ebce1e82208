//! The slices of one step of `bakeoff load` added up, and the evidence against their numbers.

use std::collections::BTreeMap;

use bakeoff_base::number::{as_f64, length_as_f64, significant, significant_or_dash};
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    Connections, ErrorClass, ErrorCount, FleetReceipt, LoadInterval, LoadSpec, PartReceipt,
    RequestInterval,
};
use bakeoff_model::measure::resource::TcpCounters;
use bakeoff_model::record::totals::{Times, Totals};
use bakeoff_model::validity::Validity;
use bakeoff_validity::{Evidence, JudgedSlice, Setting, Slice, StepJudge};
use serde_json::{Map, Value, json};

/// One step added up.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) target: String,
    pub(crate) reactor: String,
    pub(crate) connections: Connections,
    /// Asked for, and allowed by the service; 0 without streams.
    pub(crate) streams: (u32, u32),
    pub(crate) totals: Totals,
    pub(crate) times: Times,
    pub(crate) failures: BTreeMap<ErrorClass, ErrorCount>,
    pub(crate) send_lag: Option<Histogram>,
    pub(crate) censored: Histogram,
    pub(crate) offered: Option<u64>,
    pub(crate) sent_bytes: u64,
    pub(crate) redirects: u64,
    pub(crate) received_bytes: u64,
    /// From responses to the next requests in their place, ns; closed load only.
    pub(crate) turnaround_ns: Option<u64>,
    pub(crate) threads: usize,
    pub(crate) by_request: Vec<RequestInterval>,
    /// The receipt of each load generator, if there are several.
    pub(crate) fleet: Option<Box<FleetReceipt>>,
    /// How each step is judged.
    settings: Vec<Setting>,
    judged: StepJudge,
}

impl Summary {
    /// An empty one.
    pub(crate) fn new(spec: &LoadSpec) -> Self {
        Self {
            target: match &spec.target.unix_socket {
                Some(path) => format!("{path} as {}", spec.target.address),
                None => spec.target.address.clone(),
            },
            reactor: String::new(),
            connections: Connections::default(),
            streams: (spec.in_flight, 0),
            totals: Totals::default(),
            times: Times::default(),
            failures: BTreeMap::new(),
            send_lag: None,
            censored: Histogram::new(),
            offered: None,
            sent_bytes: 0,
            redirects: 0,
            received_bytes: 0,
            turnaround_ns: None,
            threads: 1,
            by_request: Vec::new(),
            fleet: None,
            settings: (0..spec.steps.len())
                .map(|step| Setting::of_load(spec, step))
                .collect(),
            judged: StepJudge::default(),
        }
    }

    /// Notes what was really opened.
    pub(crate) fn ready(&mut self, connections: Connections, reactor: &str, streams: u32) {
        self.connections = connections;
        self.streams.1 = streams;
        reactor.clone_into(&mut self.reactor);
    }

    /// Adds a slice, with its TCP counters if they could be read.
    pub(crate) fn add(&mut self, interval: &LoadInterval, tcp: Option<TcpCounters>) {
        if let Some(setting) = self.settings.get(interval.step) {
            let slice = Slice {
                load: interval,
                contender: None,
                backend: None,
                host: None,
                tcp: tcp.as_ref(),
                others: None,
                unloaded: None,
            };
            self.judged
                .add(&JudgedSlice::new(Evidence::of(setting, &slice)));
        }
        self.totals.add(interval);
        self.times.add(interval);
        for (class, error) in &interval.errors {
            self.failures.entry(*class).or_default().add(error);
        }
        Histogram::merge_some(&mut self.send_lag, interval.send_lag.as_ref());
        self.censored.merge(&interval.censored);
        if let Some(offered) = interval.offered {
            *self.offered.get_or_insert(0) += offered;
        }
        self.redirects += interval.redirects;
        self.sent_bytes += interval.sent_bytes;
        self.received_bytes += interval.received_bytes;
        if let Some(turnaround_ns) = interval.turnaround_ns {
            *self.turnaround_ns.get_or_insert(0) += turnaround_ns;
        }
        self.threads = interval.generator_threads;
        if self.by_request.is_empty() {
            self.by_request.clone_from(&interval.by_request);
        } else {
            for (sum, part) in self.by_request.iter_mut().zip(&interval.by_request) {
                sum.requests += part.requests;
                sum.failures += part.failures;
                sum.times.merge(&part.times);
            }
        }
        self.connections.reconnects += interval.connections.reconnects;
    }

    /// Requests with a response, right or wrong.
    pub(crate) fn answered(&self) -> u64 {
        let wrong = [ErrorClass::UnexpectedStatus, ErrorClass::WrongBody];
        let wrong = wrong
            .iter()
            .filter_map(|class| self.totals.errors.get(class));
        self.totals.requests + wrong.sum::<u64>()
    }

    /// Whether the numbers are fair, and everything that was found.
    pub(crate) fn validity(&self) -> Validity {
        self.judged.validity()
    }

    /// The load generator's CPU time for each request that ended, us; `None` without any success.
    pub(crate) fn cpu_us_per_request(&self) -> Option<f64> {
        let cpu_ns = self.totals.generator_cpu.total_ns();
        self.totals.cpu_us_per_request(cpu_ns)
    }

    /// From a response to the next request in its place on average, us; closed load only.
    pub(crate) fn turnaround_us(&self) -> Option<f64> {
        let turnaround_us = as_f64(self.turnaround_ns?) / 1e3;
        Some(turnaround_us / as_f64(self.answered().max(1)))
    }

    /// How much of its threads' time the load generator was busy, 0 to 1.
    pub(crate) fn generator_busy(&self) -> f64 {
        self.totals.generator_cores() / length_as_f64(self.threads.max(1))
    }

    /// One line about the slice that just ended.
    pub(crate) fn live_line(&self, interval: &LoadInterval) -> String {
        let times = interval.stated_times();
        let ms = |share| {
            significant_or_dash(measured_quantile_ns(times, share).map(|ns| as_f64(ns) / 1e6))
        };
        format!(
            "{:5.0} s {:>10} req/s   p50 {:>8} ms   p99 {:>8} ms   errors {}",
            self.totals.open_s(),
            significant(interval.requests_per_s()),
            ms(0.5),
            ms(0.99),
            interval.failed(),
        )
    }

    /// The documented JSON object.
    pub(crate) fn json(&self) -> Value {
        let (totals, cpu) = (&self.totals, self.totals.generator_cpu);
        let errors: Map<String, Value> = totals
            .errors
            .iter()
            .map(|(class, count)| (class.name().into(), json!(count)))
            .collect();
        let failures = self.failures.iter();
        let messages: Map<String, Value> = failures
            .map(|(class, error)| (class.name().into(), json!(error.messages)))
            .collect();
        let validity = self.validity();
        let warnings: Vec<String> = validity.warnings().collect();
        let mut object = json!({
            "target": self.target,
            "reactor": self.reactor,
            "requests": totals.requests,
            "duration_s": totals.open_s(),
            "requests_per_s": totals.requests_per_s(),
            "cpu_s": {
                "user": as_f64(cpu.user_ns) / 1e9,
                "system": as_f64(cpu.system_ns) / 1e9,
            },
            "cpu_us_per_request": self.cpu_us_per_request(),
            "generator_busy": self.generator_busy(),
            "fair": validity.is_fair(),
            "validity": validity,
            "warnings": warnings,
            "diagnostics": validity.diagnostics().collect::<Vec<_>>(),
            "errors": errors,
            "error_messages": messages,
            "connections": self.connections,
            "sent_bytes": self.sent_bytes,
            "redirects": self.redirects,
            "received_bytes": self.received_bytes,
            "service_time_us": times_us(&self.times.service),
            "unanswered": {
                "count": self.censored.count(),
                "age_us_max": self.censored.max_ns().map(|ns| as_f64(ns) / 1e3),
            },
        });
        let (asked, allowed) = self.streams;
        if let Some(turnaround_us) = self.turnaround_us() {
            object["turnaround_us_mean"] = json!(turnaround_us);
        }
        if allowed > 0 {
            object["streams"] = json!({ "asked": asked, "allowed": allowed });
        }
        if let Some(response_time) = &self.times.response {
            object["response_time_us"] = times_us(response_time);
        }
        if let Some(first_byte) = &self.times.first_byte {
            object["first_byte_us"] = times_us(first_byte);
        }
        if let Some(send_lag) = &self.send_lag {
            object["send_lag_us"] = times_us(send_lag);
        }
        if let Some(offered) = self.offered {
            object["offered"] = json!(offered);
            object["offered_per_s"] = json!(as_f64(offered) / totals.open_s().max(1e-9));
        }
        if !self.by_request.is_empty() {
            object["by_request"] = self.by_request.iter().map(part_json).collect();
        }
        if let Some(fleet) = &self.fleet {
            object["generators"] = generators_json(fleet);
        }
        object
    }
}

fn part_json(part: &RequestInterval) -> Value {
    json!({
        "name": part.name,
        "requests": part.requests,
        "failures": part.failures,
        "times_us": times_us(&part.times),
    })
}

fn generators_json(fleet: &FleetReceipt) -> Value {
    let us = |ns: i64| as_f64(ns.unsigned_abs()).copysign(if ns < 0 { -1.0 } else { 1.0 }) / 1e3;
    let part = |part: &PartReceipt| {
        json!({
            "name": part.name,
            "connections": part.connections,
            "requests": part.requests,
            "failed": part.failed,
            "cpu_s": as_f64(part.generator_cpu.total_ns()) / 1e9,
            "began_after_us": part.began_after_ns.map(us),
            "lost": part.lost,
        })
    };
    json!({
        "start_skew_us": fleet.start_skew_ns.map(|ns| as_f64(ns) / 1e3),
        "parts": fleet.parts.iter().map(part).collect::<Vec<_>>(),
    })
}

/// Returns a quantile, ns; `None` if so few requests were measured that none is above it: a p99.9
/// of ten requests would be their maximum by another name.
pub(super) fn measured_quantile_ns(times: &Histogram, share: f64) -> Option<u64> {
    let above = as_f64(times.count()) * (1.0 - share);
    let is_measured = share <= 0.5 || above > 1.0 - 1e-9;
    times.quantile_ns(share).filter(|_| is_measured)
}

fn times_us(histogram: &Histogram) -> Value {
    let quantile = |share| measured_quantile_ns(histogram, share).map(|ns| as_f64(ns) / 1e3);
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
