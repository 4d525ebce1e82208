//! The protocols' parsers under any bytes, for fuzzing: each function panics when a property does
//! not hold that must hold for every input. It is not part of the library's interface.

use bakeoff_model::load::{LoadSpec, Protocol, ReactorChoice, RequestSpec, Target};

use crate::http1::{Chunked, LastHead, Progress, Reader};
use crate::http2::{Client, Decoder};
use crate::link::Told;
use crate::received::Keep;
use crate::request::Requests;
use crate::websocket::{self, Happened};

/// Pieces into which the rest of `data` is cut, by its first byte.
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

/// An answer of HTTP/1.1: however it is cut, it is the same answer or none.
pub fn response(data: &[u8]) {
    let (first, pieces) = cut(data);
    let (head_only, sampled) = (first & 0x10 != 0, first & 0x20 != 0);
    let whole = pieces.concat();
    let mut last = LastHead::default();
    let mut read = |pieces: &[&[u8]]| {
        let mut reader = Reader::new();
        reader.begin(head_only, kept(sampled));
        let mut fed = 0;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            fed += piece.len();
            match reader.feed(piece, &mut last) {
                Err(_) => return Err(()),
                Ok(Progress::More) => {}
                Ok(Progress::Whole { rest }) => {
                    let (status, bytes) = (reader.received.status, reader.received.body_bytes);
                    assert!(bytes <= whole.len() as u64, "a body larger than what came");
                    let kept = reader
                        .received
                        .sample()
                        .map(|a| a.map(|a| a.body.len() as u64));
                    assert!(
                        kept.is_none_or(|kept| kept == Ok(bytes)),
                        "a sample of another size"
                    );
                    return Ok(Some((status, bytes, reader.keeps_alive(), fed - rest)));
                }
            }
        }
        Ok(None)
    };
    match (read(&[&whole]), read(&pieces)) {
        // A head in pieces is not looked at again for each of them, so that it may be found wrong
        // later; it must never be taken for an answer.
        (Err(()), Err(()) | Ok(None)) => {}
        (whole, cut) => assert_eq!(whole, cut, "pieces matter"),
    }
}

/// Chunks: however they are cut, they hold the same data and end at the same place.
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

/// Header blocks: what they decode to is bounded by what they are and by the table.
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

/// Frames of HTTP/2 to a client with four requests in flight: however they are cut, it tells and
/// sends the same, and its memory stays bounded.
pub fn http2(data: &[u8]) {
    let (first, pieces) = cut(data);
    let requests = order(
        Protocol::Http2,
        &"b".repeat(usize::from(first & 0x40) * 2000),
    );
    let whole = pieces.concat();
    let read = |pieces: &[&[u8]]| {
        let mut client = Client::new(4);
        client.greet();
        let (mut all, mut sent) = (Vec::new(), client.output(true).len());
        for piece in std::iter::once(&&SETTINGS[..]).chain(pieces) {
            let mut told = Vec::new();
            client.feed(piece, &mut told);
            for told in told {
                if matches!(told, Told::Greeted) {
                    (0..4).for_each(|place| {
                        client.begin(place, requests.get(0).asked(), kept(place == 1))
                    });
                }
                let fault = matches!(told, Told::Fault(..));
                all.push(format!("{told:?}"));
                if fault {
                    let _ = client.output(true);
                    return (all, sent);
                }
            }
            sent += client.output(true).len();
        }
        let received = (0..4)
            .map(|place| client.received(place).body_bytes)
            .sum::<u64>();
        assert!(
            received <= whole.len() as u64,
            "a body larger than what came"
        );
        assert!(
            sent <= 600_000 + 4 * whole.len(),
            "more was sent than asked for"
        );
        (all, sent)
    };
    let (told, _) = read(&[&whole]);
    let (cut, _) = read(&pieces);
    assert_eq!(told, cut, "pieces matter");
}

/// Frames of WebSocket to a client that waits for message after message: however they are cut, the
/// same happens, and its memory stays bounded.
pub fn websocket(data: &[u8]) {
    let (first, pieces) = cut(data);
    let whole = pieces.concat();
    let read = |pieces: &[&[u8]]| {
        let mut client = websocket::Client::new((*b"GET / HTTP/1.1\r\n").into(), 1);
        if first & 0x40 == 0 {
            client.grant();
        } else {
            client.greet();
        }
        let mut all = Vec::new();
        for piece in pieces {
            let mut at = 0;
            loop {
                client.begin(b"", kept(first & 0x20 != 0));
                let (used, happened) = client.feed(&piece[at..]);
                at += used;
                assert!(at <= piece.len(), "more bytes taken than came");
                let Some(happened) = happened else { break };
                let bytes = client.received.body_bytes;
                let goes_on = matches!(happened, Happened::Upgraded | Happened::Message);
                all.push((happened, if goes_on { bytes } else { 0 }));
                if !goes_on {
                    return (all, client.output(true));
                }
            }
            assert_eq!(at, piece.len(), "bytes left without a reason");
        }
        assert!(
            client.received.body_bytes <= whole.len() as u64,
            "more than what came"
        );
        (all, client.output(true))
    };
    let (happened, sent) = read(&[&whole]);
    assert!(
        sent.len() <= 300 + 4 * whole.len(),
        "more was sent than asked for"
    );
    assert_eq!((happened, sent), read(&pieces), "pieces matter");
}

/// Settings that say nothing.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// An order with one request.
pub(crate) fn order(protocol: Protocol, body: &str) -> Requests {
    let spec = LoadSpec {
        target: Target {
            address: "localhost:80".into(),
            host: None,
            tls: false,
            insecure: false,
            unix_socket: None,
            protocol,
        },
        requests: vec![RequestSpec {
            method: "POST".into(),
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
    };
    Requests::prepare(&spec).expect("the order is a right one")
}

fn kept(all: bool) -> Keep {
    if all { Keep::All } else { Keep::Nothing }
}
