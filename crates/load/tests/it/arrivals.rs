//! Users that open their connections as they arrive, and services that accept them late or never.

use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::time::Duration;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{ErrorClass, LoadSpec, Pace, Protocol, Turns};
use bakeoff_model::request::scenario::{AfterFailure, Connect, Scenario};

use crate::server::{FullPort, RefusedPort, Server, say};
use crate::{MILLISECOND, SECOND, Total, get, load_spec, run, try_run};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Users that arrive at once and send two requests each.
fn arriving(address: &str, users: u32, times: u64) -> LoadSpec {
    let mut spec = load_spec(address, users, 0);
    spec.threads = 2;
    spec.steps[0].pace = Pace::Users {
        arrive_ns: 0,
        times,
    };
    spec.scenario = Some(Scenario {
        feeds: Vec::new(),
        cookies: false,
        after_failure: AfterFailure::GiveUp,
        connect: Connect::OnArrival,
    });
    spec.requests = vec![get("/"), get("/next")];
    spec
}

/// All users gave up at their first request, each with a failure of one of these classes that has
/// its time.
fn check_failures(total: &Total, users: u64, classes: &[ErrorClass]) {
    let errors = &total.errors;
    assert_eq!(total.requests, 0, "{errors:?}");
    let counted: u64 = classes.iter().map(|class| total.count(*class)).sum();
    assert_eq!(counted, users, "{errors:?}");
    for class in classes {
        let error = &errors[class];
        let times = error.times.as_ref().map_or(0, Histogram::count);
        assert_eq!(times, error.count, "{class:?}");
    }
    assert_eq!(errors.len(), classes.len(), "{errors:?}");
    let ended: Vec<_> = total.intervals.iter().filter_map(|i| i.users).collect();
    assert_eq!(ended.iter().map(|user| user.gave_up).sum::<u64>(), users);
    let first = total.intervals.iter().map(|i| &i.by_request[0]);
    let (mut failed, mut timed) = (0, 0);
    for part in first {
        failed += part.failures;
        timed += part.failed_times.as_ref().map_or(0, Histogram::count);
    }
    assert_eq!((failed, timed), (users, users));
}

on_each_reactor!(each_user_has_a_connection_of_its_own);

fn each_user_has_a_connection_of_its_own() {
    let server = Server::script(vec![say(OK)]);
    let mut spec = arriving(&server.address, 10, 3);
    // The next step starts without connections, too.
    spec.steps.push(spec.steps[0].clone());
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, server.requests()), (120, 120));
    assert_eq!(server.connections(), 60);
    assert_eq!(total.established, [0, 0]);
    assert_eq!(total.reconnects, 0);
    assert!(total.intervals.iter().all(|i| i.connections.on_arrival));
    let connecting_ns = total.intervals.iter().filter_map(|i| i.connecting_ns);
    assert!(connecting_ns.sum::<u64>() > 0);
}

on_each_reactor!(a_connection_that_ends_during_a_pause_is_opened_for_the_next_request);

fn a_connection_that_ends_during_a_pause_is_opened_for_the_next_request() {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let server = Server::script(vec![say(closing), crate::server::Act::Close]);
    let mut spec = arriving(&server.address, 6, 1);
    spec.requests[0].pause = Some(bakeoff_model::request::scenario::Pause {
        min_ns: 5 * MILLISECOND,
        max_ns: 10 * MILLISECOND,
    });
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!((total.requests, server.connections()), (12, 12));
    // The first of each user is none.
    assert_eq!(total.reconnects, 6);
}

on_each_reactor!(a_queue_that_is_never_emptied_fails_users_inside_and_outside_of_it);

fn a_queue_that_is_never_emptied_fails_users_inside_and_outside_of_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut spec = arriving(&address, 12, 1);
    spec.timeout_connect_ns = 300 * MILLISECOND;
    spec.timeout_answer_ns = 300 * MILLISECOND;
    let total = run(&spec);
    // The kernel connects those that fit into the queue, and drops the others' requests to connect.
    let classes = [ErrorClass::ConnectTimeout, ErrorClass::HeaderTimeout];
    check_failures(&total, 12, &classes);
    for class in classes {
        let times = total.errors[&class].times.as_ref().unwrap();
        assert!(times.min_ns().unwrap() >= 299 * MILLISECOND, "{class:?}");
    }
}

on_each_reactor!(a_full_queue_fails_every_user);

fn a_full_queue_fails_every_user() {
    let full = FullPort::fill();
    let mut spec = arriving(&full.address, 8, 1);
    spec.timeout_connect_ns = 300 * MILLISECOND;
    check_failures(&run(&spec), 8, &[ErrorClass::ConnectTimeout]);
}

on_each_reactor!(a_refused_user_gives_up);

fn a_refused_user_gives_up() {
    let port = RefusedPort::reserve();
    check_failures(
        &run(&arriving(&port.address, 8, 1)),
        8,
        &[ErrorClass::ConnectRefused],
    );
    // So does each user of three in a row, at a bounded rate.
    check_failures(
        &run(&arriving(&port.address, 8, 3)),
        24,
        &[ErrorClass::ConnectRefused],
    );
}

on_each_reactor!(a_reset_is_the_failure_of_the_user_who_connected);

fn a_reset_is_the_failure_of_the_user_who_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let linger = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(stream.as_fd(), linger).unwrap();
        }
    });
    check_failures(&run(&arriving(&address, 8, 1)), 8, &[ErrorClass::Reset]);
}

on_each_reactor!(waiting_for_a_late_service_is_response_time);

fn waiting_for_a_late_service_is_response_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || {
                let acts = [say(OK)];
                let mut request = [0; 4096];
                while std::io::Read::read(&mut stream, &mut request).is_ok_and(|read| read > 0)
                    && crate::server::perform(&mut stream, &acts)
                {}
            });
        }
    });
    let mut spec = arriving(&address, 12, 1);
    spec.timeout_connect_ns = 30 * SECOND;
    spec.timeout_answer_ns = 30 * SECOND;
    spec.steps[0].duration_ns = 60 * SECOND;
    let total = run(&spec);
    assert!(total.errors.is_empty(), "{:?}", total.errors);
    assert_eq!(total.requests, 24);
    let mut response = Histogram::new();
    for interval in &total.intervals {
        response.merge(interval.response_time.as_ref().unwrap());
    }
    // A user that finds the queue full tries again a second later.
    let longest_ns = response.max_ns().unwrap();
    assert!(longest_ns >= 900 * MILLISECOND, "{longest_ns}");
    let connecting_ns = total.intervals.iter().filter_map(|i| i.connecting_ns);
    assert!(connecting_ns.sum::<u64>() >= 900 * MILLISECOND);
    assert!(response.mean_ns().unwrap() > total.service.mean_ns().unwrap());
}

#[test]
fn users_who_connect_have_neither_rates_nor_turns_nor_shared_connections() {
    let check = |change: fn(&mut LoadSpec), expect: &str| {
        let mut spec = arriving("127.0.0.1:1", 2, 1);
        change(&mut spec);
        let message = try_run(&spec).unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    };
    check(
        |spec| {
            spec.requests.truncate(1);
            spec.steps[0].pace = Pace::Constant { rate_per_s: 10.0 };
        },
        "a scenario has users, not a rate",
    );
    check(
        |spec| {
            spec.steps[0].pace = Pace::Closed;
            spec.steps[0].turns = Some(Turns {
                shortest_ns: MILLISECOND,
                longest_ns: SECOND,
            });
        },
        "turns are played on open connections",
    );
    check(
        |spec| {
            spec.target.protocol = Protocol::Http2;
            spec.in_flight = 2;
        },
        "users that connect on arrival share no connections",
    );
}
