//! Measured times against a real server's own books. Only what holds on a busy machine too is
//! asserted: a time that is measured from outside is never shorter than what really passed inside.
//! How much longer it is belongs to `examples/truth.rs`, and exactness to the simulated time of
//! the unit tests.

use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{Pace, StepSpec};

use crate::server::Server;
use crate::{SECOND, load_spec, run};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const REQUESTS: u64 = 400;

on_each_reactor!(no_time_is_shorter_than_what_the_server_slept);

fn no_time_is_shorter_than_what_the_server_slept() {
    let delays: [fn(u64) -> u64; 3] = [
        |_| 3_000,
        |index| {
            if index.is_multiple_of(20) {
                30_000
            } else {
                1_000
            }
        },
        |index| (index * 7_919) % 8_000,
    ];
    let constant = Pace::Constant { rate_per_s: 400.0 };
    for (number, delay) in delays.into_iter().enumerate() {
        for (pace, connections) in [(Pace::Closed, 8), (constant, 32)] {
            let slept: Arc<Mutex<Histogram>> = Arc::default();
            let own = slept.clone();
            let server = Server::start("127.0.0.1:0", move |stream, index| {
                let begin = Instant::now();
                std::thread::sleep(Duration::from_micros(delay(index)));
                let ns = u64::try_from(begin.elapsed().as_nanos()).unwrap();
                own.lock().unwrap().record(ns);
                stream.write_all(OK).is_ok()
            });
            let mut spec = load_spec(&server.address, connections, 0);
            spec.timeout_answer_ns = 10 * SECOND;
            spec.steps = vec![StepSpec {
                pace,
                requests_max: REQUESTS,
                close_after: false,
                ..spec.steps[0].clone()
            }];
            let total = run(&spec);
            let slept = slept.lock().unwrap();
            assert_eq!(total.requests, REQUESTS, "{:?}", total.errors);
            assert_eq!(slept.count(), REQUESTS);
            for share in [0.01, 0.1, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0] {
                let inside = slept.quantile_ns(share).unwrap() as f64;
                let outside = total.service.quantile_ns(share).unwrap() as f64;
                // A histogram distinguishes times that differ by a thousandth.
                assert!(
                    outside > 0.998 * inside,
                    "delay {number}, {pace:?}: p{} is {outside}, slept {inside}",
                    share * 100.0
                );
            }
        }
    }
}
