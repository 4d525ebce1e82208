//! A service that does a stated amount of work for each request, and one thing more.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A header that is sent with `EXTRA=bytes`, bytes.
const PADDING: usize = 2000;

/// What a request is answered with and for.
struct Service {
    rounds: u32,
    extra: String,
    response: Vec<u8>,
}

fn main() {
    let setting = |name: &str| std::env::var(name).expect("PORT, ROUNDS and EXTRA are set");
    let extra = setting("EXTRA");
    let padding = match extra.as_str() {
        "bytes" => format!("x-padding: {}\r\n", "x".repeat(PADDING)),
        _ => String::new(),
    };
    let service = Arc::new(Service {
        rounds: setting("ROUNDS").parse().expect("ROUNDS is a number"),
        response: format!("HTTP/1.1 200 OK\r\n{padding}content-length: 4\r\n\r\ndone").into_bytes(),
        extra,
    });
    let listener =
        TcpListener::bind(format!("0.0.0.0:{}", setting("PORT"))).expect("the port is free");
    for stream in listener.incoming().flatten() {
        let service = Arc::clone(&service);
        std::thread::spawn(move || serve(stream, &service));
    }
}

/// Answers until the client is gone.
fn serve(mut stream: TcpStream, service: &Service) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let asked = line.starts_with("GET /work ");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line).ok()?;
        }
        if asked {
            work(service.rounds);
            more(&service.extra);
            stream.write_all(&service.response).ok()?;
        } else {
            let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(missing).ok()?;
        }
    }
}

/// One thing more.
fn more(extra: &str) {
    match extra {
        "log" => println!("GET /work 200"),
        "calls" => {
            for _ in 0..3 {
                black_box(std::fs::metadata("/").is_ok());
            }
        }
        _ => {}
    }
}

/// Each round needs the result of the one before, so none can be left out or done beside another.
fn work(rounds: u32) {
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..rounds {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}
