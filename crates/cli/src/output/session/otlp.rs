//! Live metrics by OTLP over HTTP: one export for each recorded slice, sent by a separate thread. A
//! collector that does not respond costs a note, and no measurement.

mod export;
mod sender;
mod settings;

use std::collections::BTreeMap;

use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::{IntervalRecord, Record};
use bakeoff_model::text::service_url::ServiceUrl;
use bakeoff_store::event::{Event, Observer};

use export::{Numbers, Source};
use sender::Sender;
use settings::Settings;

/// Sends the numbers of slices to a collector.
pub(crate) struct Otlp {
    inner: Box<dyn Observer>,
    source: Source,
    /// The runs that have started, by their ids.
    runs: BTreeMap<String, Running>,
    sender: Sender,
}

/// A run that has started.
struct Running {
    planned: PlannedRun,
    suite: String,
    /// The numbers that were sent last: a collector takes them as current until it gets their end.
    sent: Numbers,
}

impl Otlp {
    /// Sends to the collector at this URL.
    pub(crate) fn new(inner: Box<dyn Observer>, url: &ServiceUrl) -> anyhow::Result<Self> {
        let settings = Settings::of_environment()?;
        Ok(Self {
            inner,
            source: Source::new(&settings.resource),
            runs: BTreeMap::new(),
            sender: Sender::new(url, settings)?,
        })
    }

    fn recorded(&mut self, run: &str, record: &Record) {
        let Some(running) = self.runs.get_mut(run) else {
            return;
        };
        match record {
            Record::Begin(begin) => running.suite.clone_from(&begin.suite),
            Record::Interval(interval) => running.export(interval, &self.source, &self.sender),
            Record::End(_) => running.end(&self.source, &self.sender),
            _ => {}
        }
    }
}

impl Running {
    fn export(&mut self, interval: &IntervalRecord, source: &Source, sender: &Sender) {
        let numbers = Numbers::of(&self.suite, &self.planned, interval);
        let ended = self.sent.without(&numbers);
        // A collector that is behind misses slices; the session does not wait for it.
        sender.try_send(source.export(&numbers, &ended));
        self.sent = numbers;
    }

    fn end(&mut self, source: &Source, sender: &Sender) {
        let ended = std::mem::take(&mut self.sent);
        if !ended.is_empty() {
            sender.try_send(source.export(&Numbers::default(), &ended));
        }
    }
}

impl Observer for Otlp {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::RunBegan { run, .. } => {
                let running = Running {
                    planned: (**run).clone(),
                    suite: String::new(),
                    sent: Numbers::default(),
                };
                self.runs.insert(run.id.clone(), running);
            }
            Event::Recorded { run, record } => self.recorded(run, record),
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
        // A session that was interrupted leaves runs without an end.
        for running in self.runs.values_mut() {
            running.end(&self.source, &self.sender);
        }
    }
}
