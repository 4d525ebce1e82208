//! Progress of a running session: one line for each step, or for each set of contenders that take
//! turns, and a live line on a terminal, within 80 columns.

mod sets;

use std::io::{IsTerminal as _, Write};
use std::time::{Duration, Instant};

use bakeoff_base::number::as_f64;
use bakeoff_base::text::{printable, printable_lines};
use bakeoff_model::measure::flame_graph::FlameOutcome;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::failure::Stage;
use bakeoff_model::record::{IntervalRecord, Outcome, Record};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::run_count::RunsDecision;
use bakeoff_session::contracts::GROUP;
use bakeoff_session::stages::load_run::describe;
use bakeoff_store::event::{Event, Observer};

use super::builds::Builds;
use super::capacity;
use super::notes::Notes;
use super::set_lines::SetProgress;
use super::shown::Shown;
use super::step_total::StepTotal;
use super::time_left::Pace;
use crate::output::text::{self, between, human, last_lines, wrapped};

/// The width of a line.
const COLUMNS: usize = 80;

/// Prints progress for a person.
pub(crate) struct Progress<W> {
    output: W,
    /// Whether lines can be overwritten.
    live: bool,
    shown: Shown,
    /// A set is played of which nothing is shown but the comparison.
    is_brief: bool,
    /// The number of sets is known.
    is_fixed: bool,
    /// The comparison by all sets so far; empty before it.
    compared: String,
    builds: Builds,
    pace: Pace,
    step: Option<StepTotal>,
    /// The contenders that take turns.
    set: SetProgress,
    notes: Notes,
    /// Notes that are only in the report.
    hidden_notes: usize,
    good: usize,
    checked: usize,
}

impl Progress<std::io::Stderr> {
    /// For the user's terminal.
    pub(crate) fn stderr(shown: Shown) -> Self {
        let output = std::io::stderr();
        let live = output.is_terminal();
        Self::new(output, live, shown)
    }
}

impl<W: Write> Progress<W> {
    /// Onto any output.
    pub(crate) fn new(output: W, live: bool, shown: Shown) -> Self {
        Self {
            output,
            live,
            shown,
            is_brief: false,
            is_fixed: false,
            compared: String::new(),
            builds: Builds::default(),
            pace: Pace::default(),
            step: None,
            set: SetProgress::default(),
            notes: Notes::default(),
            hidden_notes: 0,
            good: 0,
            checked: 0,
        }
    }

    fn line(&mut self, text: &str) {
        if self.shown == Shown::Errors {
            return;
        }
        let clear = if self.live { "\r\x1b[K" } else { "" };
        // A closed terminal must not end a measurement.
        let _ = writeln!(self.output, "{clear}{}", printable_lines(text));
    }

    /// A line that is of no interest while sets are compared.
    fn detail(&mut self, text: &str) {
        if !self.is_brief {
            self.line(text);
        }
    }

    /// A note within 80 columns; what does not fit goes on below its words.
    fn note(&mut self, indent: &str, note: &str) {
        const MARK: &str = "note: ";
        let columns = COLUMNS - indent.len() - MARK.len();
        for (index, line) in wrapped(note, columns).iter().enumerate() {
            let mark = if index == 0 { MARK } else { "      " };
            self.line(&format!("{indent}{mark}{line}"));
        }
    }

    /// A sentence below the lines of steps, within 80 columns.
    fn below(&mut self, sentence: &str) {
        for (index, line) in wrapped(sentence, 72).iter().enumerate() {
            let indent = if index == 0 { "      " } else { "        " };
            self.line(&format!("{indent}{line}"));
        }
    }

    fn live_line(&mut self, text: &str) {
        if self.live && self.shown != Shown::Errors {
            // A line that is wrapped could not be cleared.
            let text: String = text.chars().map(printable).take(COLUMNS).collect();
            let _ = write!(self.output, "\r\x1b[K{text}");
            let _ = self.output.flush();
        }
    }

    fn decided(&mut self, decision: &RunsDecision) {
        self.line("");
        let sentences = decision.sentences();
        for line in sentences.iter().flat_map(|text| wrapped(text, 78)) {
            self.line(&line);
        }
    }

    fn run_begins(&mut self, number: &str, run: &PlannedRun, attempt: u32) {
        self.finish_step();
        self.is_brief = run.in_turns && self.shown == Shown::Sets;
        let again = match attempt {
            0 | 1 => String::new(),
            _ => format!(", attempt {attempt}"),
        };
        if run.in_turns {
            let is_first = self.set.add_member(&run.id, run.process_label());
            let is_news = attempt > 1 || (self.is_fixed && !self.live);
            if is_first && self.is_brief && is_news {
                let (set, left) = (run.repetition_text(), self.time_left());
                self.line(&format!("set {set}{again} · {left}"));
            }
        }
        let (label, benchmark) = (run.process_label(), &run.benchmark);
        let (repetition, left) = (run.repetition_text(), self.time_left());
        self.detail(&format!(
            "\n[{number}] {label} · {benchmark} · run {repetition}{again} · {left}"
        ));
    }

    fn time_left(&self) -> String {
        format!("about {} left", human(self.pace.left(Instant::now())))
    }

    fn record(&mut self, run: &str, record: &Record) {
        match record {
            Record::Begin(_) | Record::Idle(_) | Record::Fleet(_) | Record::Metrics(_) => {}
            Record::Started(startup) => {
                let seconds = Duration::from_nanos(startup.startup_ns).as_secs_f64();
                self.detail(&format!("  started in {seconds:.4} s"));
            }
            Record::Probe(probe) => {
                let each = as_f64(probe.cpu_ns) / f64::from(probe.operations.max(1)) / 1e6;
                self.detail(&format!("  {} takes {each:.3} ms of CPU", probe.name));
            }
            Record::Check(check) => {
                if check.group != GROUP {
                    self.checked += 1;
                    self.good += usize::from(check.outcome == CheckOutcome::Good);
                }
                let applies = !matches!(check.outcome, CheckOutcome::NotApplicable { .. });
                if check.outcome != CheckOutcome::Good && applies {
                    let whose = self.whose(run);
                    self.line(&format!("  {whose}FAILED {}", describe(check)));
                }
            }
            Record::Interval(interval) => self.interval(run, interval),
            Record::Trial(trial) => {
                self.finish_step();
                let lines = capacity::trial(trial, trial.verdicts.len() > 1);
                lines.iter().for_each(|line| self.below(line));
            }
            Record::Capacity(found) => self.below(&capacity::found(found)),
            Record::End(end) => {
                self.pace.run_ends(Instant::now());
                self.finish_step();
                let whose = self.whose(run);
                let lines = self.set.ends(run);
                lines.iter().for_each(|line| self.detail(line));
                match &end.outcome {
                    Outcome::Completed => {}
                    Outcome::Interrupted => self.detail("  interrupted"),
                    Outcome::Failed(failure) => {
                        self.line(&format!("  {whose}FAILED at {failure}"));
                        for line in last_lines(&failure.evidence, 6) {
                            self.line(&format!("    {line}"));
                        }
                        for hint in &failure.hints {
                            self.line(&format!("    hint: {hint}"));
                        }
                    }
                }
                if self.is_brief {
                    self.hidden_notes += self.notes.new_kinds(&end.notes).len();
                    return;
                }
                for note in self.notes.fresh(&end.notes) {
                    self.note("  ", &note);
                }
            }
        }
    }

    fn interval(&mut self, run: &str, record: &IntervalRecord) {
        if self.set.has(run) {
            self.set.add(run, record);
            let doing = if record.warm_up { "warm-up" } else { "load" };
            return self.live_set(doing);
        }
        let step = self.step.get_or_insert_default();
        step.add(record);
        let text = format!("{} · {}", step.text(), self.time_left());
        self.live_line(&text);
    }

    fn step_begins(&mut self, run: &str, connections: u32, established: u32) {
        self.finish_step();
        if !self.set.has(run) {
            self.step = Some(StepTotal::begin(connections, established));
            return;
        }
        if self.set.begins() {
            self.detail("");
            self.detail(StepTotal::TITLES);
        }
        let lines = self.set.step_begins(run, connections, established);
        lines.iter().for_each(|line| self.detail(line));
    }

    fn finish_step(&mut self) {
        if let Some(step) = self.step.take().filter(|step| !step.is_empty()) {
            self.line(&step.text());
        }
    }

    /// Everything that happens before the first run.
    fn preparation(&mut self, event: &Event) {
        match event {
            Event::SessionBegan {
                runs,
                runs_certain,
                finished_before,
                expected_ns,
                shortest_ns,
                warnings,
            } => {
                let expected = Duration::from_nanos(*expected_ns);
                self.pace.expected = expected;
                self.is_fixed = runs_certain == runs;
                let before = match finished_before {
                    0 => String::new(),
                    count => format!(", {count} finished before"),
                };
                let time = between(Duration::from_nanos(*shortest_ns), expected);
                let runs = text::runs(*runs_certain, *runs);
                self.line(&format!("{runs}{before}, {time}"));
                for warning in warnings {
                    self.note("", warning);
                }
            }
            Event::Building { .. } | Event::Built { .. } | Event::BuildFailed { .. } => {
                self.build(event);
            }
            Event::Swept { removed } => self.line(&format!("swept: {removed}")),
            Event::Skipped { contender, why } => {
                self.line(&format!("{contender}: skipped: {why}"));
            }
            Event::BackendStarting { name } => {
                self.live_line(&format!("starting backend {name} …"));
            }
            Event::BackendReady { name, address } => {
                self.line(&format!("backend {name} is ready at {address}"));
            }
            Event::LimitsUnenforced { why } => {
                let way = "run as root, or use --runtime docker";
                self.note("", &format!("limits are not enforced: {why}; {way}"));
            }
            Event::CeilingUnknown { why } => {
                let text = format!(
                    "the load generator's ceiling on this host is unknown, and not in the \
                     records: {why}"
                );
                for line in wrapped(&text, 78) {
                    self.line(&line);
                }
            }
            Event::CoreSharingUnknown { why } => {
                let text = format!(
                    "whether load generator and contender share a physical core is unknown, and \
                     not in the records: {why}"
                );
                for line in wrapped(&text, 78) {
                    self.line(&line);
                }
            }
            _ => {}
        }
    }

    /// A build starts or ends: a line for each if lines cannot be overwritten.
    fn build(&mut self, event: &Event) {
        for line in self.builds.take(event, self.live, Instant::now()) {
            self.line(&line);
        }
        self.time_passes();
    }

    /// A build has ended, and another event says so.
    pub(crate) fn build_ended(&mut self, index: usize) {
        self.builds.end(index);
        self.live_line("");
    }

    fn flame_graph(&mut self, event: &Event) {
        match event {
            Event::FlameGraphBegan {
                index,
                flame_graphs,
                case,
                benchmark,
                expected_ns,
            } => {
                self.finish_step();
                let (number, time) = (index + 1, human(Duration::from_nanos(*expected_ns)));
                let title = format!("flame graph {number}/{flame_graphs}");
                self.line(&format!("\n{title}: {case} · {benchmark} · about {time}"));
            }
            Event::FlameGraphEnded { flame_graph } => match &flame_graph.outcome {
                FlameOutcome::Drawn {
                    file,
                    sampler,
                    samples,
                    ..
                } => self.line(&format!("  {file}: {samples} samples by {sampler}")),
                FlameOutcome::Failed { why } => self.note("  ", &format!("none: {why}")),
            },
            _ => {}
        }
    }

    fn stage(&mut self, run: &str, stage: Stage) {
        self.finish_step();
        if stage == Stage::Load {
            self.detail(&format!("  checks {}/{}", self.good, self.checked));
            if !self.set.has(run) {
                self.line(StepTotal::TITLES);
            }
        }
        (self.good, self.checked) = if stage == Stage::Start {
            (0, 0)
        } else {
            (self.good, self.checked)
        };
        match self.is_brief {
            true => self.live_set(stage.name()),
            false => self.live_line(&format!("  {stage} … {}", self.time_left())),
        }
    }
}

impl<W: Write> Observer for Progress<W> {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::SessionBegan { .. }
            | Event::Building { .. }
            | Event::Built { .. }
            | Event::BuildFailed { .. }
            | Event::Swept { .. }
            | Event::Skipped { .. }
            | Event::BackendStarting { .. }
            | Event::BackendReady { .. }
            | Event::LimitsUnenforced { .. }
            | Event::CeilingUnknown { .. }
            | Event::CoreSharingUnknown { .. } => self.preparation(event),
            Event::RunsDecided { .. } | Event::SetsCompared { .. } | Event::SetsReplaced { .. } => {
                self.sets(event);
            }
            Event::RunBegan {
                index,
                runs,
                run,
                attempt,
            } => {
                self.pace.run_begins(run.expected, Instant::now());
                self.run_begins(&format!("{}/{runs}", index + 1), run, *attempt);
            }
            Event::StageBegan { run, stage } => self.stage(run, *stage),
            Event::StepBegan {
                run,
                connections,
                established,
                ..
            } => self.step_begins(run, *connections, *established),
            Event::Recorded { run, record } => self.record(run, record),
            Event::FlameGraphBegan { .. } | Event::FlameGraphEnded { .. } => {
                self.flame_graph(event);
            }
            Event::StreamBegan { .. }
            | Event::BisectionBegan { .. }
            | Event::BisectionNarrows { .. }
            | Event::BisectionConfirms { .. }
            | Event::BisectionEnded { .. }
            | Event::SizingMeasures { .. }
            | Event::SizingEnded { .. }
            | Event::RoundBegan { .. }
            | Event::WinnerPicked { .. }
            | Event::Interrupted { .. }
            | Event::SittingEnded { .. }
            | Event::Verdict { .. } => {}
            Event::SessionEnded { .. } => self.session_ends(),
        }
        Ok(())
    }

    fn time_passes(&mut self) {
        if let Some(text) = self.builds.text(Instant::now()) {
            self.live_line(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::record::failure::{Failure, Stage};
    use bakeoff_model::record::{EndRecord, Record};
    use bakeoff_store::event::{Event, Observer as _};

    use super::Progress;
    use crate::output::session::shown::Shown;

    fn building(contender: &str, index: usize) -> Event {
        Event::Building {
            contender: contender.to_owned(),
            index,
            contenders: 3,
        }
    }

    fn built(contender: &str, index: usize, fresh: bool) -> Event {
        Event::Built {
            contender: contender.to_owned(),
            index,
            contenders: 3,
            took_ns: 62_500_000_000,
            fresh,
            version: Some("1.0".to_owned()),
        }
    }

    #[test]
    fn without_a_terminal_builds_say_when_they_begin_and_end() {
        let mut output = Vec::new();
        let mut progress = Progress::new(&mut output, false, Shown::Sets);
        progress.observe(&building("one", 0)).unwrap();
        progress.time_passes();
        progress.observe(&built("two", 1, false)).unwrap();
        progress.observe(&built("one", 0, true)).unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            "one (1 of 3): building\ntwo (2 of 3): up to date\n  1.0\n\
             one (1 of 3): built in 1 min 2 s\n  1.0\n"
        );
    }

    #[test]
    fn what_contenders_log_commands_no_terminal() {
        let mut output = Vec::new();
        let mut progress = Progress::new(&mut output, false, Shown::Sets);
        let failure =
            Failure::new(Stage::Ready, "exited").with_evidence("a\x1b[2J\x07b\r\n\x1b]0;c");
        let event = Event::Recorded {
            run: "one".to_owned(),
            record: Box::new(Record::End(EndRecord {
                at: String::new(),
                outcome: failure.into(),
                last_connections: None,
                notes: Vec::new(),
            })),
        };
        progress.observe(&event).unwrap();
        let text = String::from_utf8(output).unwrap();
        assert!(text.ends_with("    a [2J b\n     ]0;c\n"), "{text:?}");
    }

    #[test]
    fn a_terminal_has_one_line_for_builds() {
        let mut output = Vec::new();
        let mut progress = Progress::new(&mut output, true, Shown::Sets);
        progress.observe(&building("one", 0)).unwrap();
        progress.time_passes();
        let text = String::from_utf8(output).unwrap();
        let line = "\r\u{1b}[Kbuilding one (1 of 3) 0 s · 2 to come";
        assert_eq!(text, line.repeat(2));
    }
}
