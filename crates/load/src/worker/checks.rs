//! Checks complete responses. The rules for a captured response are the model's, so that a
//! check before the load and the same check during the load cannot disagree.

use bakeoff_base::content_encoding;
use bakeoff_base::problem::Problem;
use bakeoff_model::load::{ErrorClass, LoadSpec, Protocol, TimeUnit};
use bakeoff_model::request::check::{Expect, ReceivedResponse};
use bakeoff_model::request::grpc;

use crate::clock::{now_ns, wall_ns};
use crate::prepare::request::Prepared;
use crate::protocol::response::{Capture, Response};
use bakeoff_base::random::Random;

/// Longest content of a compressed body that is compared, bytes; as in checks.
const BODY_MAX: usize = 64 << 20;

/// Whether a response is right, or why not.
pub(super) type ResponseCheck = Result<(), (ErrorClass, String)>;

/// Which bodies are checked, and the checks of a thread.
#[derive(Debug)]
pub(super) struct BodyChecks {
    /// One body in this many is checked; 0 = none.
    every: u64,
    /// Responses until the next captured one.
    until_capture: u64,
    random: Random,
    /// The unit of the timestamps in messages of WebSocket.
    timestamp: Option<TimeUnit>,
}

impl BodyChecks {
    /// The checks that `spec` asks for.
    pub(super) fn new(spec: &LoadSpec, random: Random) -> Self {
        let mut checks = Self {
            every: u64::from(spec.check_body_every),
            until_capture: 0,
            random,
            timestamp: match spec.target.protocol {
                Protocol::Websocket(websocket) => websocket.timestamp,
                Protocol::Http1 | Protocol::Http2 => None,
            },
        };
        checks.draw();
        checks
    }

    /// Whether messages carry the time of their sending, so that for one that has not arrived it is
    /// not known whether it was sent.
    pub(super) fn has_timestamps(&self) -> bool {
        self.timestamp.is_some()
    }

    /// Draws the number of responses before the next captured one: on average the number of the
    /// spec, but at random, so that no request of a regular mix is never captured.
    fn draw(&mut self) {
        self.until_capture = match self.every {
            0 => u64::MAX,
            every => 1 + self.random.bits() % (2 * every - 1),
        };
    }

    /// Returns which part of the response to the next request has to be captured, given the part
    /// that another check reads.
    #[inline]
    pub(super) fn capture(&mut self, request: &Prepared, other: Capture) -> Capture {
        self.until_capture -= 1;
        let drawn = self.until_capture == 0;
        if drawn {
            self.draw();
        }
        match request.expect {
            Some(_) if drawn || request.awaits_length() => Capture::All,
            _ => other,
        }
    }

    /// Whether a response is right: status and length always, the rest when it is captured.
    #[inline]
    pub(super) fn verdict(&self, request: &Prepared, response: &mut Response) -> ResponseCheck {
        let status = response.status;
        if !request.allows(status) {
            let message = format!("status {status} for {}", request.name);
            return Err((ErrorClass::UnexpectedStatus, message));
        }
        if let Some(call) = &request.call
            && !call.allows(response.grpc_status)
        {
            let found = response.grpc_status.map(grpc::status_text);
            let found = found.unwrap_or_else(|| "none".to_owned());
            let message = format!("gRPC status {found} for {}", request.name);
            return Err((ErrorClass::UnexpectedStatus, message));
        }
        if let Some(left @ 1..) = response.events_left() {
            let (came, wanted) = (request.events - left, request.events);
            let message = format!("{came} of {wanted} events for {}", request.name);
            return Err((ErrorClass::WrongBody, message));
        }
        let bytes = response.body_bytes;
        if request.body_bytes.is_some_and(|expected| expected != bytes) {
            let message = format!("body of {bytes} bytes for {}", request.name);
            return Err((ErrorClass::WrongBody, message));
        }
        let captured = request.expect.as_ref().zip(response.captured());
        if let Some((expect, captured)) = captured
            && let Err(message) = captured.and_then(|response| evaluate(request, expect, response))
        {
            let message = format!("{}: {message}", request.name);
            return Err((ErrorClass::WrongBody, message));
        }
        match request.length_like_first(bytes) {
            first if first == bytes => Ok(()),
            first => {
                let message = format!("{}: body of {bytes} bytes, first of {first}", request.name);
                Err((ErrorClass::WrongBody, message))
            }
        }
    }

    /// Returns the nanoseconds from the time in a message to its arrival at `received_ns`
    /// (monotonic); `None` if messages carry no time.
    ///
    /// # Errors
    /// If the message has no time, or one in the future.
    #[inline]
    pub(super) fn age_ns(
        &self,
        response: &Response,
        received_ns: u64,
    ) -> Result<Option<u64>, (ErrorClass, String)> {
        let Some(unit) = self.timestamp else {
            return Ok(None);
        };
        let late_ns = now_ns().saturating_sub(received_ns);
        let age_ns = age_ns(&response.prefix, unit, wall_ns().saturating_sub(late_ns));
        age_ns
            .map(Some)
            .map_err(|problem| (ErrorClass::WrongBody, problem.to_string()))
    }
}

/// Compares a captured response with its expectation; a call is compared by its message.
fn evaluate(
    request: &Prepared,
    expect: &Expect,
    response: &ReceivedResponse,
) -> Result<(), Problem> {
    match &request.call {
        None => {
            let content = content_encoding::decoded(&response.headers, &response.body, BODY_MAX)?;
            let Some(body) = content else {
                return expect.evaluate(response);
            };
            expect.evaluate(&ReceivedResponse {
                body,
                ..response.clone()
            })
        }
        Some(call) => expect.evaluate(&call.decoded(response)?),
    }
}

/// Returns the nanoseconds from the time in a message to `now_ns`, both since the Unix epoch.
fn age_ns(message: &[u8], unit: TimeUnit, now_ns: u64) -> Result<u64, Problem> {
    let shown = || String::from_utf8_lossy(&message[..message.len().min(40)]).into_owned();
    let digits = message.iter().skip_while(|byte| !byte.is_ascii_digit());
    let mut digits = digits.take_while(|byte| byte.is_ascii_digit()).peekable();
    if digits.peek().is_none() {
        return Err(format!("no timestamp in the message {:?}", shown()).into());
    }
    let count = digits.try_fold(0_u64, |count, digit| {
        count.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    let sent_ns = count.and_then(|count| count.checked_mul(unit.nanoseconds()));
    let sent_ns = sent_ns.ok_or_else(|| format!("no timestamp in {:?}", shown()))?;
    if sent_ns > now_ns {
        return Err(format!("the timestamp of {:?} is in the future", shown()).into());
    }
    Ok(now_ns - sent_ns)
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::TimeUnit;

    use super::age_ns;

    #[test]
    fn timestamps_are_read_in_their_unit() {
        let now_ns = 1_700_000_000_123_456_789;
        for (message, unit, age) in [
            ("1700000000123", TimeUnit::Milliseconds, Ok(456_789)),
            ("1700000000123456", TimeUnit::Microseconds, Ok(789)),
            ("1700000000123456789", TimeUnit::Nanoseconds, Ok(0)),
            (
                "{\"at\": 1700000000023, \"n\": 5}",
                TimeUnit::Milliseconds,
                Ok(100_456_789),
            ),
            (
                "1700000000124",
                TimeUnit::Milliseconds,
                Err("is in the future"),
            ),
            (
                "1700000000123456789",
                TimeUnit::Milliseconds,
                Err("no timestamp"),
            ),
            (
                "99999999999999999999999",
                TimeUnit::Nanoseconds,
                Err("no timestamp"),
            ),
            ("hello", TimeUnit::Milliseconds, Err("no timestamp")),
            ("", TimeUnit::Nanoseconds, Err("no timestamp")),
        ] {
            match (age_ns(message.as_bytes(), unit, now_ns), age) {
                (Ok(found), Ok(age)) => assert_eq!(found, age, "{message}"),
                (Err(found), Err(text)) => assert!(found.message().contains(text), "{found}"),
                (found, _) => panic!("{message}: {found:?}"),
            }
        }
    }
}
