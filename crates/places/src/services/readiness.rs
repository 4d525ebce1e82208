//! When a dependency is ready: it responds, its health check succeeds, or it has done its work.

use std::time::{Duration, Instant};

use bakeoff_base::problem::Problem;
use bakeoff_build::log::last_lines;
use bakeoff_model::suite::dependency::{Dependency, Ready};

use crate::{HealthState, Instance};

/// Pause between two looks at a dependency.
const POLL: Duration = Duration::from_millis(100);

/// Waits until a dependency is ready that listens on `port`, 0 if that is not known.
///
/// # Errors
/// It is not in time, is unhealthy, or has ended.
pub(super) async fn await_ready(
    instance: &mut dyn Instance,
    port: u16,
    wanted: &Dependency,
) -> Result<(), Problem> {
    let limit = wanted.start_timeout;
    match wanted.ready {
        Ready::Started if port == 0 => Ok(()),
        Ready::Connected | Ready::Started => {
            let ready = instance.await_ready(limit).await;
            ready.map(drop).map_err(Problem::from)
        }
        Ready::Healthy => healthy(instance, limit).await,
        Ready::Completed => completed(instance, limit).await,
    }
}

/// Waits until the health check succeeds. How often it may fail is its own `retries`, and `limit`
/// is for one that never decides.
async fn healthy(instance: &dyn Instance, limit: Duration) -> Result<(), Problem> {
    let start = Instant::now();
    let failed = |message: String, check: &str| {
        let log = last_lines(&instance.logs());
        let evidence = [check, log.as_str()].map(str::trim);
        let evidence: Vec<&str> = evidence.into_iter().filter(|one| !one.is_empty()).collect();
        Err(Problem::new(message).with_evidence(evidence.join("\n")))
    };
    loop {
        let health = instance.health().await;
        if let Some(exit) = instance.exited().await {
            return failed(format!("it {exit} before it was healthy"), "");
        }
        let Some(health) = health else {
            let problem = Problem::new("it has no health check");
            return Err(problem.with_hint("give it a `healthcheck`, or wait for its port"));
        };
        let last = match health.last.lines().last() {
            None | Some("") => "its check said nothing".to_owned(),
            Some(last) => format!("the last output of its check: {last}"),
        };
        match health.state {
            HealthState::Healthy => return Ok(()),
            HealthState::Unhealthy => {
                return failed(format!("it is unhealthy; {last}"), &health.last);
            }
            HealthState::Starting if start.elapsed() > limit => {
                let seconds = limit.as_secs_f64();
                return failed(
                    format!("not healthy after {seconds} s; {last}"),
                    &health.last,
                );
            }
            HealthState::Starting => tokio::time::sleep(POLL).await,
        }
    }
}

/// Waits until it has ended with status 0.
async fn completed(instance: &dyn Instance, limit: Duration) -> Result<(), Problem> {
    let start = Instant::now();
    loop {
        match instance.exited().await {
            Some(exit) if exit.code == Some(0) => return Ok(()),
            Some(exit) => {
                let problem = Problem::new(format!("it {exit}, and had to end with code 0"));
                return Err(problem.with_evidence(last_lines(&instance.logs())));
            }
            None if start.elapsed() > limit => {
                let seconds = limit.as_secs_f64();
                let problem = Problem::new(format!("it has not ended after {seconds} s"));
                return Err(problem.with_evidence(last_lines(&instance.logs())));
            }
            None => tokio::time::sleep(POLL).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::path::Path;
    use std::sync::Mutex;
    use std::time::Duration;

    use bakeoff_base::problem::Problem;
    use bakeoff_model::record::Startup;

    use super::{completed, healthy};
    use crate::{
        BoxFuture, ExitInfo, Health, HealthState, Instance, ReadyError, Sampled, StopReport,
    };

    /// A container with these states, one after the other, which ends after the last.
    struct Fake {
        states: Mutex<Vec<Option<(HealthState, &'static str)>>>,
        exit: Option<i32>,
    }

    impl Instance for Fake {
        fn address(&self) -> SocketAddr {
            ([127, 0, 0, 1], 1).into()
        }

        fn await_ready(&mut self, _: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
            unreachable!("its port is of no interest")
        }

        fn sample(&self) -> BoxFuture<'_, Sampled> {
            Box::pin(async { Sampled::default() })
        }

        fn health(&self) -> BoxFuture<'_, Option<Health>> {
            let mut states = self.states.lock().unwrap();
            let state = match states.len() {
                0 => None,
                1 => states[0],
                _ => states.remove(0),
            };
            let health = state.map(|(state, last)| Health {
                state,
                last: last.to_owned(),
            });
            Box::pin(async { health })
        }

        fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
            let exit = self.exit.map(|code| ExitInfo {
                code: Some(code),
                ..ExitInfo::default()
            });
            Box::pin(async move { exit })
        }

        fn stop(&mut self, _: Duration) -> BoxFuture<'_, StopReport> {
            unreachable!("it is not stopped")
        }

        fn logs(&self) -> String {
            "its log\n".to_owned()
        }

        fn log_path(&self) -> &Path {
            Path::new("log")
        }
    }

    #[tokio::test]
    async fn what_is_not_healthy_says_the_last_output_of_its_check() {
        use HealthState::{Healthy, Starting, Unhealthy};
        let check = async |states: &[(HealthState, &'static str)], exit, expect: &str| {
            let fake = Fake {
                states: Mutex::new(states.iter().copied().map(Some).collect()),
                exit,
            };
            let found = healthy(&fake, Duration::from_millis(150)).await;
            let found = found.as_ref().map_or_else(Problem::message, |()| "healthy");
            assert_eq!(found, expect);
        };
        check(
            &[(Starting, ""), (Starting, "no"), (Healthy, "yes")],
            None,
            "healthy",
        )
        .await;
        let expect = "it is unhealthy; the last output of its check: refused";
        check(&[(Starting, ""), (Unhealthy, "a\nrefused")], None, expect).await;
        let expect = "not healthy after 0.15 s; its check said nothing";
        check(&[(Starting, "")], None, expect).await;
        check(&[], None, "it has no health check").await;
        let expect = "it exited with code 3 before it was healthy";
        check(&[(Starting, "")], Some(3), expect).await;
    }

    #[tokio::test]
    async fn a_task_is_done_when_it_has_ended_with_code_0() {
        let check = async |exit, expect: &str| {
            let fake = Fake {
                states: Mutex::default(),
                exit,
            };
            let found = completed(&fake, Duration::from_millis(150)).await;
            assert_eq!(
                found.as_ref().map_or_else(Problem::message, |()| "done"),
                expect
            );
        };
        check(Some(0), "done").await;
        check(Some(1), "it exited with code 1, and had to end with code 0").await;
        check(None, "it has not ended after 0.15 s").await;
    }
}
