//! Steps for heads and bases, which take turns: of a profile or benchmark with other steps, closed
//! load at the number of connections that tables are about.

use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_model::load::Pace;
use bakeoff_model::load::step;
use bakeoff_model::suite::run_count::{Runs, RunsUntil};
use bakeoff_model::suite::{Step, Suite};

/// The amount of a duel: sets of fresh processes until everything is decided, a warm-up where the
/// steps have none, and four seconds of each contender.
const SETS_MAX: u32 = 60;
/// The time for each head and base on each benchmark.
const WITHIN: Duration = Duration::from_secs(120);
/// A profile that asks for more runs than this means them.
const RUNS_MAX: u32 = 5;
const WARM_UP: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(4);

/// How long head and base are measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    /// Heads with their bases, on each benchmark.
    pub(super) pairs: u32,
    /// The time that was asked for.
    pub(super) within: Option<Duration>,
    /// The number of sets was asked for.
    pub(super) is_fixed: bool,
}

impl Length {
    /// Until everything is decided, or the time is over.
    fn sure(&self) -> RunsUntil {
        let within = self.within.unwrap_or(WITHIN.saturating_mul(self.pairs));
        RunsUntil::sure(SETS_MAX, Some(within))
    }
}

/// Gives the profile, and those of these benchmarks that define their own steps, steps that can be
/// played in turns; sentences about what was done.
pub(super) fn make(
    suite: &mut Suite,
    profile: &str,
    benchmarks: &[String],
    length: &Length,
) -> anyhow::Result<Vec<String>> {
    let Some(profile) = suite.profiles.get_mut(profile) else {
        return Ok(Vec::new());
    };
    // Two of each contender are measured as it is.
    profile.control = false;
    profile.whole_runs = false;
    let mut notes = Vec::new();
    for benchmark in &mut suite.benchmarks {
        let has_own = !benchmark.steps.is_empty() && !profile.replaces_steps;
        if !has_own || !benchmarks.contains(&benchmark.name) {
            continue;
        }
        let about = format!("the benchmark {}", benchmark.name);
        notes.extend(in_turns(&mut benchmark.steps, &about)?);
    }
    if !profile.steps.is_empty() {
        let about = format!("the profile {}", profile.name);
        notes.extend(in_turns(&mut profile.steps, &about)?);
    }
    if length.within.is_some() || (!notes.is_empty() && profile.runs.at_most() <= RUNS_MAX) {
        profile.runs = Runs::Until(length.sure());
    }
    if let Runs::Until(until) = profile.runs
        && until.sequential
        && !length.is_fixed
    {
        notes.push(until.sentence_of_baseline());
    }
    Ok(notes)
}

/// Makes steps a warm-up and closed load at the stated step; a sentence that says so. Steps that
/// are one measured step of closed load after a warm-up stay.
fn in_turns(steps: &mut Vec<Step>, about: &str) -> anyhow::Result<Option<String>> {
    let measured = steps.iter().filter(|step| !step.warm_up);
    let is_closed = |step: &Step| step.pace == Pace::Closed;
    if measured.clone().count() == 1 && steps.len() > 1 && steps.iter().all(is_closed) {
        return Ok(None);
    }
    let even: Vec<Step> = measured.copied().filter(|step| !is_ramp(step)).collect();
    let Some(stated) = step::stated(&even).map(|index| even[index]) else {
        return Err(hinted(
            format_args!("{about} has only ramps, which cannot be played in turns"),
            "use a profile with steps of even load",
        ));
    };
    let all = || steps.iter().filter(|step| step.warm_up);
    let warm_up: Duration = all().map(|step| step.duration).sum();
    let until_warm = all().any(|step| step.at_least.is_some());
    let closed = |duration, warm_up| Step {
        connections: stated.connections,
        duration,
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    let warm_up = Step {
        at_least: until_warm.then(|| all().map(Step::shortest).sum()),
        ..closed(if warm_up.is_zero() { WARM_UP } else { warm_up }, true)
    };
    let note = format!(
        "{about}: base and head take turns, {MEASURED:?} each with closed load over {} \
         connections, after {}{:?} of warm-up",
        stated.connections,
        if until_warm { "up to " } else { "" },
        warm_up.duration
    );
    *steps = vec![warm_up, closed(MEASURED, false)];
    Ok(Some(note))
}

fn is_ramp(step: &Step) -> bool {
    matches!(step.pace, Pace::Ramp { .. })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use bakeoff_model::load::Pace;
    use bakeoff_model::load::transport::Transport;
    use bakeoff_model::suite::run_count::{Runs, RunsUntil};
    use bakeoff_model::suite::{Benchmark, BenchmarkKind, Limits, Profile, Step, StepOrder, Suite};

    use super::{Length, make};
    use crate::tests::fakes::suite;

    fn step(connections: u32, seconds: u64, warm_up: bool) -> Step {
        Step {
            connections,
            duration: Duration::from_secs(seconds),
            pace: Pace::Closed,
            warm_up,
            at_least: None,
        }
    }

    fn profile(steps: Vec<Step>) -> Profile {
        Profile {
            name: "p".to_owned(),
            describe: String::new(),
            limits: Limits::default(),
            cpus: Vec::new(),
            runs: Runs::Fixed(2),
            within_each: None,
            steps,
            step_order: StepOrder::Listed,
            // Head and base take turns even if the contenders of a profile do not.
            whole_runs: true,
            turn: None,
            latency: true,
            control: true,
            replaces_steps: false,
            lifecycle_every_run: false,
            slice: Duration::from_secs(1),
            jvm_options: Vec::new(),
            start_timeout: Profile::START_TIMEOUT,
        }
    }

    fn with(profile: Profile, own_steps: Vec<Step>) -> Suite {
        let benchmark = Benchmark {
            name: "b".to_owned(),
            describe: String::new(),
            kind: BenchmarkKind::Load,
            requests: Vec::new(),
            scenario: None,
            transport: Transport::default(),
            backend_requests_min: None,
            steps: own_steps,
            step_order: StepOrder::Listed,
            capacity: None,
            probes: Vec::new(),
        };
        Suite {
            profiles: BTreeMap::from([("p".to_owned(), profile)]),
            benchmarks: vec![benchmark],
            ..suite()
        }
    }

    /// Two pairs, and what the profile says.
    const LENGTH: Length = Length {
        pairs: 2,
        within: None,
        is_fixed: false,
    };

    /// The steps of the benchmark: connections, warm-up and measured step in s; the most runs.
    #[track_caller]
    fn check(mut suite: Suite, expect: (u32, [u64; 2], u32), note: &str) {
        let notes = make(&mut suite, "p", &["b".to_owned()], &LENGTH).unwrap();
        let profile = &suite.profiles["p"];
        assert!(!profile.whole_runs && !profile.control);
        let steps = profile.steps_of(&suite.benchmarks[0]).steps;
        let warm_up: Vec<bool> = steps.iter().map(|step| step.warm_up).collect();
        assert_eq!(warm_up, [true, false]);
        assert!(steps.iter().all(|step| step.pace == Pace::Closed));
        let lengths = [0, 1].map(|index: usize| steps[index].duration.as_secs());
        let found = (steps[1].connections, lengths, profile.runs.at_most());
        assert_eq!(found, expect);
        match note {
            "" => assert_eq!(notes, [""; 0]),
            note => assert!(notes.join("\n").contains(note), "{notes:?}"),
        }
    }

    #[test]
    fn steps_become_one_at_the_stated_one() {
        let ladder = || {
            let measured = [step(8, 3, false), step(64, 3, false), step(512, 3, false)];
            let mut steps = vec![step(1, 3, true), step(8, 3, true)];
            steps.extend(measured);
            steps
        };
        check(
            with(profile(ladder()), Vec::new()),
            (64, [6, 4], 60),
            "the profile p: base and head take turns, 4s each with closed load over 64 \
             connections, after 6s of warm-up",
        );
        let cold = vec![step(64, 10, false), step(512, 10, false)];
        check(
            with(profile(ladder()), cold),
            (64, [5, 4], 60),
            "the benchmark b: base and head take turns",
        );
        // One step of closed load after a warm-up is what is asked for.
        let one = || vec![step(16, 9, true), step(16, 2, false)];
        check(with(profile(one()), Vec::new()), (16, [9, 2], 2), "");
        check(with(profile(one()), one()), (16, [9, 2], 2), "");
        let mut replacing = profile(ladder());
        replacing.replaces_steps = true;
        check(
            with(replacing, vec![step(32, 10, false)]),
            (64, [6, 4], 60),
            "the profile p",
        );
        let mut until_warm = step(8, 60, true);
        until_warm.at_least = Some(Duration::from_secs(10));
        let steps = vec![until_warm, step(8, 3, false), step(64, 3, false)];
        check(
            with(profile(steps), Vec::new()),
            (64, [60, 4], 60),
            "after up to 60s of warm-up",
        );
    }

    /// When a session with this profile ends, which has a ladder or the two steps of turns.
    #[track_caller]
    fn check_end(runs: Runs, is_ladder: bool, length: Length, expect: Runs, note: &str) {
        let mut steps = vec![step(8, 3, true), step(64, 3, false)];
        steps.extend(is_ladder.then(|| step(512, 3, false)));
        let mut suite = with(profile(steps), Vec::new());
        suite.profiles.get_mut("p").unwrap().runs = runs;
        let notes = make(&mut suite, "p", &["b".to_owned()], &length).unwrap();
        assert_eq!(suite.profiles["p"].runs, expect);
        let found = notes.join("\n");
        match note {
            "" => assert!(!found.contains("fifth set"), "{found}"),
            note => assert!(found.contains(note), "{found}"),
        }
    }

    #[test]
    fn sessions_end_when_they_are_sure_unless_the_profile_says_how_many_sets() {
        let sure = |seconds| {
            let within = Some(Duration::from_secs(seconds));
            Runs::Until(RunsUntil::sure(60, within))
        };
        let note = "from the fifth set of fresh processes on, the session ends as soon as every \
                    condition is decided, or without conditions every difference in throughput; \
                    at most 60 sets and 4 min, but five sets in any case";
        for few in [1, 5] {
            check_end(Runs::Fixed(few), true, LENGTH, sure(240), note);
        }
        check_end(Runs::Fixed(6), true, LENGTH, Runs::Fixed(6), "");
        check_end(Runs::Fixed(5), false, LENGTH, Runs::Fixed(5), "");
        let own = Runs::Until(RunsUntil::sure(20, None));
        check_end(own, false, LENGTH, own, "at most 20 sets");
        let asked = Length {
            within: Some(Duration::from_secs(60)),
            ..LENGTH
        };
        check_end(Runs::Fixed(10), true, asked, sure(60), "60 sets and 1 min");
        check_end(Runs::Fixed(10), false, asked, sure(60), "60 sets and 1 min");
        let fixed = Length {
            is_fixed: true,
            ..LENGTH
        };
        check_end(own, false, fixed, own, "");
    }

    #[test]
    fn a_rate_and_users_become_closed_load() {
        let paced = |pace| Step {
            pace,
            ..step(64, 10, false)
        };
        let rate = Pace::Poisson { rate_per_s: 500.0 };
        let users = Pace::Users {
            arrive_ns: 0,
            times: 1,
        };
        for pace in [rate, users] {
            check(
                with(profile(vec![paced(pace)]), Vec::new()),
                (64, [5, 4], 60),
                "closed load over 64 connections, after 5s of warm-up",
            );
        }
        let ramp = Pace::Ramp {
            from_per_s: 1.0,
            to_per_s: 2.0,
        };
        let mut ramps = with(profile(vec![paced(ramp)]), Vec::new());
        let error = make(&mut ramps, "p", &["b".to_owned()], &LENGTH).unwrap_err();
        assert!(error.to_string().contains("has only ramps"), "{error}");
    }
}
