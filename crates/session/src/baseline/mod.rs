//! A session with a baseline: each contender as it is, the head, and as it was, the base.
//!
//! The base is another folder of the suite, or a revision of the git repository that the suite is
//! in. Only its contenders are taken: requests, checks and limits are those of the head for both.
//! The measurement is then a session like any other, in turns.

pub(crate) mod replacement;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_analysis::NothingToCompare;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;
use bakeoff_model::plan::baseline::{Baseline, Condition, ConditionMetric, base_name, head_name};
use bakeoff_model::plan::{ChosenCase, Plan, PlanOptions, PlannedRun, matches};
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::{BenchmarkKind, Contender};
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::options::Revisions;
use bakeoff_store::session_file::SessionFile;
use bakeoff_store::suite_folder::{self, SuiteFolder};

use crate::revision::Tree;
use crate::selection;
use crate::testbed::Testbed;

/// The baseline of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineRequest {
    /// A folder that holds the suite as it was, or a revision.
    pub name: String,
    /// When the session has failed.
    pub fail_if: Vec<Condition>,
    /// The session has failed also when one of these is undecided.
    pub undecided_fails: bool,
    /// The session ends when this time is over, or as soon as everything is decided, whatever the
    /// profile says.
    pub within: Option<Duration>,
}

/// The contenders as they were. Their files are there as long as this lives.
#[derive(Debug)]
pub(crate) struct Base {
    /// The part of the base that the results folder keeps.
    pub(crate) baseline: Baseline,
    /// Notes for the user about the base, a sentence each.
    pub(crate) notes: Vec<String>,
    /// Folder of the suite as it was.
    folder: PathBuf,
    contenders: Vec<Contender>,
    /// The time that was asked for.
    within: Option<Duration>,
    /// Holds the files of a revision.
    tree: Option<Tree>,
}

impl Base {
    /// Finds the base of a new session on the suite in `suite`.
    pub(crate) fn find(wanted: &BaselineRequest, suite: &Path) -> anyhow::Result<Self> {
        let folder = PathBuf::from(&wanted.name);
        let is_folder = folder.join("suite.toml").is_file();
        let baseline = Baseline {
            name: wanted.name.clone(),
            commit: None,
            folder: is_folder.then(|| folder.canonicalize()).transpose()?,
            fail_if: wanted.fail_if.clone(),
            undecided_fails: wanted.undecided_fails,
        };
        Ok(Self {
            within: wanted.within,
            ..Self::of(baseline, suite)?
        })
    }

    /// Opens the base of a new or resumed session.
    pub(crate) fn of(mut baseline: Baseline, suite: &Path) -> anyhow::Result<Self> {
        let (folder, tree, notes) = match &baseline.folder {
            Some(folder) => {
                let words = baseline.describe();
                let note = format!("baseline {words}; head is the suite's folder as it is");
                (folder.clone(), None, vec![note])
            }
            None => {
                let name = baseline.commit.as_ref().unwrap_or(&baseline.name);
                let tree = Tree::of(name, suite)?;
                baseline.commit = Some(tree.commit.clone());
                let notes = tree.notes(&baseline.describe())?;
                (tree.inside(), Some(tree), notes)
            }
        };
        if !folder.join("suite.toml").is_file() {
            let words = baseline.describe();
            return Err(hinted(
                format_args!("the baseline {words} has no such suite: no suite.toml there"),
                "name a revision that has it, in this folder",
            ));
        }
        let contenders = suite_folder::read_contenders(&folder)?;
        let contenders = contenders.into_iter().map(|contender| Contender {
            name: base_name(&contender.name),
            is_base: true,
            ..contender
        });
        Ok(Self {
            contenders: contenders.collect(),
            baseline,
            notes,
            folder,
            within: None,
            tree,
        })
    }

    /// Returns the change from base to head, if the base is a revision.
    pub(crate) fn revisions(&self) -> Option<Revisions> {
        self.tree.as_ref().map(Tree::revisions)
    }

    /// Adds the contenders as they were to those of the suite.
    pub(crate) fn join(&self, suite: &mut SuiteFolder) {
        suite.base = Some(self.folder.clone());
        suite.suite.contenders.extend(self.contenders.clone());
    }

    /// Joins the suite, and makes what was chosen of it a session of heads and bases in turns.
    /// Contenders and benchmarks that take no part come back, a line each.
    pub(crate) fn pair(
        &mut self,
        suite: &mut SuiteFolder,
        options: &mut PlanOptions,
    ) -> anyhow::Result<Vec<String>> {
        if options.runtime == RuntimeKind::External {
            return Err(hinted(
                "services that run elsewhere have no baseline",
                "base and head are built and started: use --runtime process or docker",
            ));
        }
        let heads = selection::planned(&suite.suite, options)?;
        let mut left_out = Vec::new();
        let benchmarks = &suite.suite.benchmarks;
        let (loads, starts): (Vec<_>, Vec<_>) = benchmarks
            .iter()
            .filter(|one| heads.runs.iter().any(|run| run.benchmark == one.name))
            .partition(|one| one.kind == BenchmarkKind::Load);
        let loads: Vec<String> = loads.iter().map(|one| one.name.clone()).collect();
        left_out.extend(starts.iter().map(|one| {
            let name = &one.name;
            format!("{name}: cold starts are not compared with a baseline")
        }));
        if loads.is_empty() {
            return Err(hinted(
                "there is no load to compare with a baseline",
                "choose a benchmark of kind `load`",
            ));
        }
        let cases = self.paired(&heads, &options.contenders, &mut left_out);
        if cases.is_empty() {
            let words = self.baseline.describe();
            return Err(hinted(
                format_args!("no contender is in both the suite and the baseline {words}"),
                left_out.join("; "),
            ));
        }
        let length = turns::Length {
            pairs: count(cases.len() / 2 * loads.len()),
            within: self.within,
            is_fixed: options.runs.is_some(),
        };
        let shape = turns::make(&mut suite.suite, &options.profile, &loads, &length)?;
        self.notes.extend(shape);
        let profile = suite.suite.profiles.get(&options.profile);
        let runs = options
            .runs
            .or(profile.map(|profile| profile.runs.at_most()));
        enough(runs.unwrap_or_default(), &self.baseline.fail_if)?;
        self.join(suite);
        options.contenders = Vec::new();
        options.parameters.clear();
        options.cases = cases;
        options.benchmarks = loads;
        Ok(left_out)
    }

    /// Takes contenders out of a session that are the same program as their base. If sets are
    /// played in groups, all are measured: one of them may be what the groups are compared through.
    ///
    /// # Errors
    /// All of them are.
    pub(crate) fn leave_out_unchanged(
        &self,
        testbed: &Testbed,
        session: &mut SessionFile,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<()> {
        let same = testbed.same_programs(self.tree.as_ref());
        let runs = session.plan.runs.iter();
        let mut heads = runs.filter(|run| head_name(&run.contender).is_none());
        if heads.all(|run| same.contains_key(&run.contender)) {
            return Err(nothing_differs(&same));
        }
        if session.plan.groups().is_some() {
            return Ok(());
        }
        for (contender, why) in same {
            let why = format!("nothing to compare, base and head are the same program: it {why}");
            session.leave_out(&contender, &why);
            observer.observe(&Event::Skipped { contender, why })?;
        }
        Ok(())
    }

    /// Head and base of every case that both have.
    fn paired(
        &self,
        heads: &Plan,
        globs: &[String],
        left_out: &mut Vec<String>,
    ) -> Vec<ChosenCase> {
        let chosen: BTreeSet<ChosenCase> = heads.runs.iter().map(case).collect();
        let words = self.baseline.describe();
        let mut cases = Vec::new();
        for head in &chosen {
            let base = ChosenCase {
                contender: base_name(&head.contender),
                parameters: head.parameters.clone(),
            };
            let mut bases = self.contenders.iter();
            match bases.find(|one| one.name == base.contender) {
                Some(one) if admits(one, &base) => cases.extend([head.clone(), base]),
                Some(_) => {
                    let label = head.label();
                    left_out.push(format!("{label}: not with these parameters in {words}"));
                }
                None => {
                    let name = &head.contender;
                    left_out.push(format!("{name}: not in the baseline {words}"));
                }
            }
        }
        let names: BTreeSet<String> = chosen.iter().map(|one| base_name(&one.contender)).collect();
        let wanted = |name: &str| globs.is_empty() || globs.iter().any(|glob| matches(glob, name));
        for base in self
            .contenders
            .iter()
            .filter(|one| !names.contains(&one.name))
        {
            if let Some(name) = head_name(&base.name).filter(|name| wanted(name)) {
                left_out.push(format!("{name}: only in the baseline {words}"));
            }
        }
        left_out.sort();
        left_out.dedup();
        cases
    }
}

/// The error of a session in which every head is the same program as its base.
fn nothing_differs(same: &BTreeMap<String, Problem>) -> anyhow::Error {
    let sentences = same.iter().map(|(name, why)| format!("{name} {why}"));
    let sentences: Vec<String> = sentences.collect();
    let hints: BTreeSet<&String> = same.values().flat_map(Problem::hints).collect();
    let problem = Problem::new(format_args!(
        "{}, so base and head are the same program",
        sentences.join("; ")
    ));
    let problem = problem.with_hints(hints.into_iter().cloned());
    anyhow::Error::new(problem).context(NothingToCompare)
}

fn count(pairs: usize) -> u32 {
    u32::try_from(pairs).unwrap_or(u32::MAX)
}

fn case(run: &PlannedRun) -> ChosenCase {
    ChosenCase {
        contender: run.contender.clone(),
        parameters: run.parameters.clone(),
    }
}

/// Whether a contender has a case with these parameters.
fn admits(contender: &Contender, case: &ChosenCase) -> bool {
    let has = |(name, value): (&String, &String)| {
        let values = contender.matrix.get(name);
        values.is_some_and(|values| values.contains(value))
    };
    let variables = &case.parameters.variables;
    contender.matrix.len() == variables.len() && variables.iter().all(has)
}

/// One set has no interval, so nothing could be found to hold in it.
fn enough(runs: u32, fail_if: &[Condition]) -> anyhow::Result<()> {
    let of_ratios = fail_if
        .iter()
        .find(|one| one.figure != ConditionMetric::Errors);
    match of_ratios {
        Some(condition) if runs < 2 => Err(hinted(
            format_args!(
                "{condition} cannot be found to hold in {}, which has no interval",
                counted(runs.into(), "set")
            ),
            "five are a sensible number: --runs 5, or `runs` of the profile",
        )),
        _ => Ok(()),
    }
}

/// Takes heads without a base and bases without a head out of a plan; each with a line that says
/// so.
pub(crate) fn without_partner(plan: &mut Plan) -> Vec<String> {
    let there: BTreeSet<String> = plan.runs.iter().map(|run| run.contender.clone()).collect();
    let mut alone = BTreeSet::new();
    plan.runs.retain(|run| {
        let name = &run.contender;
        let other = head_name(name).map_or_else(|| base_name(name), str::to_owned);
        let paired = there.contains(&other);
        if !paired {
            alone.insert(format!("{name}: {other} cannot be built here"));
        }
        paired
    });
    alone.into_iter().collect()
}
