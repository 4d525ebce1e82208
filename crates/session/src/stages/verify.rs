//! Functional checks: does the contender respond as the suite says?

use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::record::CheckRecord;
use bakeoff_model::request::check::{Check, CheckOutcome, ReceivedResponse};
use bakeoff_model::text::duration_ns;
use bakeoff_places::contracts::{Client, Destination};
use tokio::time::{Instant, sleep};

use crate::contracts::GROUP;

/// Pause before the one repetition of a check that found no service.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Sends the request of a check; the response, or why there is none.
pub async fn ask(
    client: &dyn Client,
    to: &Destination,
    check: &Check,
) -> Result<ReceivedResponse, Problem> {
    let names = |name: &str| name.eq_ignore_ascii_case("host");
    let is_typed = check.headers.iter().any(|(name, _)| names(name));
    let Some(host) = to.host.as_ref().filter(|_| !is_typed) else {
        return client.ask(to, check).await;
    };
    let mut check = check.clone();
    // Where the load has it.
    check.headers.insert(0, ("Host".to_owned(), host.clone()));
    client.ask(to, &check).await
}

/// Makes one check.
pub async fn check(client: &dyn Client, to: &Destination, check: &Check) -> CheckRecord {
    let begun = Instant::now();
    let outcome = match ask(client, to, check).await {
        Err(problem) => CheckOutcome::ConnErr {
            message: problem.to_string(),
        },
        Ok(answer) => match check.expect.evaluate(&answer) {
            Ok(()) => CheckOutcome::Good,
            Err(problem) => CheckOutcome::Bad {
                assertion: problem.to_string(),
            },
        },
    };
    CheckRecord {
        group: check.group.clone(),
        name: check.name.clone(),
        outcome,
        duration_ns: elapsed_ns(begun),
        value: None,
    }
}

/// The check that compares most of its response: a contender that passes it still has everything
/// that it needs for one. Of equal ones the first; of those that change nothing, as they are made
/// again.
pub(crate) fn telling(checks: &[Check]) -> Option<&Check> {
    let safe = checks.iter().filter(|check| check.method == "GET");
    let telling = safe.reduce(|best, one| {
        let more = one.expect.comparisons() > best.expect.comparisons();
        if more { one } else { best }
    });
    telling.or(checks.first())
}

/// The check "alive at the end": one functional check, repeated once on a fresh connection.
pub async fn alive(client: &dyn Client, to: &Destination, one: &Check) -> CheckRecord {
    let mut record = check(client, to, one).await;
    if record.outcome != CheckOutcome::Good {
        sleep(RETRY_PAUSE).await;
        record = check(client, to, one).await;
    }
    GROUP.clone_into(&mut record.group);
    "alive at the end".clone_into(&mut record.name);
    record
}

/// Nanoseconds since `begun`.
pub(crate) fn elapsed_ns(begun: Instant) -> u64 {
    duration_ns::whole(begun.elapsed())
}

#[cfg(test)]
mod tests {
    use bakeoff_model::request::Body;
    use bakeoff_model::request::check::{Check, Expect};

    use super::telling;

    fn check(method: &str, name: &str, compares: usize) -> Check {
        let values = (0..compares).map(|key| (format!("$.{key}"), key.into()));
        Check {
            group: "get".to_owned(),
            name: name.to_owned(),
            method: method.to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: Body::default(),
            expect: Expect {
                values: values.collect(),
                ..Expect::default()
            },
        }
    }

    #[test]
    fn the_question_after_the_load_is_a_real_one() {
        let name = |checks: &[Check]| telling(checks).map(|check| check.name.clone());
        let found = name(&[
            check("GET", "root", 0),
            check("GET", "city", 5),
            check("GET", "another", 5),
            check("POST", "register", 9),
        ]);
        assert_eq!(found.as_deref(), Some("city"));
        let found = name(&[check("POST", "register", 9)]);
        assert_eq!(found.as_deref(), Some("register"));
        assert_eq!(name(&[]), None);
    }
}
