//! Live metrics by OTLP over HTTP, in its JSON form: one export for each recorded slice, sent by a
//! thread of its own. A collector that does not answer costs a note, and no measurement.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::ToSocketAddrs as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use bakeoff_base::number::as_f64;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::{IntervalRecord, Record};
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::service_url::ServiceUrl;
use bakeoff_model::tls::Tls;
use bakeoff_model::totals::{Growth, Totals};
use bakeoff_runtime::Wire;
use bakeoff_runtime::http::{self, Question};
use bakeoff_session::event::{Event, Observer};
use serde_json::{Value, json};

/// Exports that wait to be sent, at most; what comes then is left out.
const WAITING_MAX: usize = 64;
/// How long a collector may take to answer.
const LIMIT: Duration = Duration::from_secs(5);
/// Where a collector takes metrics.
const PATH: &str = "/v1/metrics";

/// Sends the numbers of slices to a collector.
pub(crate) struct Otlp {
    inner: Box<dyn Observer>,
    /// The runs that have begun, by their ids.
    runs: BTreeMap<String, PlannedRun>,
    /// The run whose records come.
    current: String,
    sender: Option<SyncSender<Value>>,
    thread: Option<JoinHandle<()>>,
}

impl Otlp {
    /// Sends to the collector at this URL.
    pub(crate) fn new(inner: Box<dyn Observer>, url: &ServiceUrl) -> anyhow::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let url = url.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the async runtime")?;
        let sending = move || runtime.block_on(send_all(&url, &receiver));
        let thread = std::thread::Builder::new()
            .name("otlp".to_owned())
            .spawn(sending)
            .context("cannot start a thread")?;
        Ok(Self {
            inner,
            runs: BTreeMap::new(),
            current: String::new(),
            sender: Some(sender),
            thread: Some(thread),
        })
    }

    fn export(&self, interval: &IntervalRecord) {
        if let (Some(sender), Some(run)) = (&self.sender, self.runs.get(&self.current)) {
            // A collector that is behind misses slices; the session does not wait for it.
            let _ = sender.try_send(export(run, interval));
        }
    }
}

impl Observer for Otlp {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::RunBegan { run, .. } => {
                self.current.clone_from(&run.id);
                self.runs.insert(run.id.clone(), (**run).clone());
            }
            Event::RunGoesOn { run } => self.current.clone_from(run),
            Event::Recorded { record } => {
                if let Record::Interval(interval) = record.as_ref() {
                    self.export(interval);
                }
            }
            _ => {}
        }
        self.inner.observe(event)
    }

    fn time_passes(&mut self) {
        self.inner.time_passes();
    }
}

impl Drop for Otlp {
    fn drop(&mut self) {
        // What waits is still sent.
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sends exports until there are no more. The first that fails is said, others are not.
async fn send_all(url: &ServiceUrl, exports: &Receiver<Value>) {
    let mut is_said = false;
    while let Ok(export) = exports.recv() {
        if let Err(why) = send(url, &export).await
            && !is_said
        {
            is_said = true;
            // A closed terminal is no reason to fail.
            let _ = writeln!(
                std::io::stderr(),
                "note: metrics do not reach {url}: {why}; the measurement goes on"
            );
        }
    }
}

async fn send(url: &ServiceUrl, export: &Value) -> Result<(), String> {
    let place = (url.name().to_owned(), url.port());
    let resolving = tokio::task::spawn_blocking(move || place.to_socket_addrs());
    let found = resolving.await.map_err(|error| error.to_string())?;
    let mut found = found.map_err(|error| error.to_string())?;
    let address = found.next().ok_or("it has no address")?;
    let headers = [
        ("host".to_owned(), url.host().to_owned()),
        ("content-type".to_owned(), "application/json".to_owned()),
    ];
    let wire = Wire {
        tls: url.is_tls().then(Tls::default),
        ..Wire::default()
    };
    let (path, body) = (format!("{}{PATH}", url.prefix()), export.to_string());
    let question = Question {
        method: "POST",
        path: &path,
        headers: &headers,
        body: body.as_bytes(),
    };
    match http::ask_over(&wire, address, question, LIMIT).await {
        Ok(answer) if answer.status < 300 => Ok(()),
        Ok(answer) => Err(format!("status {}", answer.status)),
        Err(error) => Err(error.to_string()),
    }
}

/// The numbers of a slice as an `ExportMetricsServiceRequest`.
fn export(run: &PlannedRun, interval: &IntervalRecord) -> Value {
    #[expect(
        clippy::disallowed_methods,
        reason = "a metric has the time of the wall clock"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ns = now.unwrap_or_default().as_nanos().to_string();
    let phase = match interval.warm_up {
        true => "warm-up",
        false => "measured",
    };
    let attributes = json!([
        attribute("bakeoff.benchmark", &run.benchmark),
        attribute("bakeoff.contender", &run.case_label()),
        attribute("bakeoff.phase", phase),
        {
            "key": "bakeoff.connections",
            "value": { "intValue": interval.connections.to_string() }
        },
    ]);
    let gauges = gauges(interval).into_iter();
    let metrics: Vec<Value> = gauges
        .map(|(name, unit, value)| {
            json!({
                "name": name,
                "unit": unit,
                "gauge": { "dataPoints": [{
                    "attributes": attributes,
                    "timeUnixNano": now_ns,
                    "asDouble": value,
                }] },
            })
        })
        .collect();
    json!({ "resourceMetrics": [{
        "resource": { "attributes": [attribute("service.name", "bakeoff")] },
        "scopeMetrics": [{
            "scope": { "name": "bakeoff", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Name, unit (UCUM) and value of each number that the slice has.
fn gauges(interval: &IntervalRecord) -> Vec<(&'static str, &'static str, f64)> {
    let mut totals = Totals::default();
    totals.add(&interval.load);
    let open_s = totals.open_s();
    let errors: u64 = interval.load.errors.values().map(|error| error.count).sum();
    let mut cpu = Growth::default();
    cpu.add_contender(interval, ResourceSample::cpu_ns);
    let memory = interval
        .contender_after
        .as_ref()
        .and_then(|sample| sample.memory);
    let mut gauges = vec![(
        "bakeoff.requests.rate",
        "{request}/s",
        totals.requests_per_s(),
    )];
    if open_s > 0.0 {
        gauges.push((
            "bakeoff.errors.rate",
            "{request}/s",
            as_f64(errors) / open_s,
        ));
        if let Some(cpu_ns) = cpu.value() {
            gauges.push((
                "bakeoff.contender.cpu",
                "{cpu}",
                as_f64(cpu_ns) / 1e9 / open_s,
            ));
        }
    }
    if let Some(memory) = memory {
        gauges.push(("bakeoff.contender.memory", "By", as_f64(memory.now_bytes)));
    }
    // Times within fast turns are those of bursts.
    if interval.load.turns.is_empty() {
        let times = interval.load.stated_times();
        let quantiles = [
            ("bakeoff.response.time.p50", 0.5),
            ("bakeoff.response.time.p99", 0.99),
        ];
        for (name, share) in quantiles {
            if let Some(time_ns) = times.quantile_ns(share) {
                gauges.push((name, "s", as_f64(time_ns) / 1e9));
            }
        }
    }
    gauges
}
