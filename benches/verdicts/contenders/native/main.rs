//! A service that does a stated amount of work for each request.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

const DONE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone";
const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

fn main() {
    let setting = |name: &str| std::env::var(name).expect("PORT and ROUNDS are set");
    let rounds: u32 = setting("ROUNDS").parse().expect("ROUNDS is a number");
    let listener =
        TcpListener::bind(format!("0.0.0.0:{}", setting("PORT"))).expect("the port is free");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream, rounds));
    }
}

/// Answers until the client is gone.
fn serve(mut stream: TcpStream, rounds: u32) -> Option<()> {
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
            work(rounds);
            stream.write_all(DONE).ok()?;
        } else {
            stream.write_all(MISSING).ok()?;
        }
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
