//! Messages of WebSocket: each one that a connection waits for is an answer, however it came
//! about.

use bakeoff_model::load::{ErrorClass, Protocol, TimeUnit};

use super::Worker;
use super::events::After;
use crate::clock::{now_ns, wall_ns};
use crate::connection::State;
use crate::link::{Stage, Wire};
use crate::reactor::Reactor;
use crate::websocket::Happened;

impl<R: Reactor> Worker<'_, R> {
    /// Takes the bytes that were copied, message after message.
    pub(super) fn take_messages(&mut self, slot: usize) {
        let bytes = std::mem::take(&mut self.plain);
        let mut at = 0;
        self.in_hand = Some(slot);
        while self.links[slot].stage != Stage::Down {
            let Wire::WebSocket(client) = &mut self.links[slot].wire else {
                break;
            };
            let (used, happened) = client.feed(&bytes[at..]);
            at += used;
            let Some(happened) = happened else { break };
            self.happened(slot, happened);
        }
        self.in_hand = None;
        self.plain = bytes;
        self.flush(slot);
    }

    fn happened(&mut self, slot: usize, happened: Happened) {
        match happened {
            Happened::Upgraded => self.opened(slot),
            Happened::Refused(status) => {
                let message = || format!("status {status} for the upgrade");
                self.fail_link(slot, ErrorClass::UnexpectedStatus, message);
            }
            Happened::Message => self.message(slot),
            Happened::Closed(words) => {
                let message = format!("the service closed {words}");
                self.break_off(slot, ErrorClass::EarlyClose, message);
            }
            Happened::Garbled(message) => self.break_off(slot, ErrorClass::BadFraming, message),
        }
    }

    /// The connection is over, after what it still has to say.
    fn break_off(&mut self, slot: usize, class: ErrorClass, message: String) {
        self.flush(slot);
        if self.links[slot].stage == Stage::Greeting || self.is_busy(slot) {
            self.fail_link(slot, class, || message);
        } else {
            self.reopen(slot);
        }
    }

    /// A message is whole. One that nobody waits for, before or after a window, is let pass.
    fn message(&mut self, slot: usize) {
        if self.connections[slot].state != State::Busy {
            return;
        }
        let Protocol::Websocket(order) = self.spec.target.protocol else {
            return;
        };
        let Wire::WebSocket(client) = &mut self.links[slot].wire else {
            return;
        };
        client.counted += 1;
        let last = order.messages > 0 && client.counted >= order.messages;
        if last {
            client.close();
            self.flush(slot);
        }
        let (extra, keep) = (false, !last);
        self.answered(slot, Some(After { extra, keep }));
    }
}

/// Nanoseconds from the instant that a message carries to the one when it came, monotonic ns.
///
/// # Errors
/// In words, when there is none or it has not come yet.
pub(super) fn stamped_ns(message: &[u8], unit: TimeUnit, came_ns: u64) -> Result<u64, String> {
    let late_ns = now_ns().saturating_sub(came_ns);
    age_ns(message, unit, wall_ns().saturating_sub(late_ns))
}

fn age_ns(message: &[u8], unit: TimeUnit, now_ns: u64) -> Result<u64, String> {
    let shown = || String::from_utf8_lossy(&message[..message.len().min(40)]).into_owned();
    let digits = message.iter().skip_while(|byte| !byte.is_ascii_digit());
    let mut digits = digits.take_while(|byte| byte.is_ascii_digit()).peekable();
    if digits.peek().is_none() {
        return Err(format!("no time stamp in the message {:?}", shown()));
    }
    let count = digits.try_fold(0_u64, |count, digit| {
        count.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    });
    let stamp_ns = count.and_then(|count| count.checked_mul(unit.nanoseconds()));
    let stamp_ns = stamp_ns.ok_or_else(|| format!("no time stamp in {:?}", shown()))?;
    if stamp_ns > now_ns {
        return Err(format!("the time stamp of {:?} has not come yet", shown()));
    }
    Ok(now_ns - stamp_ns)
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::TimeUnit;

    use super::age_ns;

    #[test]
    fn time_stamps_are_read_in_their_unit() {
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
                Err("has not come yet"),
            ),
            (
                "1700000000123456789",
                TimeUnit::Milliseconds,
                Err("no time stamp"),
            ),
            (
                "99999999999999999999999",
                TimeUnit::Nanoseconds,
                Err("no time stamp"),
            ),
            ("hello", TimeUnit::Milliseconds, Err("no time stamp")),
            ("", TimeUnit::Nanoseconds, Err("no time stamp")),
        ] {
            match (age_ns(message.as_bytes(), unit, now_ns), age) {
                (Ok(found), Ok(age)) => assert_eq!(found, age, "{message}"),
                (Err(found), Err(words)) => assert!(found.contains(words), "{found}"),
                (found, _) => panic!("{message}: {found:?}"),
            }
        }
    }
}
