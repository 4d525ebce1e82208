//! Properties of the client that must hold for every sequence of frames and every way to cut it
//! into pieces.

use bakeoff_model::load::{ErrorClass, WebSocket};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::client::Client;
use super::frame::{self, opcode};
use super::utf8::Check;
use crate::payload::Payload;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::protocol::request::OutgoingRequest;
use crate::protocol::response::Capture;

/// A frame as a service would send it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write(&mut bytes, first, payload, [0; 4]);
    // Without the mask, which only clients use.
    bytes[0] = first;
    bytes[1] &= 0x7F;
    let at = bytes.len() - payload.len();
    bytes.drain(at - 4..at);
    bytes
}

/// A client whose upgrade was granted.
fn upgraded() -> Client {
    let upgrade = (*b"GET / HTTP/1.1\r\n").into();
    let mut client = Client::new(upgrade, WebSocket::default(), 1);
    client.grant();
    client
}

/// A request with this message.
fn request(message: &[u8]) -> OutgoingRequest<'_> {
    OutgoingRequest {
        payload: Payload::Owned(Vec::new()),
        http2: None,
        message,
        head_only: false,
        events: 0,
    }
}

/// The bytes that a client has to send.
fn sent(client: &mut Client, flushed: bool) -> Vec<u8> {
    let payload = client.output(flushed);
    payload.map_or_else(Vec::new, |payload| payload.bytes().to_vec())
}

/// The events when the bytes come in these pieces to a client that awaits message after message,
/// and the length of each.
fn read(pieces: &[&[u8]]) -> (Vec<(ProtocolEvent, u64)>, Vec<u8>) {
    let mut client = upgraded();
    let mut all = Vec::new();
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() {
            client.send(0, request(b""), Capture::Nothing);
            let mut events = Vec::new();
            at += client.receive(&piece[at..], 1, &mut events);
            for event in events {
                let over = matches!(event, ProtocolEvent::Failed { .. });
                let bytes = if over {
                    0
                } else {
                    client.response(0).body_bytes
                };
                all.push((event, bytes));
                if over {
                    return (all, sent(&mut client, true));
                }
            }
        }
        assert_eq!(at, piece.len());
    }
    (all, sent(&mut client, true))
}

/// A frame that a service might send, sensible or not.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let firsts = vec![
        0x81_u8, 0x82, 0x01, 0x00, 0x80, 0x89, 0x8A, 0x88, 0xC1, 0x83,
    ];
    let payload = prop::collection::vec(any::<u8>(), 0..140);
    let text = "[a-zř€𝄞]{0,40}".prop_map(String::into_bytes);
    let close = proptest::strategy::Just(vec![3, 0xE8, b'o', b'k']);
    let payload = prop::strategy::Union::new([text.boxed(), payload.boxed(), close.boxed()]);
    (prop::sample::select(firsts), payload).prop_map(|(first, payload)| frame(first, &payload))
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        frames in prop::collection::vec(any_frame(), 1..12),
        size in 1..50_usize,
    ) {
        let bytes = frames.concat();
        let whole = read(&[&bytes]);
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        prop_assert_eq!(&read(&pieces), &whole);
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(&read(&each), &whole);
    }

    #[test]
    fn text_is_checked_in_pieces_as_it_is_whole(
        text in prop::collection::vec(any::<char>(), 0..30),
        noise in prop::collection::vec(any::<u8>(), 0..3),
        size in 1..9_usize,
    ) {
        let mut bytes = text.into_iter().collect::<String>().into_bytes();
        bytes.extend(noise);
        let mut check = Check::default();
        let valid = bytes.chunks(size).all(|piece| check.take(piece)) && check.is_complete();
        prop_assert_eq!(valid, std::str::from_utf8(&bytes).is_ok());
    }

    #[test]
    fn our_frames_are_masked_and_whole(text in prop::collection::vec(any::<u8>(), 1..70_000)) {
        let mut client = upgraded();
        client.send(0, request(&text), Capture::Nothing);
        let out = sent(&mut client, true);
        let (short, head) = (out[1] & 0x7F, match text.len() {
            0..=125 => 2,
            126..=65_535 => 4,
            _ => 10,
        });
        prop_assert!(out[0] == 0x81 && out[1] & 0x80 != 0);
        prop_assert_eq!(out.len(), head + 4 + text.len());
        prop_assert!(head > 2 || usize::from(short) == text.len());
        let mask = &out[head..head + 4];
        let payload = out[head + 4..].iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m);
        prop_assert!(payload.eq(text.iter().copied()));
    }
}

type Case = (&'static str, Vec<Vec<u8>>, Vec<(ProtocolEvent, u64)>);

fn message(bytes: u64) -> (ProtocolEvent, u64) {
    let (slot, received_ns) = (0, 1);
    (ProtocolEvent::Response { slot, received_ns }, bytes)
}

#[test]
fn messages_of_every_kind_are_read() {
    let pieces = [(0x01, "ab"), (0x89, "?"), (0x00, "c"), (0x80, "d")];
    let pieces = pieces.map(|(first, text)| frame(first, text.as_bytes()));
    let closed = ProtocolEvent::Failed {
        class: ErrorClass::EarlyClose,
        message: "the service closed with code 1000 \"bye\"".to_owned(),
    };
    let cases: Vec<Case> = vec![
        ("a text", vec![frame(0x81, b"hello")], vec![message(5)]),
        ("nothing", vec![frame(0x81, b"")], vec![message(0)]),
        (
            "long",
            vec![frame(0x82, &[0; 70_000])],
            vec![message(70_000)],
        ),
        (
            "pieces with a ping between",
            pieces.to_vec(),
            vec![message(4)],
        ),
        (
            "two",
            vec![frame(0x81, b"a"), frame(0x82, b"bc")],
            vec![message(1), message(2)],
        ),
        (
            "a Close frame",
            vec![frame(0x88, b"\x03\xe8bye")],
            vec![(closed, 0)],
        ),
    ];
    for (name, frames, expected) in cases {
        assert_eq!(read(&[&frames.concat()]).0, expected, "{name}");
    }
    let (_, responses) = read(&[&[frame(0x89, b"hi"), frame(0x88, b"")].concat()]);
    assert_eq!(responses[0], 0x80 | opcode::PONG);
    assert_eq!((responses[1], responses.len()), (0x82, 8 + 6));
    assert_eq!(responses[8], 0x80 | opcode::CLOSE);
}

#[test]
fn what_no_service_may_send_is_refused() {
    let beyond = vec![0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255];
    let endless = [vec![frame(0x01, b"")], vec![frame(0x00, b""); 10_000]].concat();
    let nested = vec![frame(0x01, b""), frame(0x81, b"")];
    let code = 1005_u16.to_be_bytes();
    for (frames, text) in [
        (vec![frame(0xC1, b"")], "a reserved bit of a frame is set"),
        (vec![frame(0x83, b"")], "a frame of an unknown kind"),
        (vec![frame(0x09, b"")], "a control frame in pieces"),
        (vec![vec![0x81, 0x80, 0]], "a masked frame of a service"),
        (
            vec![frame(0x89, &[0; 126])],
            "a control frame of more than 125",
        ),
        (vec![vec![0x81, 126, 0, 5]], "is not written as it must be"),
        (vec![beyond], "is not written as it must be"),
        (vec![frame(0x80, b"")], "a continuation of no message"),
        (nested, "another message within a message"),
        (vec![frame(0x81, b"\xff")], "a text that is not UTF-8"),
        (vec![frame(0x81, b"\xc5")], "ends within a character"),
        (vec![frame(0x88, &code)], "a code that must not be sent"),
        (vec![frame(0x88, b"x")], "half a code"),
        (vec![frame(0x89, b""); 10_001], "10000 control frames"),
        (endless, "10000 empty frames"),
    ] {
        let (events, _) = read(&[&frames.concat()]);
        let [(ProtocolEvent::Failed { class, message }, 0)] = &events[..] else {
            panic!("{text}: {events:?}");
        };
        assert_eq!(*class, ErrorClass::BadFraming);
        assert!(message.contains(text), "{message}");
    }
}

#[test]
fn of_pings_whose_pongs_nobody_reads_the_last_is_answered() {
    let ping = |number: u32| frame(0x89, &number.to_be_bytes());
    let message = frame(0x81, b"m");
    let pong_bytes = 2 + 4 + 4;
    for close in [false, true] {
        let mut client = upgraded();
        let (mut sent_bytes, mut events) = (0, Vec::new());
        for number in 0..5_000 {
            client.send(0, request(b""), Capture::Nothing);
            assert_eq!(client.receive(&ping(number), 1, &mut events), 6);
            assert_eq!(events, []);
            client.receive(&message, 1, &mut events);
            assert!(matches!(events[..], [ProtocolEvent::Response { .. }]));
            events.clear();
            sent_bytes += sent(&mut client, false).len();
        }
        assert_eq!(sent_bytes, 1_000 * pong_bytes);
        if close {
            client.receive(&frame(0x88, b"\x03\xe8"), 1, &mut events);
            let out = sent(&mut client, true);
            // Nothing follows a Close frame.
            assert_eq!((out[0], out.len()), (0x88, 8));
            continue;
        }
        let out = sent(&mut client, true);
        assert_eq!((out[0], out.len()), (0x8A, pong_bytes));
        let payload = out[6..]
            .iter()
            .zip(&out[2..6])
            .map(|(byte, mask)| byte ^ mask);
        assert_eq!(payload.collect::<Vec<u8>>(), 4_999_u32.to_be_bytes());
        client.receive(&ping(0), 1, &mut events);
        assert_eq!(sent(&mut client, true).len(), pong_bytes);
    }
}

#[test]
fn a_connection_is_closed_after_its_last_message() {
    let settings = WebSocket {
        messages: 2,
        timestamp: None,
    };
    let mut client = Client::new((*b"GET / HTTP/1.1\r\n").into(), settings, 1);
    client.grant();
    let (messages, mut events) = (frame(0x81, b"m").repeat(3), Vec::new());
    // The first message is not awaited and does not count.
    let first = messages.len() / 3;
    assert_eq!(client.receive(&messages[..first], 1, &mut events), first);
    assert_eq!(events, []);
    for _ in 0..2 {
        client.send(0, request(b""), Capture::Nothing);
        client.receive(&messages[..first], 1, &mut events);
    }
    let [
        ProtocolEvent::Response { .. },
        ProtocolEvent::Response { .. },
        ProtocolEvent::Draining,
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(sent(&mut client, true)[0], 0x88);
}
