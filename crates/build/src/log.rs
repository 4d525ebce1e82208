//! The log of a process group: its start on the disk, its end in memory. A service that logs each
//! request would fill the disk in one run; nothing reads the millions of lines in between.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most that is read of a log, bytes.
pub(crate) const TAIL_BYTES: u64 = 64 << 10;

/// Most that is written of the start of a log, bytes.
const HEAD_BYTES: u64 = 4 << 20;

/// Lines of a log that a message shows.
const LINES: usize = 12;

/// A log that is being written; its clones write to and read from the same one.
#[derive(Debug, Clone)]
pub struct Log(Arc<Mutex<Sink>>);

#[derive(Debug)]
struct Sink {
    file: File,
    written: u64,
    /// Line ends up to now.
    lines: u64,
    /// Bytes behind the head, those in `end` included.
    beyond: u64,
    /// The last bytes, at most [`TAIL_BYTES`].
    end: VecDeque<u8>,
}

impl Log {
    /// Creates an empty log, with the folders above it.
    pub fn create(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Self(Arc::new(Mutex::new(Sink {
            file: File::create(path)?,
            written: 0,
            lines: 0,
            beyond: 0,
            end: VecDeque::new(),
        }))))
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what a program printed.
    pub fn append(&self, bytes: &[u8]) {
        self.sink().append(bytes);
    }

    /// The last 64 KiB, from the first whole line on.
    pub fn tail(&self) -> String {
        let sink = self.sink();
        let bytes: Vec<u8> = sink.end.iter().copied().collect();
        let all = sink.written + sink.beyond;
        from_whole_line(&bytes, all > bytes.len() as u64)
    }

    /// Whole lines up to now.
    pub fn lines(&self) -> u64 {
        self.sink().lines
    }

    /// Writes the end of a log of which no more will come.
    pub fn finish(&self) {
        self.sink().finish();
    }
}

impl Sink {
    fn append(&mut self, bytes: &[u8]) {
        let room = usize::try_from(HEAD_BYTES - self.written).unwrap_or(usize::MAX);
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        // A full disk costs the rest of the log, never the run.
        let _ = self.file.write_all(head);
        self.written += head.len() as u64;
        self.beyond += rest.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.end.extend(bytes);
        let most = usize::try_from(TAIL_BYTES).unwrap_or(usize::MAX);
        self.end.drain(..self.end.len().saturating_sub(most));
    }

    fn finish(&mut self) {
        let beyond = std::mem::take(&mut self.beyond);
        if beyond == 0 {
            return;
        }
        let kept = beyond.min(self.end.len() as u64);
        let from = self.end.len() - usize::try_from(kept).unwrap_or(self.end.len());
        let bytes: Vec<u8> = self.end.range(from..).copied().collect();
        let _ = writeln!(self.file, "\n[{} bytes are left out here]", beyond - kept);
        let _ = self.file.write_all(&bytes);
    }
}

/// The last 64 KiB of a file, from the first whole line on; empty when it cannot be read.
pub fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let skipped = length.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(skipped))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(from_whole_line(&bytes, skipped > 0))
    };
    read().unwrap_or_default()
}

/// A piece of a log as text, without the broken line that it starts with when it is `cut`.
fn from_whole_line(bytes: &[u8], cut: bool) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    match text.split_once('\n') {
        Some((_, rest)) if cut => rest.to_owned(),
        _ => text,
    }
}

/// Most that is read of a file that a contender writes, bytes.
const FILE_BYTES: u64 = 16 << 20;

/// The start of a file that a contender writes, which may be of any size.
pub fn file_begin(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the last lines of a text, for a message.
#[must_use]
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::{HEAD_BYTES, Log, last_lines, tail};

    #[test]
    fn a_long_log_keeps_its_beginning_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("one.log");
        let log = Log::create(&path).unwrap();
        log.append(b"first\n");
        assert_eq!(log.tail(), "first\n");
        for number in 0..700_000 {
            log.append(format!("line {number}\n").as_bytes());
        }
        assert!(log.tail().starts_with("line ") && log.tail().ends_with("line 699999\n"));
        assert_eq!(log.lines(), 700_001);
        log.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("first\nline 0\n") && text.ends_with("line 699999\n"));
        assert_eq!(text.matches("bytes are left out here]").count(), 1);
        assert!(text.len() as u64 <= HEAD_BYTES + (64 << 10) + 100);
    }

    #[test]
    fn a_log_that_is_a_little_too_long_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.log");
        let log = Log::create(&path).unwrap();
        let line = [b'x'; 1 << 10];
        let lines = HEAD_BYTES / (1 << 10) + 3;
        (0..lines).for_each(|_| log.append(&line));
        log.finish();
        let text = std::fs::read_to_string(&path).unwrap();
        let kept = text.bytes().filter(|byte| *byte == b'x').count() as u64;
        assert_eq!(kept, lines << 10);
        assert!(text.contains("[0 bytes are left out here]"));
    }

    #[test]
    fn the_end_of_a_long_log_begins_with_a_whole_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = (0..20_000)
            .map(|number| format!("line {number}\n"))
            .collect();
        std::fs::write(file.path(), text).unwrap();
        let tail = tail(file.path());
        assert!(tail.starts_with("line ") && tail.ends_with("line 19999\n"));
        assert!(tail.len() <= 64 << 10);
        assert!(last_lines(&tail).starts_with("line 19988\n"));
        assert_eq!(last_lines(""), "");
    }
}
