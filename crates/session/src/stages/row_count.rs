//! The check that a contender stored its rows: rows in its database against successful requests.
//!
//! Rows are counted right before the load and again when the contender has ended, because one that
//! nothing awaits any more may still store what it was sent. A request without a complete response
//! may or may not have stored its row: so up to that number of extra rows is right, too.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use bakeoff_base::text;
use bakeoff_model::load::{LoadInterval, RequestSpec};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{CheckRecord, Record};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::Rows;
use bakeoff_model::suite::conditions::TrafficPath;
use bakeoff_places::services::Services;
use bakeoff_store::event::{self, Observer};
use tokio::time::Instant;

use super::start::stage;
use super::verify::elapsed_ns;
use crate::contracts::{Halt, SessionDeps};
use crate::ready_case::Case;

/// The group of these checks.
const GROUP: &str = "rows";

/// The outcomes of the requests of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    /// Successful requests.
    pub(crate) successes: u64,
    /// Sent, without a complete response.
    pub(crate) unanswered: u64,
}

/// The outcomes of all requests of a run, by name.
#[derive(Debug, Default)]
pub(crate) struct Requests(BTreeMap<String, Outcomes>);

impl Requests {
    /// Adds a slice of the load, warm-up or not.
    pub(crate) fn add(&mut self, requests: &[RequestSpec], load: &LoadInterval) {
        match requests {
            [one] => self.of(one.label()).successes += load.requests,
            _ => {
                for part in &load.by_request {
                    self.of(part.name.clone()).successes += part.requests;
                }
            }
        }
        for (name, count) in &load.unanswered {
            self.of(name.clone()).unanswered += count;
        }
    }

    /// Adds what became of others.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (name, outcomes) in &other.0 {
            let own = self.of(name.clone());
            own.successes += outcomes.successes;
            own.unanswered += outcomes.unanswered;
        }
    }

    fn of(&mut self, name: String) -> &mut Outcomes {
        self.0.entry(name).or_default()
    }
}

/// The rows that are counted in a run, with those that were there before the load.
pub(crate) struct Counted<'a> {
    services: &'a Services,
    contender: String,
    before: Vec<(&'a Rows, i64)>,
}

/// Counts before the load; `None` if the run has nothing to count.
///
/// # Errors
/// The database cannot be asked.
pub(crate) async fn before<'a>(
    parts: &SessionDeps<'a>,
    case: &Case,
) -> Result<Option<Counted<'a>>, Failure> {
    let is_ours = parts.place.runtime.traffic_path() != TrafficPath::External;
    if !is_ours {
        return Ok(None);
    }
    let services = parts.services;
    let contender = case.begin.run.contender.clone();
    let mut before = Vec::new();
    for rows in wanted(parts, case) {
        let found = count(services, &contender, rows).await;
        before.push((rows, found.map_err(|why| failure(why.message()))?));
    }
    Ok((!before.is_empty()).then_some(Counted {
        services,
        contender,
        before,
    }))
}

/// Returns the rows that the backend of the run has to hold of requests that the run sends.
fn wanted<'a>(parts: &SessionDeps<'a>, case: &Case) -> impl Iterator<Item = &'a Rows> {
    let specs = parts.suite.backends.iter();
    let specs = specs.filter(|spec| spec.name == case.begin.backend);
    let sent: Vec<String> = case.requests.iter().map(RequestSpec::label).collect();
    specs
        .flat_map(|spec| &spec.rows)
        .filter(move |rows| sent.contains(&rows.request))
}

/// Counts again, when the contender has ended, and records a check for each count.
///
/// # Errors
/// The first count that is wrong or cannot be made, or the observer's.
pub(crate) async fn after(
    counted: Option<Counted<'_>>,
    requests: &Requests,
    case: &Case,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    let Some(Counted {
        services,
        contender,
        before,
    }) = counted
    else {
        return Ok(());
    };
    stage(observer, case, Stage::Count)?;
    let mut first = None;
    for (rows, was) in before {
        let begun = Instant::now();
        let of_request = requests.0.get(&rows.request).copied().unwrap_or_default();
        let (outcome, value) = match count(services, &contender, rows).await {
            Err(problem) => (
                CheckOutcome::ConnErr {
                    message: problem.to_string(),
                },
                None,
            ),
            Ok(found) => {
                let added = found.saturating_sub(was);
                let outcome = match judge(&rows.request, of_request, added) {
                    Ok(()) => CheckOutcome::Good,
                    Err(problem) => CheckOutcome::Bad {
                        assertion: problem.to_string(),
                    },
                };
                (outcome, Some(rows_text(added)))
            }
        };
        if let CheckOutcome::Bad { assertion: why } | CheckOutcome::ConnErr { message: why } =
            &outcome
        {
            first.get_or_insert_with(|| failure(why));
        }
        let check = CheckRecord {
            group: GROUP.to_owned(),
            name: format!("one for each {}", rows.request),
            outcome,
            duration_ns: elapsed_ns(begun),
            value,
        };
        event::record(observer, case.run_id(), Record::Check(check))?;
    }
    first.map_or(Ok(()), |failure| Err(failure.into()))
}

fn failure(why: &str) -> Failure {
    Failure::new(Stage::Count, why)
}

/// Returns the result of a query.
async fn count(services: &Services, contender: &str, rows: &Rows) -> Result<i64, Problem> {
    let found = services.query(contender, &rows.query).await;
    let found = found.map_err(|why| format!("rows cannot be counted: {why}"))?;
    found.trim().parse().map_err(|_| {
        format!(
            "rows cannot be counted: {:?} finds {found:?}, which is not a whole number",
            rows.query
        )
        .into()
    })
}

/// Whether this number of rows are right; a sentence when they are not.
fn judge(request: &str, of_request: Outcomes, added: i64) -> Result<(), Problem> {
    let Outcomes {
        successes,
        unanswered,
    } = of_request;
    let what = match u64::try_from(added) {
        Ok(added) if added > successes.saturating_add(unanswered) => {
            "more was stored than succeeded"
        }
        Ok(added) if added >= successes => return Ok(()),
        _ => "a success was reported and not stored",
    };
    let open = match unanswered {
        0 => String::new(),
        _ => format!(" and {unanswered} without a complete response"),
    };
    Err(format!(
        "{successes} of `{request}` succeeded{open}, but {} added: {what}",
        rows_text(added)
    )
    .into())
}

/// A difference of two counts with its noun; below zero if rows were taken away.
fn rows_text(rows: i64) -> String {
    format!("{rows} row{}", text::plural(rows.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::{Outcomes, judge};

    #[test]
    fn rows_lie_between_successes_and_what_may_have_been_stored() {
        let check = |successes: u64, unanswered: u64, added: i64, expect: &str| {
            let of_request = Outcomes {
                successes,
                unanswered,
            };
            let judged = judge("register", of_request, added);
            let said = judged.map_or_else(|problem| problem.to_string(), |()| String::new());
            assert_eq!(said, expect);
        };
        check(0, 0, 0, "");
        check(1000, 0, 1000, "");
        check(1000, 3, 1000, "");
        check(1000, 3, 1003, "");
        check(
            1000,
            3,
            999,
            "1000 of `register` succeeded and 3 without a complete response, but 999 \
             rows added: a success was reported and not stored",
        );
        check(
            1,
            0,
            2,
            "1 of `register` succeeded, but 2 rows added: more was stored than \
             succeeded",
        );
        check(
            1,
            0,
            -1,
            "1 of `register` succeeded, but -1 row added: a success was reported and \
             not stored",
        );
    }
}
