//! A contender for the tests of the command line: a tiny service that behaves well or badly, as
//! `MODE` says. It is built with the tests and copied into suites that they make.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it logs like a service"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Requests for the item, or to store one, so far.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Items so far, for its own metrics.
static COUNTED: AtomicU32 = AtomicU32::new(0);

/// Items with a distinct number so far.
static SENT: AtomicU32 = AtomicU32::new(0);

/// Requests for the item from which on it is under load: checks ask less often.
const LOADED: u32 = 20;

/// Requests that a service handles before it takes more and more memory: more than one worker
/// handles in a second.
const OUTGROWN: u32 = 600;

fn main() -> ExitCode {
    let Ok(mode) = std::env::var("MODE") else {
        eprintln!("MODE is missing");
        return ExitCode::from(2);
    };
    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".to_owned());
    if std::env::var("BACKEND_DEAD").is_ok() {
        eprintln!("the backend does not respond");
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
        Err(error) => eprintln!("cannot read the port: {error}"),
    }
    for stream in listener.incoming().flatten() {
        let mode = mode.clone();
        std::thread::spawn(move || serve(stream, &mode));
    }
    ExitCode::SUCCESS
}

/// Responds to requests on one connection until it closes.
fn serve(mut stream: TcpStream, mode: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    let mut backend = Backend::default();
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
        let known = path == "/item";
        if !(known && is_silent(mode)) {
            println!("{path}");
        }
        if known && takes_memory(mode) {
            // 16 MiB that are really touched: some requests on one connection are too much, however
            // slow the host is.
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
        work(mode, known)?;
        let refusal = match mode {
            "wrong-name-and-status" => "422 Unprocessable Content",
            _ => "400 Bad Request",
        };
        if known && !has_cached(mode) && backend.ask().is_err() {
            return None;
        }
        if path == "/store" {
            store(mode)?;
        }
        let overloaded = known && is_overloaded(mode);
        let (status, body) = match path {
            "/item" if overloaded => ("503 Service Unavailable", "{}".to_owned()),
            "/item" => ("200 OK", item(mode)),
            "/store" => ("200 OK", "{}".to_owned()),
            "/metrics" if mode == "counts" => ("200 OK", metrics()),
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

/// The item, after the work for it.
fn item(mode: &str) -> String {
    burn();
    COUNTED.fetch_add(1, Ordering::Relaxed);
    let number = match mode {
        "numbered" => format!("\"number\":{},", SENT.fetch_add(1, Ordering::Relaxed)),
        _ => String::new(),
    };
    format!("{{{number}\"name\":{}\"{}\"}}", space(mode), name(mode))
}

/// The contender's own metrics.
fn metrics() -> String {
    let counted = COUNTED.load(Ordering::Relaxed);
    format!(
        "# TYPE items_total counter\nitems_total{{path=\"/item\"}} {counted}\n\
         # TYPE idle_total counter\nidle_total 0\n\
         # TYPE answer gauge\nanswer 42 # {{}} 1\n# EOF\n"
    )
}

/// The item's name.
fn name(mode: &str) -> &'static str {
    match mode {
        "wrong-body" | "wrong-name-and-status" => "Pilsen",
        _ => "Plzeň",
    }
}

/// Whether this request for the item is one of the nine in ten that are not logged under load.
fn is_silent(mode: &str) -> bool {
    mode == "logs-little" && under_load().is_some_and(|count| !count.is_multiple_of(10))
}

/// Whether the item is served from memory.
fn has_cached(mode: &str) -> bool {
    mode == "caches" && under_load().is_some()
}

/// Returns the text before the item's name: a space that one response in a thousand lacks.
fn space(mode: &str) -> &'static str {
    match mode {
        // One in a thousand, the first of them soon: a busy host serves few requests in a step.
        "one-byte-short" if under_load().is_some_and(|count| count % 1000 == 100) => "",
        "one-byte-short" => " ",
        _ => "",
    }
}

/// The connection to the backend at `BACKEND`, if the suite has one: each item is asked there.
#[derive(Default)]
struct Backend(Option<BufReader<TcpStream>>);

impl Backend {
    /// Asks for the item and takes the response.
    fn ask(&mut self) -> std::io::Result<()> {
        let Ok(address) = std::env::var("BACKEND") else {
            return Ok(());
        };
        let mut reader = match self.0.take() {
            Some(reader) => reader,
            None => {
                let stream = TcpStream::connect(&address)?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let request = format!("GET /documents/1 HTTP/1.1\r\nhost: {address}\r\n\r\n");
        reader.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let header = line.trim().to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if header.is_empty() {
                break;
            }
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
        self.0 = Some(reader);
        Ok(())
    }
}

/// Adds a row to the database, or forgets it; `None` when that does not work.
fn store(mode: &str) -> Option<()> {
    if mode == "forgets" && ASKED.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
        return Some(());
    }
    let [psql, url] = ["PSQL", "DATABASE_URL"].map(std::env::var);
    let mut command = Command::new(psql.ok()?);
    command.args([&url.ok()?, "--no-psqlrc", "--quiet", "--command"]);
    let stored = command.arg("INSERT INTO items DEFAULT VALUES").status();
    stored.ok()?.success().then_some(())
}

/// Whether this request for the item is one that is refused under load.
fn is_overloaded(mode: &str) -> bool {
    match mode {
        "overloaded" => under_load().is_some_and(is_odd),
        "fails-rarely" => under_load().is_some_and(|count| count.is_multiple_of(500)),
        _ => false,
    }
}

/// Does `BURN` rounds of work for an item, each of which needs the one before.
fn burn() {
    let rounds = std::env::var("BURN").map_or(0, |text| text.parse().unwrap_or(0));
    let mut state = std::hint::black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..rounds {
        state ^= state << 13;
        state ^= state >> 7;
    }
    std::hint::black_box(state);
}

/// Whether a request for the item keeps memory.
fn takes_memory(mode: &str) -> bool {
    match mode {
        "hungry" => true,
        // Lives through a second of load, and not through many.
        "outgrows" => ASKED.fetch_add(1, Ordering::Relaxed) > OUTGROWN,
        _ => false,
    }
}

/// Waits in the order of arrival until the only worker, which takes 2 ms for each item, is done.
/// The queue is reckoned, so that a thread which wakes up late makes no other request late.
fn work(mode: &str, known: bool) -> Option<()> {
    static FREE: Mutex<Option<Instant>> = Mutex::new(None);
    if !matches!(mode, "one-worker" | "outgrows") || !known {
        return Some(());
    }
    let now = Instant::now();
    let done = {
        let mut free = FREE.lock().ok()?;
        let done = free.unwrap_or(now).max(now) + Duration::from_millis(2);
        *free = Some(done);
        done
    };
    std::thread::sleep(done.saturating_duration_since(Instant::now()));
    Some(())
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
/// in a row, so that a check after the load finds it alive.
fn is_to_be_reset(stream: &TcpStream) -> Option<bool> {
    let mut begin = [0; 9];
    let length = stream.peek(&mut begin).ok()?;
    let known = begin[..length] == *b"GET /item";
    Some(known && under_load().is_some_and(|count| matches!(count % 10, 0 | 3 | 6)))
}
