//! The runs that a profile asks for: a number, or a table that says what they must find.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use crate::suite::run_count::{DIFFERENCE_MIN, PILOT_RUNS, Runs, RunsUntil};
use crate::text::bound;
use crate::text::units::DurationText;

/// The value of [`RunsTable::until`] if the session ends as soon as every pair is decided.
const SURE: &str = "sure";

/// Repetitions: a number, or enough to find a difference.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RunsValue {
    /// A fixed number.
    Number(u32),
    /// The number that a pilot finds necessary.
    Until(RunsTable),
}

/// Enough to find a difference; decided once, after a pilot of three runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RunsTable {
    /// The difference between any two contenders that four of five sessions must find:
    /// `5%`. Or `sure`: the session ends as soon as every pair is significantly different, or
    /// equivalent within 3 %, which is looked at after every run.
    pub until: String,
    /// The most runs of each contender.
    #[schemars(range(min = 4))]
    pub at_most: u32,
    /// The longest time for all runs of the session, without builds; no bound unless given. The
    /// pilot is made in any case.
    pub within: Option<DurationText>,
    /// The longest time for each run of a repetition, so that more contenders have more time: two
    /// contenders of one benchmark have twice that. With `within` too, the shorter time applies.
    pub within_each: Option<DurationText>,
}

impl RunsValue {
    /// The longest time for each run of a repetition, if one is stated.
    pub(super) fn within_each(&self) -> Option<Duration> {
        match self {
            Self::Number(_) => None,
            Self::Until(table) => table.within_each.map(|within| within.0),
        }
    }
}

impl Default for RunsValue {
    fn default() -> Self {
        Self::Number(1)
    }
}

/// One schema of both, because that is what [`super::shape`] can speak of.
impl JsonSchema for RunsValue {
    fn schema_name() -> Cow<'static, str> {
        "Runs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = RunsTable::json_schema(generator);
        schema.insert("type".to_owned(), serde_json::json!(["integer", "object"]));
        let description = "A number, or a table: enough to find a difference, decided once, \
                           after a pilot of three.";
        schema.insert("description".to_owned(), description.into());
        schema.insert("format".to_owned(), "uint32".into());
        schema.insert("minimum".to_owned(), 1.into());
        schema
    }
}

/// Returns the number of runs that a profile asks for.
pub(super) fn runs(reading: &mut Reading<'_>, place: &KeyPath, value: &RunsValue) -> Runs {
    let table = match value {
        RunsValue::Number(runs) => return Runs::Fixed(*runs),
        RunsValue::Until(table) => table,
    };
    if table.until == SURE {
        let at_most = table.at_most.max(PILOT_RUNS);
        let within = table.within.map(|within| within.0);
        return Runs::Until(RunsUntil::sure(at_most, within));
    }
    let difference = bound::share(&table.until).filter(|share| (..=1.0).contains(share));
    let place = place.key("until");
    let (message, hint) = match difference {
        Some(share) if share > DIFFERENCE_MIN => {
            return Runs::Until(RunsUntil {
                difference: share,
                sequential: false,
                at_most: table.at_most.max(PILOT_RUNS),
                within: table.within.map(|within| within.0),
            });
        }
        Some(_) => (
            format!("`{place}`: {:?} is not above 3%", table.until),
            "differences up to 3 % get no verdict, however many runs there are",
        ),
        None => (
            format!("`{place}`: {:?} is not a share up to 100%", table.until),
            "the difference to find, \"5%\", or \"sure\"",
        ),
    };
    reading.complain(&place, &message, Some(hint.to_owned()));
    Runs::Fixed(table.at_most)
}
