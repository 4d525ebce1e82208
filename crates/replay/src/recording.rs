//! Recorded exchanges: each request, the response of the real backend, and how long it took.
//!
//! A recording is a JSON Lines file, one exchange per line, sorted by request, so that two
//! recordings differ where the exchanges do (`docs/FORMAT.md`).

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::key::RequestKey;

/// Maximum number of durations kept per exchange: enough for a distribution, few enough to read.
pub const DURATIONS_MAX: usize = 32;

/// Response headers that are kept. The others belong to the connection, or nothing reads them.
pub(crate) const HEADERS: [&str; 3] = ["content-type", "location", "x-elastic-product"];

/// One recorded response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
    /// How long the real backend took, us; at most [`DURATIONS_MAX`] values.
    pub durations_us: Vec<u64>,
}

/// Exchanges by request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    exchanges: BTreeMap<RequestKey, Recorded>,
}

/// Why recordings cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// There is nothing to replay.
    #[error("{}: no recordings", .0.display())]
    Empty(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// A line is not an exchange.
    #[error("{}:{line}: not a recorded exchange: {message}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        message: Problem,
    },
}

impl From<RecordingError> for Problem {
    fn from(error: RecordingError) -> Self {
        let problem = Self::new(&error);
        match error {
            RecordingError::Empty(_) => problem.with_hint("make them with `bakeoff record`"),
            _ => problem,
        }
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    method: String,
    target: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    request: String,
    status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
    /// As text, so that the response is byte for byte what the backend sent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    body: String,
    /// Base64 instead of `body`, if that is not UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    body_base64: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    durations_us: Vec<u64>,
}

impl Recording {
    /// Reads a file, or all `*.jsonl` files of a folder in the order of their names. If two
    /// exchanges have the same request, the first one counts.
    ///
    /// # Errors
    /// A file cannot be read, a line is not an exchange, or there is no exchange at all.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let mut recording = Self::default();
        for file in files(path)? {
            recording.merge_file(&file)?;
        }
        if recording.exchanges.is_empty() {
            return Err(RecordingError::Empty(path.to_owned()));
        }
        Ok(recording)
    }

    /// Adds the exchanges of a file.
    pub(crate) fn merge_file(&mut self, path: &Path) -> Result<(), RecordingError> {
        let text = fs::read_to_string(path).map_err(|error| io_error(path, error))?;
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() {
                continue;
            }
            let (key, recorded) = parse(line).map_err(|message| RecordingError::Line {
                path: path.to_owned(),
                line: index + 1,
                message,
            })?;
            self.add(key, recorded);
        }
        Ok(())
    }

    /// Adds an exchange and returns whether the recording has changed. An existing response is
    /// kept, unless it was a server failure (5xx) and this one is not: recordings stay the same if
    /// nothing new was seen, although times and identities in responses differ.
    pub fn add(&mut self, key: RequestKey, new: Recorded) -> bool {
        let Some(old) = self.exchanges.get_mut(&key) else {
            self.exchanges.insert(key, new);
            return true;
        };
        if old.status >= 500 && new.status < 500 {
            *old = new;
            return true;
        }
        let room = DURATIONS_MAX.saturating_sub(old.durations_us.len());
        let count = room.min(new.durations_us.len());
        old.durations_us.extend(&new.durations_us[..count]);
        count > 0
    }

    /// Returns the exchanges in the order of the file.
    pub fn exchanges(&self) -> impl Iterator<Item = (&RequestKey, &Recorded)> {
        self.exchanges.iter()
    }

    /// Returns the number of exchanges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Whether there are no exchanges.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), RecordingError> {
        let write = || -> io::Result<()> {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder {
                fs::create_dir_all(folder)?;
            }
            let new = path.with_extension("jsonl.new");
            let mut file = io::BufWriter::new(fs::File::create(&new)?);
            for (key, recorded) in &self.exchanges {
                serde_json::to_writer(&mut file, &line(key, recorded))?;
                file.write_all(b"\n")?;
            }
            file.into_inner()
                .map_err(io::IntoInnerError::into_error)?
                .sync_all()?;
            fs::rename(&new, path)
        };
        write().map_err(|error| io_error(path, error))
    }
}

fn io_error(path: &Path, error: io::Error) -> RecordingError {
    RecordingError::Io {
        path: path.to_owned(),
        error,
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, RecordingError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).map_err(|error| io_error(path, error))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    Ok(files)
}

fn parse(text: &str) -> Result<(RequestKey, Recorded), Problem> {
    let line: Line = serde_json::from_str(text).map_err(Problem::new)?;
    if !(100..1000).contains(&line.status) {
        return Err(format!("{} is not a status", line.status).into());
    }
    let body = if line.body_base64.is_empty() {
        line.body.into_bytes()
    } else {
        let decoded = STANDARD.decode(&line.body_base64);
        decoded.map_err(|error| format!("body_base64: {error}"))?
    };
    // Canonicalised like requests, so that a line may be written by hand.
    let key = RequestKey::of(&line.method, &line.target, line.request.as_bytes());
    Ok((
        key,
        Recorded {
            status: line.status,
            headers: line.headers,
            body,
            durations_us: line.durations_us,
        },
    ))
}

fn line(key: &RequestKey, recorded: &Recorded) -> Line {
    let (body, body_base64) = match String::from_utf8(recorded.body.clone()) {
        Ok(text) => (text, String::new()),
        Err(error) => (String::new(), STANDARD.encode(error.as_bytes())),
    };
    Line {
        method: key.method.clone(),
        target: key.target.clone(),
        request: key.body.clone(),
        status: recorded.status,
        headers: recorded.headers.clone(),
        body,
        body_base64,
        durations_us: recorded.durations_us.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{DURATIONS_MAX, Recorded, Recording, RequestKey};

    fn answer(status: u16, body: &[u8], durations_us: &[u64]) -> Recorded {
        Recorded {
            status,
            body: body.to_vec(),
            durations_us: durations_us.to_vec(),
            ..Recorded::default()
        }
    }

    fn get(target: &str) -> RequestKey {
        RequestKey::of("GET", target, b"")
    }

    #[test]
    fn what_is_written_is_read_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/exchanges.jsonl");
        let mut recording = Recording::default();
        let post = RequestKey::of("POST", "/b", br#"{"z":1,"a":"\""}"#);
        recording.add(post, answer(200, b"{\"x\":\"\xc5\x99\"}\n", &[7]));
        recording.add(get("/b"), answer(404, b"", &[]));
        recording.add(get("/a"), answer(200, &[0xff, 0xfe], &[1, 2]));
        recording.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let targets: Vec<&str> = text.lines().map(|line| &line[..28]).collect();
        assert_eq!(targets[0], r#"{"method":"GET","target":"/a"#);
        assert_eq!(targets[1], r#"{"method":"GET","target":"/b"#);
        assert_eq!(
            Recording::read(folder.path().join("deep").as_path()).unwrap(),
            recording
        );
        assert_eq!(Recording::read(&path).unwrap(), recording);
    }

    #[test]
    fn a_known_exchange_is_kept() {
        let mut recording = Recording::default();
        assert!(recording.add(get("/"), answer(503, b"starting", &[1])));
        assert!(recording.add(get("/"), answer(200, b"first", &[2])));
        assert!(recording.add(get("/"), answer(200, b"second", &[3])));
        assert!(!recording.add(get("/"), answer(500, b"broken", &[])));
        let kept: Vec<_> = recording
            .exchanges()
            .map(|(_, recorded)| recorded)
            .collect();
        assert_eq!(kept, [&answer(200, b"first", &[2, 3])]);
        recording.add(get("/"), answer(200, b"", &[4; 100]));
        let full = recording.exchanges().next().unwrap().1.durations_us.len();
        assert_eq!(full, DURATIONS_MAX);
        assert!(!recording.add(get("/"), answer(200, b"", &[5])));
    }

    #[test]
    fn mistakes_are_placed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let check = |text: &str, expect: &str| {
            fs::write(&path, text).unwrap();
            let error = Recording::read(folder.path()).unwrap_err().to_string();
            let error = error.replace(&folder.path().display().to_string(), "DIR");
            assert!(error.starts_with(expect), "{error}");
        };
        check("", "DIR: no recordings");
        check(
            "\n{}\n",
            "DIR/a.jsonl:2: not a recorded exchange: missing field `method`",
        );
        let line = r#"{"method":"GET","target":"/","status":99}"#;
        check(
            line,
            "DIR/a.jsonl:1: not a recorded exchange: 99 is not a status",
        );
        let line = r#"{"method":"GET","target":"/","status":200,"body_base64":"!"}"#;
        check(
            line,
            "DIR/a.jsonl:1: not a recorded exchange: body_base64: ",
        );
    }
}
