//! Several requests in flight on one connection of HTTP/1.1 (RFC 9112, 9.3.2): they are sent
//! without waiting, and the answers come in their order.

use std::collections::VecDeque;

use bakeoff_model::load::ErrorClass;

use super::head::LastHead;
use super::reader::{Progress, Reader};
use crate::link::Told;
use crate::received::{Keep, Received};
use crate::request::Asked;

/// A request whose answer has not come.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    place: usize,
    head_only: bool,
    keep: Keep,
}

/// One connection with several requests in flight.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Reads the answer to the first of the awaited.
    reader: Reader,
    /// By place: what came of the last answer.
    received: Vec<Received>,
    awaited: VecDeque<Awaited>,
    /// The service closes after an answer that has come, or what came is none.
    over: bool,
    out: Vec<u8>,
}

impl Pipeline {
    /// A connection with room for `width` requests in flight, before it is established.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            reader: Reader::new(),
            received: std::iter::repeat_with(Received::default)
                .take(width)
                .collect(),
            awaited: VecDeque::with_capacity(width),
            over: false,
            out: Vec::new(),
        }
    }

    /// Begins anew on a fresh connection.
    pub(crate) fn greet(&mut self) {
        self.awaited.clear();
        self.over = false;
        self.out.clear();
    }

    /// Whether a request may be sent.
    pub(crate) fn has_room(&self) -> bool {
        !self.over
    }

    /// Sends a request after those that are in flight.
    pub(crate) fn begin(&mut self, place: usize, asked: Asked<'_>, keep: Keep) {
        let head_only = asked.head_only;
        self.received[place].begin(keep);
        if self.awaited.is_empty() {
            self.reader.begin(head_only, keep);
        }
        self.awaited.push_back(Awaited {
            place,
            head_only,
            keep,
        });
        self.out.extend_from_slice(asked.bytes);
    }

    /// What has come of the answer at this place; while it is awaited, of the one that comes now
    /// and holds it up.
    pub(crate) fn received(&mut self, place: usize) -> &mut Received {
        if self.awaited.iter().any(|awaited| awaited.place == place) {
            &mut self.reader.received
        } else {
            &mut self.received[place]
        }
    }

    /// Bytes that the connection has to carry now.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Takes the next bytes of the connection and tells what came of them. A fault is the last
    /// thing told; nothing may be fed after it.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], last: &mut LastHead, told: &mut Vec<Told>) {
        while !bytes.is_empty() {
            if self.awaited.is_empty() {
                self.over = true;
                let message = "bytes that nobody asked for".to_owned();
                told.push(Told::Fault(ErrorClass::BadFraming, message));
                return;
            }
            match self.reader.feed(bytes, last) {
                Ok(Progress::More) => return,
                Ok(Progress::Whole { rest }) => bytes = &bytes[bytes.len() - rest..],
                Err(message) => {
                    self.over = true;
                    told.push(Told::Fault(ErrorClass::BadFraming, message));
                    return;
                }
            }
            self.end_answer(told);
            if self.over {
                return;
            }
        }
    }

    /// The other side closed: `true` when that was the end of an answer, which is then told.
    pub(crate) fn finish(&mut self, told: &mut Vec<Told>) -> bool {
        let ends = !self.awaited.is_empty() && self.reader.finish();
        if ends {
            self.end_answer(told);
        }
        ends
    }

    /// The answer to the first of the awaited requests is whole.
    fn end_answer(&mut self, told: &mut Vec<Told>) {
        let Some(first) = self.awaited.pop_front() else {
            return;
        };
        std::mem::swap(&mut self.reader.received, &mut self.received[first.place]);
        told.push(Told::Whole(first.place));
        if !self.reader.keeps_alive() {
            self.over = true;
            let message = "the service closed after an answer to an earlier request".to_owned();
            told.push(Told::Fault(ErrorClass::EarlyClose, message));
        } else if let Some(next) = self.awaited.front() {
            self.reader.begin(next.head_only, next.keep);
        }
    }
}
