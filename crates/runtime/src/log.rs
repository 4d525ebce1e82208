//! The log of a process group: the end of a file that somebody else writes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Most that is read of a log, bytes.
pub(crate) const TAIL_BYTES: u64 = 64 << 10;

/// Lines of a log that a message shows.
const LINES: usize = 12;

/// The last 64 KiB of a file, from the first whole line on; empty when it cannot be read.
pub(crate) fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let skipped = length.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(skipped))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(match text.split_once('\n') {
            Some((_, rest)) if skipped > 0 => rest.to_owned(),
            _ => text,
        })
    };
    read().unwrap_or_default()
}

/// The last lines of a text, for a message.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::{last_lines, tail};

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
