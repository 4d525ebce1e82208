//! A contender for the tests of the command line: a tiny service that behaves well or badly, as
//! `MODE` says. It is built with the tests and copied into suites that they make.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it logs like a service"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Requests for the item so far.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Requests for the item from which on it is under load: checks ask less often.
const LOADED: u32 = 20;

fn main() -> ExitCode {
    let Ok(mode) = std::env::var("MODE") else {
        eprintln!("MODE is missing");
        return ExitCode::from(2);
    };
    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".to_owned());
    if std::env::var("BACKEND_DEAD").is_ok() {
        eprintln!("the backend does not answer");
        return ExitCode::from(3);
    }
    let address = match mode.as_str() {
        "exits" => {
            eprintln!("giving up on purpose");
            return ExitCode::from(7);
        }
        "never-listens" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "wrong-address" => "127.0.0.1:0".to_owned(),
        _ => format!("0.0.0.0:{port}"),
    };
    let listener = match TcpListener::bind(&address) {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!("cannot listen on {address}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match listener.local_addr() {
        Ok(address) => println!("listening on {address}"),
        Err(error) => eprintln!("cannot tell the port: {error}"),
    }
    for stream in listener.incoming().flatten() {
        let mode = mode.clone();
        std::thread::spawn(move || serve(stream, &mode));
    }
    ExitCode::SUCCESS
}

/// Answers requests on one connection until it closes.
fn serve(mut stream: TcpStream, mode: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        if mode == "resets" && reader.buffer().is_empty() && is_to_be_reset(&stream)? {
            // Closing a socket with unread data resets the connection.
            return None;
        }
        let mut request = String::new();
        if reader.read_line(&mut request).ok()? == 0 {
            return None;
        }
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            if header.trim().is_empty() {
                break;
            }
        }
        let path = request.split(' ').nth(1).unwrap_or("/");
        println!("{path}");
        let known = path == "/item";
        if mode == "hungry" && known {
            // Every request keeps 16 MiB that are really touched: some requests on one connection
            // are too much, however slow the host is.
            hoard.push(vec![1; 16 << 20]);
        }
        if mode == "dies-later" && known && ASKED.fetch_add(1, Ordering::Relaxed) > 1000 {
            std::process::abort();
        }
        if mode == "hangs" && known && under_load().is_some_and(|count| count % 50 == 0) {
            std::thread::sleep(Duration::from_secs(60));
            return None;
        }
        if mode == "garbage" {
            stream.write_all(b"\x00\x01 this is no HTTP\r\n\r\n").ok()?;
            return None;
        }
        let name = match mode {
            "wrong-body" | "wrong-name-and-status" => "Pilsen",
            _ => "Plzeň",
        };
        let refusal = match mode {
            "wrong-name-and-status" => "422 Unprocessable Content",
            _ => "400 Bad Request",
        };
        let overloaded = mode == "overloaded" && known && under_load().is_some_and(is_odd);
        let (status, body) = match path {
            "/item" if overloaded => ("503 Service Unavailable", "{}".to_owned()),
            "/item" => ("200 OK", format!("{{\"name\":\"{name}\"}}")),
            "/item?id=" => (refusal, "{\"message\":\"no id\"}".to_owned()),
            _ => ("404 Not Found", "{\"message\":\"not found\"}".to_owned()),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
        );
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .ok()?;
    }
}

/// Counts a request for the item; its number once there is load.
fn under_load() -> Option<u32> {
    let count = ASKED.fetch_add(1, Ordering::Relaxed);
    (count > LOADED).then_some(count)
}

fn is_odd(count: u32) -> bool {
    count % 2 == 1
}

/// Whether the request that comes next, still unread, is one of three in ten under load. Never two
/// in a row, so that whoever asks again after the load finds it alive.
fn is_to_be_reset(stream: &TcpStream) -> Option<bool> {
    let mut begin = [0; 9];
    let length = stream.peek(&mut begin).ok()?;
    let known = begin[..length] == *b"GET /item";
    Some(known && under_load().is_some_and(|count| matches!(count % 10, 0 | 3 | 6)))
}
