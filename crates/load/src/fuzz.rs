//! The protocols' parsers under any bytes, for fuzzing: each function panics when a property does
//! not hold that must hold for every input. It is not part of the library's interface.

use bakeoff_model::load::{LoadSpec, Protocol, ReactorChoice, RequestSpec, Target};

use crate::payload::Payload;
use crate::prepare::request::Requests;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::http1::chunked::Chunked;
use crate::protocol::http1::head::LastHead;
use crate::protocol::http1::reader::{Progress, Reader};
use crate::protocol::http2::client::Client as Http2;
use crate::protocol::http2::decoder::Decoder;
use crate::protocol::interface::Protocol as _;
use crate::protocol::response::Capture;
use crate::protocol::websocket::client::Client as WebSocket;

/// Cuts the rest of `data` into pieces, controlled by its first byte.
fn cut(data: &[u8]) -> (u8, Vec<&[u8]>) {
    let Some((&first, rest)) = data.split_first() else {
        return (0, Vec::new());
    };
    let length = match first & 7 {
        0 => 1,
        1 => 2,
        2 => 3,
        3 => 7,
        4 => 16,
        5 => 61,
        6 => 255,
        _ => rest.len().max(1),
    };
    (first, rest.chunks(length).collect())
}

/// Checks an HTTP/1.1 response: however it is cut, it is the same response or none.
pub fn response(data: &[u8]) {
    let (first, pieces) = cut(data);
    let (head_only, captured) = (first & 0x10 != 0, first & 0x20 != 0);
    let whole = pieces.concat();
    let mut last = LastHead::default();
    let mut read = |pieces: &[&[u8]]| {
        let mut reader = Reader::new();
        reader.begin(head_only, capture(captured));
        let mut fed = 0;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            fed += piece.len();
            match reader.feed(piece, &mut last) {
                Err(_) => return Err(()),
                Ok(Progress::More) => {}
                Ok(Progress::Complete { rest }) => {
                    let (status, bytes) = (reader.response.status, reader.response.body_bytes);
                    assert!(bytes <= whole.len() as u64, "a body larger than the input");
                    let body = reader
                        .response
                        .captured()
                        .map(|a| a.map(|a| a.body.len() as u64));
                    assert!(
                        body.is_none_or(|length| length == Ok(bytes)),
                        "a captured body of another size"
                    );
                    return Ok(Some((status, bytes, reader.keeps_alive(), fed - rest)));
                }
            }
        }
        Ok(None)
    };
    match (read(&[&whole]), read(&pieces)) {
        // A head in pieces is not looked at again for each of them, so that it may be found wrong
        // later; it must never be taken for a response.
        (Err(()), Err(()) | Ok(None)) => {}
        (whole, cut) => assert_eq!(whole, cut, "pieces matter"),
    }
}

/// Checks chunks: however they are cut, they contain the same data and end at the same place.
pub fn chunked(data: &[u8]) {
    let (_, pieces) = cut(data);
    let whole = pieces.concat();
    let read = |pieces: &[&[u8]]| {
        let mut chunked = Chunked::new();
        let mut body = Vec::new();
        let mut used = 0;
        for piece in pieces {
            match chunked.feed(piece, &mut |data| body.extend_from_slice(data)) {
                Err(message) => return (Err(message), body),
                Ok(bytes) => used += bytes,
            }
            if chunked.is_done() {
                break;
            }
        }
        (Ok((used, chunked.is_done())), body)
    };
    let (result, body) = read(&[&whole]);
    assert!(body.len() <= whole.len(), "more data than bytes");
    assert_eq!((result, body), read(&pieces), "pieces matter");
}

/// Checks header blocks: their decoded size is bounded by their own size and the table's.
pub fn header_blocks(data: &[u8]) {
    let mut decoder = Decoder::new();
    for block in data.split(|byte| *byte == b'\n') {
        let mut fields = 0;
        let mut take = |name: &[u8], value: &[u8]| {
            fields += 1;
            // The shortest code has five bits; an entry of the table has at most 4096 bytes.
            let bound = 4096 + 2 * block.len();
            assert!(name.len() + value.len() <= bound, "a field out of nothing");
        };
        if decoder.decode(block, &mut take).is_err() {
            return;
        }
        assert!(fields <= block.len(), "more fields than bytes");
    }
}

/// Returns the bytes that a client has to send.
fn sent(payload: Option<Payload>) -> Vec<u8> {
    payload.map_or_else(Vec::new, |payload| payload.bytes().to_vec())
}

/// Checks HTTP/2 frames to a client with four requests in flight: however they are cut, the same
/// events and bytes result, and the client's memory stays bounded.
pub fn http2(data: &[u8]) {
    let (first, pieces) = cut(data);
    let body = "b".repeat(usize::from(first & 0x40) * 2000);
    let requests = requests(Protocol::Http2, &body);
    let whole = pieces.concat();
    let read = |pieces: &[&[u8]]| {
        let mut client = Http2::new(4);
        client.start();
        let (mut all, mut sent_bytes) = (Vec::new(), sent(client.output(true)).len());
        for piece in std::iter::once(&&SETTINGS[..]).chain(pieces) {
            let mut events = Vec::new();
            let taken = client.receive(piece, 1, &mut events);
            assert_eq!(taken, piece.len(), "bytes left without a reason");
            for event in events {
                if matches!(event, ProtocolEvent::Established) {
                    for slot in 0..4 {
                        let request = requests.get(0).outgoing();
                        client.send(slot, request, capture(slot == 1));
                    }
                }
                let failed = matches!(event, ProtocolEvent::Failed { .. });
                all.push(event);
                if failed {
                    return (all, sent_bytes);
                }
            }
            sent_bytes += sent(client.output(true)).len();
        }
        let received = (0..4).map(|slot| client.response(slot).body_bytes);
        assert!(
            received.sum::<u64>() <= whole.len() as u64,
            "a body larger than the input"
        );
        assert!(
            sent_bytes <= 600_000 + 4 * whole.len(),
            "more was sent than needed"
        );
        (all, sent_bytes)
    };
    let (at_once, _) = read(&[&whole]);
    let (in_pieces, _) = read(&pieces);
    assert_eq!(at_once, in_pieces, "pieces matter");
}

/// Checks WebSocket frames to a client that awaits message after message: however they are cut, the
/// same events result, and the client's memory stays bounded.
pub fn websocket(data: &[u8]) {
    let (first, pieces) = cut(data);
    let whole = pieces.concat();
    let settings = bakeoff_model::load::WebSocket::default();
    let requests = requests(Protocol::Websocket(settings), "");
    let read = |pieces: &[&[u8]]| {
        let upgrade = (*b"GET / HTTP/1.1\r\n").into();
        let mut client = WebSocket::new(upgrade, settings, 1);
        if first & 0x40 == 0 {
            client.grant();
        } else {
            client.start();
        }
        let mut all = Vec::new();
        for piece in pieces {
            let mut at = 0;
            while at < piece.len() {
                let request = requests.get(0).outgoing();
                client.send(0, request, capture(first & 0x20 != 0));
                let mut events = Vec::new();
                let taken = client.receive(&piece[at..], 1, &mut events);
                assert!(taken > 0, "nothing taken");
                at += taken;
                assert!(at <= piece.len(), "more bytes taken than came");
                let complete = at == piece.len() || !events.is_empty();
                assert!(complete, "bytes left without a reason");
                for event in events {
                    let failed = matches!(event, ProtocolEvent::Failed { .. });
                    let bytes = client.response(0).body_bytes;
                    all.push((event, if failed { 0 } else { bytes }));
                    if failed {
                        return (all, sent(client.output(true)));
                    }
                }
            }
        }
        assert!(
            client.response(0).body_bytes <= whole.len() as u64,
            "more than the input"
        );
        (all, sent(client.output(true)))
    };
    let (events, sent) = read(&[&whole]);
    assert!(
        sent.len() <= 300 + 4 * whole.len(),
        "more was sent than needed"
    );
    assert_eq!((events, sent), read(&pieces), "pieces matter");
}

/// Empty settings.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// Prepares the one request of a spec.
pub(crate) fn requests(protocol: Protocol, body: &str) -> Requests {
    let spec = LoadSpec {
        target: Target {
            address: "localhost:80".into(),
            host: None,
            tls: false,
            insecure: false,
            trust: None,
            unix_socket: None,
            protocol,
            cpu_counter: None,
        },
        requests: vec![RequestSpec {
            method: match protocol {
                Protocol::Websocket(_) => "GET".into(),
                Protocol::Http1 | Protocol::Http2 => "POST".into(),
            },
            path: "/".into(),
            body: body.into(),
            weight: 1,
            ..RequestSpec::default()
        }],
        scenario: None,
        steps: Vec::new(),
        threads: 1,
        cores: Vec::new(),
        timeout_connect_ns: 1,
        timeout_answer_ns: 1,
        slice_ns: 0,
        seed: 0,
        check_body_every: 0,
        stepwise: false,
        reactor: ReactorChoice::Auto,
        keep_alive_off: false,
        in_flight: 4,
        further_targets: Vec::new(),
    };
    Requests::prepare(&spec).expect("the spec is a right one")
}

fn capture(all: bool) -> Capture {
    if all { Capture::All } else { Capture::Nothing }
}
