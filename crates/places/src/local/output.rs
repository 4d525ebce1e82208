//! The output of a process on its way to the log: through a pipe, so that pages of the log are not
//! counted as the contender's memory, and read at intervals, so that a line wakes nothing up.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bakeoff_build::log::Log;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// How often the pipe is emptied.
const EVERY: Duration = Duration::from_millis(10);
/// The capacity of the pipe, if permitted: 100 MB/s at that interval.
const PIPE_BYTES: usize = 1 << 20;
/// Bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// The reading end of a process's output.
#[derive(Debug, Clone)]
pub(super) struct Output(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// `None` after the end.
    pipe: Mutex<Option<OwnedFd>>,
    log: Log,
}

impl Output {
    /// Creates a log; the second value is the end that the process writes to.
    pub(super) fn to_file(path: &Path) -> io::Result<(Self, OwnedFd)> {
        let log = Log::create(path)?;
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // Only the reading end: a service must not meet a pipe that takes less than a line.
        fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
        // A smaller pipe makes a service that logs very much wait, as it does under an engine.
        let _ = fcntl_setpipe_size(&reader, PIPE_BYTES);
        let output = Self(Arc::new(Shared {
            pipe: Mutex::new(Some(reader)),
            log,
        }));
        let copying = output.clone();
        thread::Builder::new()
            .name("contender-log".to_owned())
            .spawn(move || {
                while copying.copy() {
                    thread::sleep(EVERY);
                }
            })
            .map_err(|error| io::Error::other(format!("no thread can be started: {error}")))?;
        Ok((output, writer))
    }

    /// The last 64 KiB of what has been written up to now.
    pub(super) fn tail(&self) -> String {
        self.copy();
        self.0.log.tail()
    }

    /// Whole lines that have been written up to now.
    pub(super) fn lines(&self) -> u64 {
        self.copy();
        self.0.log.lines()
    }

    /// Takes the rest; a process that still writes gets an error from now on.
    pub(super) fn finish(&self) {
        self.copy();
        *self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.0.log.finish();
    }

    /// Copies all that is there; `false` at the end of the output.
    fn copy(&self) -> bool {
        let mut pipe = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reader) = pipe.as_ref() else {
            return false;
        };
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match rustix::io::read(reader, &mut buffer) {
                Ok(0) => break,
                Ok(bytes) => self.0.log.append(&buffer[..bytes]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => break,
            }
        }
        *pipe = None;
        self.0.log.finish();
        false
    }
}
