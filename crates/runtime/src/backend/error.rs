//! Why a backend does not work.

use bakeoff_replay::RecordingError;

use crate::api::StartError;
use crate::build::{BuildError, MissingToolchain};

use super::data::LoadError;

/// Why a backend does not work.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// It could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A program or file that it needs is missing.
    #[error("backend {name}: {missing}: {}", .missing.how)]
    Missing {
        /// The backend.
        name: &'static str,
        /// The toolchain.
        missing: MissingToolchain,
    },
    /// It could not be started: the port is taken, the program is not there.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It ended or stayed silent instead of becoming ready.
    #[error("backend {name}: {message}")]
    NotReady {
        /// The backend.
        name: &'static str,
        /// The event.
        message: String,
        /// Last lines of its log.
        log: String,
    },
    /// One of its own programs failed, or a file of it.
    #[error("backend {name}: {message}")]
    Failed {
        /// The backend.
        name: &'static str,
        /// The event.
        message: String,
    },
    /// A server that runs already cannot be used.
    #[error("{url}: {why}")]
    Server {
        /// The server, without password.
        url: String,
        /// Why not.
        why: String,
        /// The remedy.
        hint: String,
    },
    /// There is nothing to replay.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Its data could not be loaded.
    #[error("backend {name}: {error}")]
    Load {
        /// The backend.
        name: &'static str,
        /// Why.
        error: LoadError,
    },
}

impl BackendError {
    /// Returns the remedy, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Build(BuildError::Failed(failure)) => failure.hints.first().cloned(),
            Self::Start(StartError::Failed { hint, .. }) => hint.clone(),
            Self::NotReady { log, .. } if !log.is_empty() => {
                Some(format!("last lines of its log:\n{log}"))
            }
            Self::Server { hint, .. } => Some(hint.clone()),
            Self::Recording(RecordingError::Empty(_)) => {
                Some("make them with `bakeoff record`".to_owned())
            }
            _ => None,
        }
    }
}
