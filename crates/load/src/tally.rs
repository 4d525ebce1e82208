//! Counts of one thread in one slice. Allocated before the window opens, filled without sharing,
//! merged by the coordinator after the slice ended.

use std::collections::BTreeMap;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{CpuTime, ErrorClass, ErrorCount, MinMax, TurnCount};

/// Counts of one thread in one slice.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Index of the target.
    pub(crate) side: u32,
    /// Index of the slice in its step.
    pub(crate) slice: u32,
    /// When the slice started, monotonic ns.
    pub(crate) start_ns: u64,
    /// When the slice ended, monotonic ns.
    pub(crate) end_ns: u64,
    /// Whether this is the last slice of the step.
    pub(crate) last: bool,
    /// Successful requests.
    pub(crate) requests: u64,
    /// Failures by class.
    pub(crate) errors: BTreeMap<ErrorClass, ErrorCount>,
    /// Times from the actual send, for successful requests.
    pub(crate) service_time: Histogram,
    /// Times of successful requests whose response arrived in parts; `None` before the first one.
    pub(crate) in_parts: Option<Box<InParts>>,
    /// Times from the intended send, for successful requests of open load.
    pub(crate) response_time: Histogram,
    /// Actual minus intended send, open load.
    pub(crate) send_lag: Histogram,
    /// Ages of requests that never got a response.
    pub(crate) censored: Histogram,
    /// Requests that were due.
    pub(crate) offered: u64,
    /// Open connections when the slice started.
    pub(crate) established: u32,
    /// Requests that these connections could have in flight then.
    pub(crate) in_flight_max: u32,
    /// Time from responses to the next requests in their slots, ns: client-side overhead.
    pub(crate) turnaround_ns: u64,
    /// Time in which established connections were being reopened, ns.
    pub(crate) connecting_ns: u64,
    /// Connections reconnected.
    pub(crate) reconnects: u64,
    /// Successful responses with status 3xx.
    pub(crate) redirects: u64,
    /// Bytes handed to the kernel.
    pub(crate) sent_bytes: u64,
    /// Bytes taken from the kernel.
    pub(crate) received_bytes: u64,
    /// CPU time of the thread.
    pub(crate) cpu: CpuTime,
    /// Counts of each request, if there are several.
    pub(crate) by_request: Vec<RequestTally>,
    /// Requests that were sent and have no complete response, by their index.
    pub(crate) unanswered: BTreeMap<usize, u64>,
    /// Users that came to the end of the scenario.
    pub(crate) users_finished: u64,
    /// Users that gave up.
    pub(crate) users_gave_up: u64,
    /// Responses of the slowest and the fastest connection over the step.
    pub(crate) per_connection: Option<MinMax>,
    /// The turns of the target.
    pub(crate) turns: Vec<TurnTally>,
}

/// Counts of one thread in one turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnTally {
    /// The block of the turn.
    pub(crate) block: u64,
    /// Start of the turn, monotonic ns.
    pub(crate) start_ns: u64,
    /// When the last request had been sent, monotonic ns.
    pub(crate) until_ns: u64,
    /// When nothing was in flight any more, monotonic ns.
    pub(crate) end_ns: u64,
    /// Successful requests.
    pub(crate) requests: u64,
    /// Failed requests.
    pub(crate) failed: u64,
    /// CPU time of the target, ns; of one thread only.
    pub(crate) own_cpu_ns: u64,
    /// CPU time of the other targets, ns; of one thread only.
    pub(crate) others_cpu_ns: u64,
}

impl TurnTally {
    /// Adds the counts of another thread in the same turn.
    fn merge(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.requests += other.requests;
        self.failed += other.failed;
        self.own_cpu_ns += other.own_cpu_ns;
        self.others_cpu_ns += other.others_cpu_ns;
    }

    /// Converts the turn to the format of files, in a slice that started at `slice_ns`.
    pub(crate) fn count(&self, slice_ns: u64) -> TurnCount {
        TurnCount {
            block: self.block,
            start_us: self.start_ns.saturating_sub(slice_ns) / 1000,
            length_us: self.end_ns.saturating_sub(self.start_ns) / 1000,
            drain_us: self.end_ns.saturating_sub(self.until_ns) / 1000,
            requests: self.requests,
            failed: self.failed,
            own_cpu_us: self.own_cpu_ns / 1000,
            others_cpu_us: self.others_cpu_ns / 1000,
        }
    }
}

/// Times of requests whose response arrived in parts.
#[derive(Debug, Default)]
pub(crate) struct InParts {
    /// Times from the actual send to the end.
    service_time: Histogram,
    /// Times from the actual send to the first byte of the body.
    first_byte: Histogram,
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failure<'a> {
    /// Class of the failure.
    pub(crate) class: ErrorClass,
    /// The failure in words.
    pub(crate) message: &'a str,
    /// Index of the request; `None` if none was chosen yet.
    pub(crate) request: Option<usize>,
    /// Time from the send, or the start of the connection attempt, ns.
    pub(crate) age_ns: u64,
    /// Time from when the request was due, ns; equal to its age in closed load.
    pub(crate) response_ns: u64,
}

/// Counts of one request among several.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTally {
    /// Successes.
    pub(crate) requests: u64,
    /// Failures.
    pub(crate) failures: u64,
    /// Times of the successes.
    pub(crate) times: Histogram,
    /// Times of the failures, once there is one.
    pub(crate) failed_times: Option<Histogram>,
}

impl Tally {
    /// Returns an empty tally whose memory the kernel has really provided, so that counting does
    /// not fault. `parts` requests are counted separately.
    pub(crate) fn boxed(parts: usize) -> Box<Self> {
        let mut tally = Box::<Self>::default();
        tally.by_request.resize_with(parts, RequestTally::default);
        for histogram in tally.histograms() {
            histogram.clear();
        }
        tally
    }

    fn histograms(&mut self) -> impl Iterator<Item = &mut Histogram> {
        let own = [
            &mut self.service_time,
            &mut self.response_time,
            &mut self.send_lag,
            &mut self.censored,
        ];
        let parts = self.by_request.iter_mut().map(|part| &mut part.times);
        own.into_iter().chain(parts)
    }

    /// Counts a right response to a request; `response_ns` if requests have intended times.
    #[inline]
    pub(crate) fn succeed(&mut self, request: usize, service_ns: u64, response_ns: Option<u64>) {
        self.requests += 1;
        self.service_time.record(service_ns);
        if let Some(response_ns) = response_ns {
            self.response_time.record(response_ns);
        }
        if let Some(part) = self.by_request.get_mut(request) {
            part.requests += 1;
            part.times.record(response_ns.unwrap_or(service_ns));
        }
    }

    /// Counts a right response, which was counted already, as one whose first byte arrived this
    /// long before its end.
    pub(crate) fn come_in_parts(&mut self, service_ns: u64, before_end_ns: u64) {
        let in_parts = self.in_parts.get_or_insert_default();
        in_parts.service_time.record(service_ns);
        in_parts
            .first_byte
            .record(service_ns.saturating_sub(before_end_ns));
    }

    /// Returns times from the actual send to the first byte of the body; `None` if all responses
    /// arrived whole, so that these are the service times.
    pub(crate) fn first_byte(&self) -> Option<Histogram> {
        let in_parts = self.in_parts.as_ref()?;
        let mut times = self.service_time.without(&in_parts.service_time);
        times.merge(&in_parts.first_byte);
        Some(times)
    }

    /// Counts a failure, and counts it for its request if there are several.
    pub(crate) fn fail(&mut self, failure: &Failure<'_>) {
        let entry = self.errors.entry(failure.class).or_default();
        entry.count += 1;
        entry.time_ns_sum += failure.age_ns;
        entry.add_message(failure.message, 1);
        let times = entry.times.get_or_insert_default();
        times.record(failure.response_ns);
        let part = failure.request.and_then(|one| self.by_request.get_mut(one));
        if let Some(part) = part {
            part.failures += 1;
            let times = part.failed_times.get_or_insert_default();
            times.record(failure.response_ns);
        }
    }

    /// Returns the number of requests that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.errors.values().map(|error| error.count).sum()
    }

    /// Counts a request that was sent and has no complete response: whether the service acted on
    /// it is not known.
    pub(crate) fn leave_unanswered(&mut self, request: usize) {
        *self.unanswered.entry(request).or_default() += 1;
    }

    /// Adds the counts of another thread in the same slice.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.requests += other.requests;
        for (class, count) in &other.errors {
            self.errors.entry(*class).or_default().add(count);
        }
        self.service_time.merge(&other.service_time);
        if let Some(other) = &other.in_parts {
            let in_parts = self.in_parts.get_or_insert_default();
            in_parts.service_time.merge(&other.service_time);
            in_parts.first_byte.merge(&other.first_byte);
        }
        self.response_time.merge(&other.response_time);
        self.send_lag.merge(&other.send_lag);
        self.censored.merge(&other.censored);
        for (part, other) in self.by_request.iter_mut().zip(&other.by_request) {
            part.requests += other.requests;
            part.failures += other.failures;
            part.times.merge(&other.times);
            Histogram::merge_some(&mut part.failed_times, other.failed_times.as_ref());
        }
        for (request, count) in &other.unanswered {
            *self.unanswered.entry(*request).or_default() += count;
        }
        self.users_finished += other.users_finished;
        self.users_gave_up += other.users_gave_up;
        self.offered += other.offered;
        self.established += other.established;
        self.in_flight_max += other.in_flight_max;
        self.turnaround_ns += other.turnaround_ns;
        self.connecting_ns += other.connecting_ns;
        self.reconnects += other.reconnects;
        self.redirects += other.redirects;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.cpu += other.cpu;
        for (turn, other) in self.turns.iter_mut().zip(&other.turns) {
            turn.merge(other);
        }
        self.per_connection = match (self.per_connection, other.per_connection) {
            (Some(one), Some(two)) => Some(MinMax {
                min: one.min.min(two.min),
                max: one.max.max(two.max),
            }),
            (one, two) => one.or(two),
        };
    }

    /// Forgets everything and keeps the histograms' memory.
    pub(crate) fn clear(&mut self) {
        for histogram in self.histograms() {
            if histogram.count() > 0 {
                histogram.clear();
            }
        }
        for part in &mut self.by_request {
            (part.requests, part.failures, part.failed_times) = (0, 0, None);
        }
        self.in_parts = None;
        self.errors.clear();
        self.unanswered.clear();
        (self.users_finished, self.users_gave_up) = (0, 0);
        (self.slice, self.last, self.requests, self.offered) = (0, false, 0, 0);
        (self.start_ns, self.end_ns) = (0, 0);
        (self.established, self.in_flight_max, self.reconnects) = (0, 0, 0);
        (self.turnaround_ns, self.connecting_ns) = (0, 0);
        (self.sent_bytes, self.received_bytes, self.redirects) = (0, 0, 0);
        self.cpu = CpuTime::default();
        self.per_connection = None;
        self.turns.clear();
    }
}
