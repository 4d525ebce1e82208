//! The slices of one step of `bakeoff load` added up, and what they say about their own worth.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::{
    Connections, CpuTime, ErrorClass, FleetReceipt, LoadInterval, LoadSpec, PartReceipt,
    RequestInterval,
};
use bakeoff_model::resource::TcpCounters;
use bakeoff_model::validity::Validity;
use bakeoff_validity::{Evidence, Judged, Setting, Slice, Step};
use serde_json::{Map, Value, json};

/// One step added up.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) target: String,
    pub(crate) reactor: String,
    pub(crate) connections: Connections,
    /// Asked for, and allowed by the service; 0 without streams.
    pub(crate) streams: (u32, u32),
    pub(crate) requests: u64,
    pub(crate) errors: BTreeMap<ErrorClass, u64>,
    pub(crate) examples: BTreeMap<ErrorClass, String>,
    pub(crate) service_time: Histogram,
    pub(crate) response_time: Option<Histogram>,
    pub(crate) send_lag: Option<Histogram>,
    pub(crate) censored: Histogram,
    pub(crate) offered: Option<u64>,
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
    /// From answers to the next requests in their place, ns; closed load only.
    pub(crate) turnaround_ns: Option<u64>,
    pub(crate) cpu: CpuTime,
    pub(crate) threads: usize,
    pub(crate) by_request: Vec<RequestInterval>,
    /// What each load generator did, where there are several.
    pub(crate) fleet: Option<Box<FleetReceipt>>,
    /// How each step is judged.
    settings: Vec<Setting>,
    judged: Step,
    start_ns: Option<u64>,
    end_ns: u64,
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
            turnaround_ns: None,
            cpu: CpuTime::default(),
            threads: 1,
            by_request: Vec::new(),
            fleet: None,
            settings: (0..spec.steps.len())
                .map(|step| Setting::of_load(spec, step))
                .collect(),
            judged: Step::default(),
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

    /// Adds a slice, with what TCP counted in it where that could be read.
    pub(crate) fn add(&mut self, interval: &LoadInterval, tcp: Option<TcpCounters>) {
        if let Some(setting) = self.settings.get(interval.step) {
            let slice = Slice {
                load: interval,
                contender: None,
                backend: None,
                host: None,
                tcp: tcp.as_ref(),
            };
            self.judged.add(&Judged::new(Evidence::of(setting, &slice)));
        }
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
        if let Some(turnaround_ns) = interval.turnaround_ns {
            *self.turnaround_ns.get_or_insert(0) += turnaround_ns;
        }
        self.cpu.user_ns += interval.generator_cpu.user_ns;
        self.cpu.system_ns += interval.generator_cpu.system_ns;
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
        self.start_ns.get_or_insert(interval.start_ns);
        self.end_ns = interval.end_ns;
    }

    /// Whether the kernel's receive timestamps ended the times, by the reactor's documented name.
    pub(crate) fn is_timed_by_kernel(&self) -> bool {
        self.reactor.ends_with("-stamped") || self.reactor.ends_with("-rx-timestamps")
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

    /// Failed requests over all that ended, 0 to 1; `None` when none did.
    pub(crate) fn error_share(&self) -> Option<f64> {
        let failed: u64 = self.errors.values().sum();
        (self.ended() > 0).then(|| as_f64(failed) / as_f64(self.ended()))
    }

    /// Requests that came to an end, good or bad.
    fn ended(&self) -> u64 {
        self.requests + self.errors.values().sum::<u64>()
    }

    /// Requests that were answered, rightly or wrongly.
    fn answered(&self) -> u64 {
        let wrong = [ErrorClass::UnexpectedStatus, ErrorClass::WrongBody];
        let wrong = wrong.iter().filter_map(|class| self.errors.get(class));
        self.requests + wrong.sum::<u64>()
    }

    /// The response times where there are any, else the service times.
    pub(crate) fn times(&self) -> &Histogram {
        self.response_time.as_ref().unwrap_or(&self.service_time)
    }

    /// A quantile of [`Summary::times`], ns.
    pub(crate) fn quantile_ns(&self, share: f64) -> Option<f64> {
        self.times().quantile_ns(share).map(as_f64)
    }

    /// Whether the numbers are fair, and everything that was found.
    pub(crate) fn validity(&self) -> Validity {
        self.judged.validity()
    }

    /// The load generator's CPU time for each request that ended, us.
    pub(crate) fn cpu_us_per_request(&self) -> f64 {
        as_f64(self.cpu.total_ns()) / 1e3 / as_f64(self.ended().max(1))
    }

    /// From an answer to the next request in its place on average, us; closed load only.
    pub(crate) fn turnaround_us(&self) -> Option<f64> {
        let turnaround_us = as_f64(self.turnaround_ns?) / 1e3;
        Some(turnaround_us / as_f64(self.answered().max(1)))
    }

    pub(crate) fn generator_busy(&self) -> f64 {
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

    /// The documented JSON object.
    pub(crate) fn json(&self) -> Value {
        let errors: Map<String, Value> = self
            .errors
            .iter()
            .map(|(class, count)| (class.name().into(), json!(count)))
            .collect();
        let validity = self.validity();
        let warnings: Vec<String> = validity.warnings().collect();
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
            "cpu_us_per_request": self.cpu_us_per_request(),
            "generator_busy": self.generator_busy(),
            "fair": validity.is_fair(),
            "validity": validity,
            "warnings": warnings,
            "diagnostics": validity.diagnostics().collect::<Vec<_>>(),
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
        if let Some(turnaround_us) = self.turnaround_us() {
            object["turnaround_us_mean"] = json!(turnaround_us);
        }
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
        if !self.by_request.is_empty() {
            object["by_request"] = self.by_request.iter().map(part_json).collect();
        }
        if let Some(fleet) = &self.fleet {
            object["generators"] = generators_json(fleet);
        }
        object
    }
}

fn merge(into: &mut Option<Histogram>, from: Option<&Histogram>) {
    if let Some(from) = from {
        into.get_or_insert_with(Histogram::new).merge(from);
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
