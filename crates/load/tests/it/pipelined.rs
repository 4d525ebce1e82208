//! Several requests in flight on one connection of HTTP/1.1.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bakeoff_model::load::{ErrorClass, LoadSpec};
use bakeoff_model::request::check::Expect;

use crate::{MILLISECOND, answer_limit_ns, get, load_spec, run, try_run};

/// Counts of a server.
#[derive(Debug, Default)]
struct Seen {
    requests: AtomicU64,
    connections: AtomicU64,
    /// The most requests that one read brought.
    most: AtomicU64,
}

/// A server that responds the n-th request of a connection (from 0), whose line is given, with
/// these bytes; all requests of one read at once. `false` ends the connection.
fn serve(
    response: impl Fn(u64, &str) -> (Vec<u8>, bool) + Send + Sync + 'static,
) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Seen::default());
    let (counted, response) = (seen.clone(), Arc::new(response));
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            counted.connections.fetch_add(1, Ordering::SeqCst);
            let (counted, response) = (counted.clone(), response.clone());
            std::thread::spawn(move || {
                let (mut input, mut chunk) = (String::new(), [0; 64 * 1024]);
                let mut index = 0;
                while let Ok(bytes @ 1..) = stream.read(&mut chunk) {
                    input += std::str::from_utf8(&chunk[..bytes]).unwrap();
                    let (mut out, mut keep, before) = (Vec::new(), true, index);
                    while let Some(end) = input.find("\r\n\r\n").filter(|_| keep) {
                        let request: String = input.drain(..end + 4).collect();
                        let line = request.lines().next().unwrap();
                        let (bytes, goes_on) = response(index, line);
                        out.extend(bytes);
                        (index, keep) = (index + 1, goes_on);
                        counted.requests.fetch_add(1, Ordering::SeqCst);
                    }
                    counted.most.fetch_max(index - before, Ordering::SeqCst);
                    if stream.write_all(&out).is_err() || !keep {
                        return;
                    }
                }
            });
        }
    });
    (address, seen)
}

fn pipelined_spec(address: &str, connections: u32, requests: u64) -> LoadSpec {
    let mut spec = load_spec(address, connections, requests);
    spec.in_flight = 8;
    spec
}

/// The path of a request line as the body, by length or in chunks.
fn echo(index: u64, line: &str) -> Vec<u8> {
    let path = line.split(' ').nth(1).unwrap();
    if index.is_multiple_of(3) {
        let length = path.len();
        return format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{path}\r\n0\r\n\r\n"
        )
        .into();
    }
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}",
        path.len()
    )
    .into()
}

on_each_reactor!(responses_belong_to_their_requests_in_order);

fn responses_belong_to_their_requests_in_order() {
    let (address, seen) = serve(|index, line| (echo(index, line), true));
    let mut spec = pipelined_spec(&address, 2, 400);
    spec.check_body_every = 1;
    spec.requests = ["/a", "/bb", "/ccc"].map(get).to_vec();
    for request in &mut spec.requests {
        request.expect = Some(Expect {
            body: Some(request.path.clone()),
            ..Expect::default()
        });
    }
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, total.reconnects), (400, 0));
    assert_eq!(seen.requests.load(Ordering::SeqCst), 400);
    assert_eq!(seen.connections.load(Ordering::SeqCst), 2);
    assert!(seen.most.load(Ordering::SeqCst) > 1);
    spec.in_flight = 1;
    assert_eq!(run(&spec).requests, 400);
}

on_each_reactor!(what_a_service_does_not_respond_is_distinguished);

fn what_a_service_does_not_respond_is_distinguished() {
    let plain = |_, line: &str| (echo(1, line), true);
    let close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let until = "HTTP/1.1 200 OK\r\n\r\nhello";
    let nonsense = "nonsense\r\n\r\n";
    for (fifth, goes_on, class) in [
        (close, false, ErrorClass::EarlyClose),
        (until, false, ErrorClass::EarlyClose),
        (nonsense, true, ErrorClass::BadFraming),
        ("", true, ErrorClass::HeaderTimeout),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",
            true,
            ErrorClass::BodyTimeout,
        ),
    ] {
        // The fifth request of each connection, alone or with those behind it.
        let (address, seen) = serve(move |index, line| match index {
            0..4 => plain(index, line),
            4 => (fifth.into(), goes_on),
            _ => (Vec::new(), true),
        });
        let mut spec = pipelined_spec(&address, 1, 40);
        spec.in_flight = 4;
        spec.timeout_answer_ns = answer_limit_ns(Some(class));
        let total = run(&spec);
        let failed: u64 = total.errors.values().map(|count| count.count).sum();
        assert_eq!(total.requests + failed, 40, "{fifth}: {:?}", total.errors);
        assert!(total.count(class) > 0, "{fifth}: {:?}", total.errors);
        assert!(total.requests >= 4, "{fifth}: {:?}", total.errors);
        assert!(seen.connections.load(Ordering::SeqCst) > 1, "{fifth}");
        // A server that closes with requests unread resets the connection now and then.
        let allowed = [class, ErrorClass::Reset, ErrorClass::EarlyClose];
        let odd = total.errors.keys().find(|class| !allowed.contains(class));
        assert_eq!(odd, None, "{fifth}: {:?}", total.errors);
    }
}

on_each_reactor!(garbage_after_the_responses_costs_no_request);

fn garbage_after_the_responses_costs_no_request() {
    // All four responses come together, so that none is sent between.
    let (address, seen) = serve(|index, line| match index {
        0..3 => (Vec::new(), true),
        _ => (
            [echo(1, line).repeat(4), b"garbage".to_vec()].concat(),
            true,
        ),
    });
    let mut spec = pipelined_spec(&address, 1, 40);
    spec.in_flight = 4;
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(
        (total.requests, seen.requests.load(Ordering::SeqCst)),
        (40, 40)
    );
    assert!(seen.connections.load(Ordering::SeqCst) >= 10);
}

#[test]
fn pipelining_needs_connections_that_stay() {
    let mut spec = pipelined_spec("127.0.0.1:1", 1, 1);
    spec.keep_alive_off = true;
    let message = try_run(&spec).unwrap_err().to_string();
    assert!(message.contains("keep-alive off"), "{message}");
}

on_each_reactor!(every_moment_of_a_closed_loop_is_the_services_or_ours);

fn every_moment_of_a_closed_loop_is_the_services_or_ours() {
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (address, _) = serve(move |_, _| (response.to_vec(), true));
    for in_flight in [1, 4] {
        // What is missing is the time until the first requests were sent, and on a busy host one
        // step is not exact: half of them are.
        let mut shares: Vec<f64> = (0..5)
            .map(|_| accounted_share(&address, in_flight))
            .collect();
        shares.sort_by(f64::total_cmp);
        assert!((0.9..1.01).contains(&shares[2]), "{in_flight}: {shares:?}");
    }
}

/// The part of the slots' time in a step that was the service's or the load generator's.
fn accounted_share(address: &str, in_flight: u32) -> f64 {
    let mut spec = load_spec(address, 2, 0);
    spec.in_flight = in_flight;
    spec.steps[0].duration_ns = 300 * MILLISECOND;
    spec.slice_ns = 0;
    let total = run(&spec);
    let interval = &total.intervals[0];
    let places = interval.connections.in_flight_max;
    assert_eq!(places, 2 * in_flight);
    // Means are exact to the histograms' three digits.
    let service_ns = total.service.mean_ns().unwrap() * total.requests as f64;
    let under_way_ns = interval.censored.mean_ns().unwrap_or(0.0) * total.censored as f64;
    let ours_ns = interval.turnaround_ns.unwrap() as f64;
    let wall_ns = (interval.end_ns - interval.start_ns) as f64 * f64::from(places);
    (service_ns + under_way_ns + ours_ns) / wall_ns
}
