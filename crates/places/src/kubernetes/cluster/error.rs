//! Errors of a cluster, in sentences.

use std::fmt;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use kube::client::UpgradeConnectionError;

/// How long the API server may be away: it takes half a minute to come back.
pub(crate) const AWAY_MAX: Duration = Duration::from_secs(60);
/// Distance of two attempts to reach it.
pub(crate) const AWAY_PAUSE: Duration = Duration::from_millis(500);

/// Something that the cluster did not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ClusterError {
    problem: Problem,
    /// No user of this authority may do it, or there is no place for it.
    is_refusal: bool,
}

impl ClusterError {
    pub(crate) fn new(problem: impl Into<Problem>) -> Self {
        Self {
            problem: problem.into(),
            is_refusal: false,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.problem = self.problem.with_hint(hint);
        self
    }

    /// Returns the error of the API server in an attempt to do `what`.
    pub(crate) fn of(what: &str, error: &kube::Error) -> Self {
        let failed = Self::without_hint(what, error);
        match error {
            kube::Error::Api(status) if status.code == 403 => failed.with_hint(
                "give this user what `bakeoff kubernetes manifest` prints, or more of the quota",
            ),
            kube::Error::Api(status) if status.code == 401 => {
                failed.with_hint("the kubeconfig's credentials are no longer valid; log in again")
            }
            kube::Error::Api(_) => failed,
            _ => failed.with_hint("does `kubectl get nodes` work with the same context?"),
        }
    }

    /// Returns that error without the usual hint, for callers with a better one.
    pub(crate) fn without_hint(what: &str, error: &kube::Error) -> Self {
        let refused =
            matches!(error, kube::Error::Api(status) if [403, 404].contains(&status.code));
        Self {
            is_refusal: refused,
            ..Self::new(format!("cannot {what}: {}", plain(error)))
        }
    }

    /// Whether asking again would not help: one may not, or what it is in is not there.
    pub(crate) fn is_refusal(&self) -> bool {
        self.is_refusal
    }
}

impl From<ClusterError> for Problem {
    fn from(error: ClusterError) -> Self {
        error.problem
    }
}

/// Whether the API server says that something is not there.
pub(crate) fn is_missing(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Whether the API server says that something is there already.
pub(crate) fn is_there(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409)
}

/// Whether no request was refused: the API server is away, or has too much to do.
pub(crate) fn is_away(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500 || status.code == 429,
        kube::Error::UpgradeConnection(UpgradeConnectionError::ProtocolSwitch(status)) => {
            status.is_server_error()
        }
        _ => true,
    }
}

/// An error of the API server, or of the way to it, as one fragment.
fn plain(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => return status.message.trim().to_owned(),
        kube::Error::UpgradeConnection(UpgradeConnectionError::ProtocolSwitch(status)) => {
            return match status.as_u16() {
                404 => "the Pod is gone".to_owned(),
                _ => format!("the API server says {status}"),
            };
        }
        _ => {}
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    format!("the API server does not respond: {text}")
}
