//! Properties that must hold for every response and every way to cut it into pieces.

mod hpack;

use bakeoff_model::load::{LoadSpec, ReactorChoice, RequestSpec, Target};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::client::Client;
use super::flow::{Inflow, Outflow};
use super::frame::{self, Head, flag, kind, setting};
use crate::prepare::request::Requests;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol as _;
use crate::protocol::response::Capture;

/// The bytes that a client has to send.
fn sent(client: &mut Client) -> Vec<u8> {
    let payload = client.output(true);
    payload.map_or_else(Vec::new, |payload| payload.bytes().to_vec())
}

/// Gives bytes to a client.
fn feed(client: &mut Client, bytes: &[u8], events: &mut Vec<ProtocolEvent>) {
    assert_eq!(client.receive(bytes, 1, events), bytes.len());
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn windows_open_and_close() {
    let mut inflow = Inflow::new(100);
    assert_eq!(inflow.take(49), Some(0));
    assert_eq!(inflow.take(1), Some(50));
    assert_eq!(inflow.take(100), Some(100));
    assert_eq!(inflow.take(101), None);
    let mut outflow = Outflow::new(10);
    outflow.spend(10);
    assert_eq!(outflow.change(-5), Some(()));
    assert_eq!(outflow.free(), 0);
    assert_eq!(outflow.change(8), Some(()));
    assert_eq!(outflow.free(), 3);
    assert_eq!(outflow.change(i64::from(u32::MAX)), None);
}

/// A spec whose requests are these, each a name of a header, its value and a body.
fn requests(list: &[(String, String, String)]) -> Requests {
    let spec = LoadSpec {
        recorded: Vec::new(),
        target: Target {
            device: None,
            address: "localhost:80".into(),
            host: None,
            tls: false,
            insecure: false,
            trust: None,
            unix_socket: None,
            protocol: bakeoff_model::load::Protocol::Http2,
            cpu_counter: None,
        },
        requests: list
            .iter()
            .map(|(name, value, body)| RequestSpec {
                method: "POST".into(),
                path: "/".into(),
                headers: vec![(name.clone(), value.clone())],
                body: body.as_str().into(),
                weight: 1,
                ..RequestSpec::default()
            })
            .collect(),
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
        grpc: None,
        part: None,
        further_targets: Vec::new(),
    };
    Requests::prepare(&spec).unwrap()
}

fn get() -> Requests {
    requests(&[("accept".into(), "*/*".into(), String::new())])
}

/// A frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write_head(&mut bytes, payload.len(), kind, flags, stream);
    bytes.extend_from_slice(payload);
    bytes
}

fn settings(list: &[(u16, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write_settings(&mut bytes, list);
    bytes
}

/// A client with its preface sent and four requests in flight.
fn busy_client(requests: &Requests, first: &[u8]) -> (Client, Vec<String>) {
    let mut client = Client::new(4);
    client.start();
    let mut events = Vec::new();
    feed(&mut client, first, &mut events);
    for slot in 0..4 {
        if client.has_capacity() {
            client.send(
                slot,
                requests.get(slot % requests.len()).outgoing(),
                if slot == 1 {
                    Capture::All
                } else {
                    Capture::Nothing
                },
            );
        }
    }
    let events = events.iter().map(|events| format!("{events:?}")).collect();
    (client, events)
}

/// Returns the client's events and bytes when the bytes come in these pieces.
fn read(requests: &Requests, bytes: &[u8], cuts: &[usize]) -> (Vec<String>, Vec<u8>) {
    let (mut client, mut all) = busy_client(requests, &settings(&[]));
    let mut from = 0;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        let mut events = Vec::new();
        let cut = cut.clamp(from, bytes.len());
        feed(&mut client, &bytes[from..cut], &mut events);
        from = cut;
        let fault = events
            .iter()
            .any(|events| matches!(events, ProtocolEvent::Failed { .. }));
        all.extend(events.iter().map(|events| format!("{events:?}")));
        if fault {
            break;
        }
    }
    for slot in 0..4 {
        let response = client.response(slot);
        all.push(format!("{} {}", response.status, response.body_bytes));
    }
    (all, sent(&mut client))
}

/// A frame that a service might send, sensible or not.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop::collection::vec(any::<u8>(), 0..40);
    let stream = prop::sample::select(vec![0_u32, 1, 1, 3, 3, 5, 7, 9, 2]);
    let heads = prop::sample::select(vec![
        "88",
        "88 5f 01 61",
        "8d",
        "be",
        "48 03 31 30 33",
        "00",
    ]);
    let head = (heads, prop::sample::select(vec![4_u8, 5, 0, 1])).boxed();
    prop::strategy::Union::new(vec![
        (stream.clone(), head)
            .prop_map(|(stream, (block, flags))| frame(kind::HEADERS, flags, stream, &hex(block)))
            .boxed(),
        (stream.clone(), payload.clone(), 0..2_u8)
            .prop_map(|(stream, data, flags)| frame(kind::DATA, flags, stream, &data))
            .boxed(),
        (0..12_u8, any::<u8>(), stream, payload)
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload))
            .boxed(),
    ])
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        frames in prop::collection::vec(any_frame(), 1..12),
        mut cuts in prop::collection::vec(0..400_usize, 0..20),
    ) {
        let bytes = frames.concat();
        cuts.sort_unstable();
        let requests = get();
        let whole = read(&requests, &bytes, &[]);
        prop_assert_eq!(&read(&requests, &bytes, &cuts), &whole);
        let each: Vec<usize> = (0..bytes.len()).collect();
        prop_assert_eq!(&read(&requests, &bytes, &each), &whole);
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let requests = get();
        let (events, _) = read(&requests, &bytes, &[]);
        prop_assert!(events.len() < 1000);
    }

    #[test]
    fn bodies_arrive_whole_and_within_the_windows(
        lengths in prop::collection::vec(0..100_000_usize, 4),
        window in 1..40_000_u32,
        steps in prop::collection::vec((0..5_u32, 1..60_000_u32), 0..40),
    ) {
        let body = |slot: usize| {
            char::from(b"abcd"[slot]).to_string().repeat(lengths[slot])
        };
        let list: Vec<_> = (0..4).map(|p| ("accept".into(), p.to_string(), body(p))).collect();
        let requests = requests(&list);
        let first = settings(&[(setting::INITIAL_WINDOW_SIZE, window)]);
        let (mut client, _) = busy_client(&requests, &first);
        let mut service = Service::new(window);
        service.take(&sent(&mut client));
        // Some windows as they come, then enough for everything.
        let enough = (0..5).map(|at| (at, 500_000));
        for (at, increment) in steps.into_iter().chain(enough) {
            let stream = if at == 0 { 0 } else { 2 * at - 1 };
            let mut update = Vec::new();
            frame::write_window_update(&mut update, stream, increment);
            let mut events = Vec::new();
            feed(&mut client, &update, &mut events);
            prop_assert!(events.is_empty(), "{:?}", events);
            service.allow(stream, increment);
            service.take(&sent(&mut client));
        }
        for slot in 0..4 {
            prop_assert!(service.bodies[slot] == body(slot).as_bytes(), "{}", slot);
            prop_assert!(service.ended[slot]);
        }
    }
}

/// The service's view of the bodies that come.
struct Service {
    connection: i64,
    windows: [i64; 4],
    bodies: [Vec<u8>; 4],
    ended: [bool; 4],
}

impl Service {
    fn new(window: u32) -> Self {
        Self {
            connection: 65_535,
            windows: [i64::from(window); 4],
            bodies: Default::default(),
            ended: [false; 4],
        }
    }

    fn allow(&mut self, stream: u32, increment: u32) {
        match stream {
            0 => self.connection += i64::from(increment),
            stream => self.windows[(stream as usize - 1) / 2] += i64::from(increment),
        }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        if let Some(rest) = bytes.strip_prefix(frame::PREFACE) {
            bytes = rest;
        }
        while let Some(head) = Head::read(bytes) {
            let (payload, rest) = bytes[frame::HEAD_BYTES..].split_at(head.length);
            bytes = rest;
            let slot = (head.stream as usize).saturating_sub(1) / 2;
            if head.kind == kind::DATA {
                let length = i64::try_from(payload.len()).unwrap();
                self.connection -= length;
                self.windows[slot] -= length;
                assert!(
                    self.connection >= 0 && self.windows[slot] >= 0,
                    "beyond the window"
                );
                self.bodies[slot].extend_from_slice(payload);
            }
            if matches!(head.kind, kind::DATA | kind::HEADERS) {
                self.ended[slot] |= head.has(flag::END_STREAM);
            }
        }
        assert!(bytes.is_empty());
    }
}

#[test]
fn a_service_that_allows_fewer_streams_gets_fewer() {
    let requests = get();
    let two = settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    let (mut client, events) = busy_client(&requests, &two);
    assert_eq!(events, ["Established"]);
    assert_eq!(client.ids, [1, 3, 0, 0]);
    assert!(!client.has_capacity() && client.has_refused());
    let mut events = Vec::new();
    feed(
        &mut client,
        &settings(&[(setting::MAX_CONCURRENT_STREAMS, 3)]),
        &mut events,
    );
    assert!(
        matches!(events[..], [ProtocolEvent::CapacityGrew]),
        "{events:?}"
    );
    assert!(client.has_capacity());
    // None at all is not a handshake yet.
    let none = settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]);
    let (mut client, events) = busy_client(&requests, &none);
    assert!(events.is_empty() && !client.has_capacity());
    let mut events = Vec::new();
    feed(&mut client, &two, &mut events);
    assert!(
        matches!(events[..], [ProtocolEvent::Established]),
        "{events:?}"
    );
}

/// A right response without a body.
fn response(stream: u32) -> Vec<u8> {
    frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        stream,
        &hex("88"),
    )
}

#[test]
fn streams_are_allowed_by_their_number_not_by_their_place() {
    let (mut client, _) = busy_client(&get(), &settings(&[]));
    let two = settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    let reset = frame(kind::RST_STREAM, 0, 3, &[0; 4]);
    let goaway = frame(kind::GOAWAY, 0, 0, &[[0, 0, 0, 5], [0; 4]].concat());
    // The streams of slots 0 and 1 end while those of slots 2 and 3 are open.
    for (bytes, room) in [
        (two, false),
        (response(1), false),
        (reset, false),
        (response(5), true),
    ] {
        feed(&mut client, &bytes, &mut Vec::new());
        assert_eq!(client.has_capacity(), room, "{:?}", client.ids);
    }
    client.send(0, get().get(0).outgoing(), Capture::Nothing);
    assert!(!client.has_capacity());
    client.cancel(0);
    assert!(client.has_capacity());
    feed(&mut client, &goaway, &mut Vec::new());
    assert_eq!(client.ids, [0; 4]);
    client.start();
    feed(&mut client, &settings(&[]), &mut Vec::new());
    assert!(client.has_capacity() && !client.has_refused());
}

#[test]
fn nothing_is_begun_after_a_fault() {
    let (mut client, _) = busy_client(&get(), &settings(&[]));
    let mut events = Vec::new();
    let nonsense = frame(kind::DATA, 0, 0, b"x");
    feed(
        &mut client,
        &[response(1), nonsense.clone()].concat(),
        &mut events,
    );
    assert!(
        matches!(
            events[..],
            [
                ProtocolEvent::Response { slot: 0, .. },
                ProtocolEvent::Failed { .. }
            ]
        ),
        "{events:?}"
    );
    assert!(!client.has_capacity());
    // Settings are not a handshake then either.
    client.start();
    events.clear();
    feed(
        &mut client,
        &[settings(&[]), nonsense].concat(),
        &mut events,
    );
    assert!(
        matches!(events[..], [ProtocolEvent::Failed { .. }]),
        "{events:?}"
    );
}

/// A window update.
fn update(stream: u32, increment: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::write_window_update(&mut bytes, stream, increment);
    bytes
}

/// Whether a client with a request of this body in flight takes the frames, each so often.
fn takes(first: &[u8], body: usize, frames: &[(Vec<u8>, usize)]) -> bool {
    let requests = requests(&[("accept".into(), "*/*".into(), "b".repeat(body))]);
    let mut client = Client::new(1);
    client.start();
    let mut events = Vec::new();
    feed(&mut client, first, &mut events);
    client.send(0, requests.get(0).outgoing(), Capture::Nothing);
    if body == 0 {
        client.cancel(0);
    }
    for (bytes, times) in frames {
        for _ in 0..*times {
            feed(&mut client, bytes, &mut events);
            sent(&mut client);
        }
    }
    !events
        .iter()
        .any(|events| matches!(events, ProtocolEvent::Failed { .. }))
}

#[test]
fn frames_that_bring_something_are_not_counted() {
    let tight = settings(&[(setting::INITIAL_WINDOW_SIZE, 1)]);
    let wide = settings(&[(setting::INITIAL_WINDOW_SIZE, 1 << 30)]);
    let data = |data: &[u8]| frame(kind::DATA, 0, 1, data);
    // The body goes out byte by byte, in two halves of which the second waits for the connection,
    // and at once.
    assert!(takes(&tight, 30_000, &[(update(1, 1), 20_000)]));
    assert!(takes(&wide, 90_000, &[(update(0, 1), 20_000)]));
    assert!(takes(&wide, 60_000, &[(update(1, 2), 20_000)]));
    // The service has taken all of the body and goes on.
    let all = [(update(1, 1), 60_000), (update(1, 1), 10_001)];
    assert!(!takes(&wide, 60_000, &all));
    let all = [(update(0, 1), 60_000), (update(0, 1), 10_001)];
    assert!(!takes(&wide, 60_000, &all));
    // The response to a request that was given up.
    let head = frame(kind::HEADERS, flag::END_HEADERS, 1, &hex("88"));
    let late = |bytes: &[u8]| [(head.clone(), 1), (data(bytes), 20_000)];
    assert!(takes(&wide, 0, &late(b"x")));
    assert!(!takes(&wide, 0, &late(b"")));
}

#[test]
fn responses_that_are_not_read_do_not_pile_up() {
    for (asking, bytes) in [
        (frame(kind::PING, 0, 0, &[7; 8]), 17),
        (settings(&[]), frame::HEAD_BYTES),
    ] {
        for flowing in [true, false] {
            let (mut client, _) = busy_client(&get(), &settings(&[]));
            let (mut events, mut sent_bytes) = (Vec::new(), 0);
            feed(
                &mut client,
                &frame(kind::HEADERS, flag::END_HEADERS, 1, &hex("88")),
                &mut events,
            );
            sent(&mut client);
            // A byte of a response after each of them.
            let data = frame(kind::DATA, 0, 1, b"x");
            for _ in 0..30_000 {
                if events.is_empty() {
                    feed(&mut client, &[&asking[..], &data].concat(), &mut events);
                    let payload = client.output(flowing);
                    sent_bytes += payload.map_or(0, |payload| payload.bytes().len());
                }
            }
            if flowing {
                assert!(events.is_empty(), "{events:?}");
                assert_eq!(sent_bytes, 30_000 * bytes);
            } else {
                assert!(
                    matches!(events[..], [ProtocolEvent::Failed { .. }]),
                    "{events:?}"
                );
                assert!(sent_bytes <= 10_100 * bytes, "{sent_bytes}");
            }
        }
    }
}
