//! The number of requests that the replay backend has completed, served over a separate Unix
//! socket: on its port the query would wait behind the contender's requests.

use std::io::{self, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Requests completed up to now.
#[derive(Debug, Clone, Default)]
pub struct Answered(Arc<AtomicU64>);

impl Answered {
    /// Counts one more request.
    pub fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends the count to each client of a socket at `path`, as long as the process lives.
    ///
    /// # Errors
    /// The socket cannot be created.
    pub fn tell_at(&self, path: &Path) -> io::Result<()> {
        let listener = UnixListener::bind(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        let answered = self.clone();
        let tell = move || {
            for mut stream in listener.incoming().flatten() {
                // A client that hung up does not need the count.
                let _ = write!(stream, "{}", answered.0.load(Ordering::Relaxed));
            }
        };
        thread::Builder::new()
            .name("replay-count".to_owned())
            .spawn(tell)?;
        Ok(())
    }
}
