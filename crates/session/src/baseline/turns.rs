//! Steps for heads and bases, which take turns: of a profile or benchmark with other steps, closed
//! load at the number of connections that tables are about.

use std::time::Duration;

use bakeoff_model::load::Pace;
use bakeoff_model::runs::Runs;
use bakeoff_model::step;
use bakeoff_model::suite::{Profile, Step, Suite};

use crate::hint::hinted;

/// As much as a duel measures: so many sets of fresh processes, a warm-up where the steps have
/// none, and ten seconds of each contender.
const SETS: u32 = 5;
const WARM_UP: Duration = Duration::from_secs(5);
const MEASURED: Duration = Duration::from_secs(10);

/// Gives the profile, and those of these benchmarks that have steps of their own, steps that can be
/// played in turns; sentences about what was done.
pub(super) fn make(
    suite: &mut Suite,
    profile: &str,
    benchmarks: &[String],
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
    if !notes.is_empty() {
        profile.runs = sets(profile);
    }
    Ok(notes)
}

fn sets(profile: &Profile) -> Runs {
    match profile.runs.at_most() {
        fewer if fewer < SETS => Runs::Fixed(SETS),
        _ => profile.runs,
    }
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
    use bakeoff_model::runs::Runs;
    use bakeoff_model::suite::{
        Benchmark, BenchmarkKind, Carousel, Limits, Profile, Step, StepOrder, Suite,
    };
    use bakeoff_model::transport::Transport;

    use super::make;
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

    fn profile(steps: Vec<Step>, carousel: Option<Carousel>) -> Profile {
        Profile {
            name: "p".to_owned(),
            describe: String::new(),
            limits: Limits::default(),
            runs: Runs::Fixed(2),
            steps,
            step_order: StepOrder::Listed,
            carousel,
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
            carousel: None,
            capacity: None,
            probes: Vec::new(),
        };
        Suite {
            profiles: BTreeMap::from([("p".to_owned(), profile)]),
            benchmarks: vec![benchmark],
            ..suite()
        }
    }

    /// The turns of the benchmark: connections, warm-up, discarded and slice in ms; cycles, runs.
    #[track_caller]
    fn check(mut suite: Suite, expect: (u32, [u128; 3], u32, u32), note: &str) {
        let notes = make(&mut suite, "p", &["b".to_owned()]).unwrap();
        let profile = &suite.profiles["p"];
        let of = profile.steps_of(&suite.benchmarks[0]);
        let (steps, carousel) = (of.steps, of.carousel);
        let lengths: Vec<u128> = steps.iter().map(|step| step.duration.as_millis()).collect();
        let lengths: [u128; 3] = lengths.try_into().unwrap();
        let warm_up: Vec<bool> = steps.iter().map(|step| step.warm_up).collect();
        assert_eq!(warm_up, [true, true, false]);
        let cycles = carousel.unwrap().cycles;
        let found = (
            steps[2].connections,
            lengths,
            cycles,
            profile.runs.at_most(),
        );
        assert_eq!(found, expect);
        assert!(notes.join("\n").contains(note), "{notes:?}");
    }

    #[test]
    fn steps_become_turns_at_the_stated_one() {
        let ladder = || vec![step(1, 3, true), step(8, 3, true), step(8, 3, false)];
        check(
            with(profile(ladder(), None), Vec::new()),
            (8, [6000, 200, 500], 20, 5),
            "p: base and head alternate, 20 turns of 500ms each, 8 connections, after 6s",
        );
        let cold = vec![step(64, 10, false), step(512, 10, false)];
        check(
            with(profile(ladder(), None), cold),
            (64, [5000, 200, 500], 20, 5),
            "the benchmark b: base and head alternate",
        );
        let turns = || vec![step(16, 9, true), step(16, 1, true), step(16, 2, false)];
        let carousel = Some(Carousel { cycles: 7 });
        let own = with(profile(turns(), carousel), Vec::new());
        check(own, (16, [9000, 1000, 2000], 7, 2), "");
        check(
            with(profile(turns(), carousel), vec![step(32, 10, false)]),
            (32, [9000, 1000, 2000], 7, 2),
            "the benchmark b: base and head alternate, 7 turns of 2s each, 32 connections",
        );
        let mut replacing = profile(ladder(), None);
        replacing.replaces_steps = true;
        check(
            with(replacing, vec![step(32, 10, false)]),
            (8, [6000, 200, 500], 20, 5),
            "the profile p",
        );
    }

    #[test]
    fn a_rate_stays_and_users_stay() {
        let paced = |pace| Step {
            pace,
            ..step(64, 10, false)
        };
        let rate = Pace::Poisson { rate_per_s: 500.0 };
        let mut open = with(profile(vec![paced(rate)], None), Vec::new());
        let notes = make(&mut open, "p", &["b".to_owned()]).unwrap();
        assert!(notes[0].contains("64 connections at 500/s"), "{notes:?}");
        assert!(
            open.profiles["p"]
                .steps
                .iter()
                .all(|step| step.pace == rate)
        );
        let users = Pace::Users {
            arrive_ns: 0,
            times: 1,
        };
        let mut scenario = with(profile(vec![paced(users)], None), Vec::new());
        make(&mut scenario, "p", &["b".to_owned()]).unwrap();
        let steps = &scenario.profiles["p"].steps;
        assert!(steps.iter().all(|step| step.pace == Pace::Closed));
        let ramp = Pace::Ramp {
            from_per_s: 1.0,
            to_per_s: 2.0,
        };
        let mut ramps = with(profile(vec![paced(ramp)], None), Vec::new());
        let error = make(&mut ramps, "p", &["b".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("has only ramps"), "{error}");
    }
}
