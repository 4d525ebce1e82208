//! Functional checks: does the contender respond as the suite says? (C6)

use std::net::SocketAddr;
use std::time::Duration;

use bakeoff_model::check::{Check, CheckOutcome};
use bakeoff_model::duration_ns;
use bakeoff_model::record::CheckRecord;
use tokio::time::{Instant, sleep};

use crate::contracts::{Client, GROUP};

/// Pause before the one repetition of a check that found no service.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// Makes one check.
pub async fn check(client: &dyn Client, to: SocketAddr, check: &Check) -> CheckRecord {
    let begun = Instant::now();
    let outcome = match client.ask(to, check).await {
        Err(message) => CheckOutcome::ConnErr { message },
        Ok(answer) => match check.expect.evaluate(&answer) {
            Ok(()) => CheckOutcome::Good,
            Err(assertion) => CheckOutcome::Bad { assertion },
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

/// The check "alive at the end": one functional check, repeated once on a fresh connection.
pub async fn alive(client: &dyn Client, to: SocketAddr, one: &Check) -> CheckRecord {
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
