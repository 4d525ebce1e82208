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
    println!("listening on {address}");
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
        let (status, body) = match path {
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
