//! What will be run, in which order, and how long it will take.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::names::{UnknownName, matches, select};
use crate::suite::{Limits, Profile, Step, Suite};

/// All runs of a session in the order in which they will be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// The suite.
    pub suite: String,
    /// Digest of the suite definition.
    pub suite_digest: String,
    /// The profile.
    pub profile: String,
    /// The runtime: `process`, `docker` or `external`.
    pub runtime: String,
    /// The backend.
    pub backend: String,
    /// Seed of the order.
    pub seed: u64,
    /// The runs.
    pub runs: Vec<PlannedRun>,
}

/// One start-to-stop of a contender, the unit of replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRun {
    /// Unique in the plan, usable as a file name: `city-get.http4k-3_undertow.r2`.
    pub id: String,
    /// Position in the order, from 0.
    pub order: usize,
    /// Repetition, from 1.
    pub repetition: u32,
    /// The benchmark.
    pub benchmark: String,
    /// The contender.
    pub contender: String,
    /// Chosen values of the contender's matrix.
    pub parameters: BTreeMap<String, String>,
    /// Limits of the contender.
    pub limits: Limits,
    /// Steps of the load.
    pub steps: Vec<Step>,
    /// Whether the slow lifecycle checks belong to this run.
    pub lifecycle: bool,
    /// Expected duration, without builds.
    pub expected: Duration,
}

impl PlannedRun {
    /// Contender and parameters as one label: `rocket-0.4[workers=16]`.
    #[must_use]
    pub fn case_label(&self) -> String {
        case_label(&self.contender, &self.parameters)
    }
}

/// Contender and parameters as one label: `rocket-0.4[workers=16]`.
#[must_use]
pub fn case_label(contender: &str, parameters: &BTreeMap<String, String>) -> String {
    if parameters.is_empty() {
        return contender.to_owned();
    }
    let list: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{contender}[{}]", list.join(","))
}

/// Version of the plan format.
pub const FORMAT: u32 = 1;

/// Time for starting, waiting and stopping, beside the load.
const START_ALLOWANCE: Duration = Duration::from_secs(5);
/// Time for the slow lifecycle checks.
const LIFECYCLE_ALLOWANCE: Duration = Duration::from_secs(20);

/// What the user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanOptions {
    /// The profile.
    pub profile: String,
    /// Globs of contenders; empty = all.
    pub contenders: Vec<String>,
    /// Globs of benchmarks; empty = all.
    pub benchmarks: Vec<String>,
    /// Repetitions instead of the profile's.
    pub runs: Option<u32>,
    /// Seed of the order.
    pub seed: u64,
    /// The runtime.
    pub runtime: String,
    /// The backend.
    pub backend: String,
}

/// Plans a session: repetition by repetition, and inside each all cases in an order drawn from
/// the seed, so that no contender always runs first or beside the same neighbour.
///
/// # Errors
/// Every name that the suite does not know.
pub fn plan(suite: &Suite, options: &PlanOptions) -> Result<Plan, Vec<UnknownName>> {
    let mut errors = Vec::new();
    let profile = suite.profiles.get(&options.profile);
    if profile.is_none() {
        let known = suite.profiles.keys().cloned().collect();
        let name = options.profile.clone();
        errors.push(UnknownName {
            kind: "profile",
            name,
            known,
        });
    }
    let mut backends: Vec<String> = suite.backends.iter().map(|b| b.name.clone()).collect();
    backends.push("none".to_owned());
    let backend = std::slice::from_ref(&options.backend);
    errors.extend(
        select("backend", &backends, backend)
            .err()
            .unwrap_or_default(),
    );
    let names: Vec<String> = suite.contenders.iter().map(|c| c.name.clone()).collect();
    let contenders = select("contender", &names, &options.contenders);
    let names: Vec<String> = suite.benchmarks.iter().map(|b| b.name.clone()).collect();
    let benchmarks = select("benchmark", &names, &options.benchmarks);
    match (profile, contenders, benchmarks) {
        (Some(profile), Ok(contenders), Ok(benchmarks)) if errors.is_empty() => {
            let runs = runs(suite, profile, &contenders, &benchmarks, options);
            Ok(Plan {
                format: FORMAT,
                suite: suite.name.clone(),
                suite_digest: suite.digest.clone(),
                profile: options.profile.clone(),
                runtime: options.runtime.clone(),
                backend: options.backend.clone(),
                seed: options.seed,
                runs,
            })
        }
        (_, contenders, benchmarks) => {
            errors.extend(contenders.err().unwrap_or_default());
            errors.extend(benchmarks.err().unwrap_or_default());
            Err(errors)
        }
    }
}

fn runs(
    suite: &Suite,
    profile: &Profile,
    contenders: &[String],
    benchmarks: &[String],
    options: &PlanOptions,
) -> Vec<PlannedRun> {
    let mut random = SplitMix(options.seed);
    let mut cases = Vec::new();
    for benchmark in suite
        .benchmarks
        .iter()
        .filter(|b| benchmarks.contains(&b.name))
    {
        for contender in suite
            .contenders
            .iter()
            .filter(|c| contenders.contains(&c.name))
        {
            for parameters in combinations(&contender.matrix) {
                cases.push((benchmark, contender, parameters));
            }
        }
    }
    let mut runs: Vec<PlannedRun> = Vec::new();
    for repetition in 1..=options.runs.unwrap_or(profile.runs) {
        shuffle(&mut cases, &mut random);
        for (benchmark, contender, parameters) in &cases {
            let known = runs.iter().any(|run| run.contender == contender.name);
            let lifecycle = profile.lifecycle_every_run || !known;
            let steps = if profile.steps.is_empty() {
                &benchmark.steps
            } else {
                &profile.steps
            };
            let load: Duration = steps.iter().map(|step| step.duration).sum();
            let checks = if lifecycle {
                LIFECYCLE_ALLOWANCE
            } else {
                Duration::ZERO
            };
            runs.push(PlannedRun {
                id: run_id(&benchmark.name, &contender.name, parameters, repetition),
                order: runs.len(),
                repetition,
                benchmark: benchmark.name.clone(),
                contender: contender.name.clone(),
                parameters: parameters.clone(),
                limits: profile.limits,
                steps: steps.clone(),
                lifecycle,
                expected: load + START_ALLOWANCE + checks,
            });
        }
    }
    runs
}

/// Every combination of the values of a matrix; one empty combination for an empty matrix.
fn combinations(matrix: &BTreeMap<String, Vec<String>>) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for (name, values) in matrix {
        let extend = |chosen: BTreeMap<String, String>| {
            values.iter().map(move |value| {
                let mut chosen = chosen.clone();
                chosen.insert(name.clone(), value.clone());
                chosen
            })
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}

/// A name that is unique in the plan and safe as a file name.
fn run_id(
    benchmark: &str,
    contender: &str,
    parameters: &BTreeMap<String, String>,
    repetition: u32,
) -> String {
    let safe = |text: &str| {
        let keep = |c: char| {
            if c.is_ascii_alphanumeric() || "-_=.".contains(c) {
                c
            } else {
                '_'
            }
        };
        text.chars().map(keep).collect::<String>()
    };
    let mut id = format!("{}.{}", safe(benchmark), safe(contender));
    for (name, value) in parameters {
        id.push_str(&format!(".{}={}", safe(name), safe(value)));
    }
    format!("{id}.r{repetition}")
}

/// Fisher and Yates' shuffle.
fn shuffle<T>(list: &mut [T], random: &mut SplitMix) {
    for last in (1..list.len()).rev() {
        let bound = last as u64 + 1;
        // The bias of the remainder is below 2^-50 for any list that fits in memory.
        let chosen = usize::try_from(random.next() % bound).unwrap_or(last);
        list.swap(last, chosen);
    }
}

/// Steele, Lea and Flood's `SplitMix64` (2014). Ours, so that a recorded seed gives the same
/// order in every version.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
