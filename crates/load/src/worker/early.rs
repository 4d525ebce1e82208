//! Tests with a service that sends unasked: messages that it pushed before the window opened are
//! found in it.

use std::collections::VecDeque;

use bakeoff_model::load::{Pace, Protocol, WebSocket};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::io::Errno;

use super::simulation::{MILLISECOND, SECOND, carry_out, load_spec};
use crate::clock::simulated;
use crate::payload::Payload;
use crate::transport::reactor::{Event, Reactor};

/// The text `hello` in one frame.
const MESSAGE: &[u8] = b"\x81\x05hello";

/// How much later than the kernel the thread finds received bytes.
const LATE_NS: u64 = 450 * MILLISECOND;

/// Messages are pushed this far apart, from the upgrade on.
const EVERY_NS: u64 = 100 * MILLISECOND;

/// One connection on which messages are pushed and found late.
#[derive(Default)]
struct Pushing {
    /// Data to deliver: when it is found, when the kernel had it, and the bytes; the first of all
    /// is the connection itself.
    coming: VecDeque<(u64, u64, Vec<u8>)>,
    connected: bool,
    handed: Vec<u8>,
}

impl Reactor for Pushing {
    const NAME: &'static str = "pushing";

    fn resize(&mut self, _: usize) {}

    fn open(&mut self, _: usize) {
        self.connected = true;
    }

    fn send(&mut self, _: usize, payload: Payload) {
        let request = String::from_utf8_lossy(payload.bytes()).into_owned();
        let key = request
            .lines()
            .find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
        let Some(key) = key else {
            return;
        };
        let now = now_ns();
        self.coming.push_back((now, now, granted(key)));
        for number in 1..200 {
            let at_ns = now + number * EVERY_NS;
            self.coming
                .push_back((at_ns + LATE_NS, at_ns, MESSAGE.to_vec()));
        }
    }

    fn is_sending(&self, _: usize) -> bool {
        false
    }

    fn close(&mut self, _: usize) {
        self.coming.clear();
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let until_ns = now_ns() + timeout_ns.max(1_000);
        let next_ns = self.coming.front().map_or(u64::MAX, |next| next.0);
        simulated::set_ns(until_ns.min(next_ns).max(now_ns()));
        Ok(())
    }

    fn next(&mut self) -> Option<(usize, Event<'_>)> {
        if std::mem::take(&mut self.connected) {
            return Some((0, Event::Connected));
        }
        if self.coming.front()?.0 > now_ns() {
            return None;
        }
        let (_, received_ns, bytes) = self.coming.pop_front()?;
        self.handed = bytes;
        let event = Event::Data {
            bytes: &self.handed,
            received_ns,
            ending: false,
        };
        Some((0, event))
    }

    fn sent_bytes(&self) -> u64 {
        0
    }
}

fn now_ns() -> u64 {
    simulated::now_ns().unwrap_or(0)
}

fn granted(key: &str) -> Vec<u8> {
    let accepted = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let digest = &ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
    let accept = STANDARD.encode(ring::digest::digest(digest, accepted.as_bytes()));
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    head.into_bytes()
}

#[test]
fn messages_that_waited_when_the_window_opened_are_in_no_slice() {
    let mut spec = load_spec(1, SECOND, Pace::Closed);
    spec.target.protocol = Protocol::Websocket(WebSocket::default());
    let tally = carry_out(&spec, Pushing::default());
    // The upgrade is a second before the window, so messages come when it opens and every 100 ms
    // after that. What comes in its last 450 ms is found when it is over: six are left.
    assert_eq!(tally.requests, 6, "{:?}", tally.errors);
}
