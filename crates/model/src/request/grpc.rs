//! The statuses of calls of gRPC.

use bakeoff_base::percent;

/// The method of every call.
pub const POST: &str = "POST";

/// The status of a call that succeeded.
pub const OK: u16 = 0;

/// Whether a status is one of those that are allowed; none are listed if only [`OK`] is.
#[must_use]
pub fn allows(allowed: &[u16], status: u16) -> bool {
    match allowed {
        [] => status == OK,
        allowed => allowed.contains(&status),
    }
}

/// Returns the message of a call that failed, which is percent-encoded in its headers.
#[must_use]
pub fn message(headers: &[(String, String)]) -> Option<String> {
    let mut headers = headers.iter();
    let (_, text) = headers.find(|(name, _)| name == "grpc-message")?;
    Some(percent::decoded(text).unwrap_or_else(|| text.clone()))
}

/// Returns a status as messages show it: `14 (UNAVAILABLE)`.
#[must_use]
pub fn status_text(status: u16) -> String {
    match NAMES.get(usize::from(status)) {
        Some(name) => format!("{status} ({name})"),
        None => status.to_string(),
    }
}

/// The names of the statuses, by their numbers.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

#[cfg(test)]
mod tests {
    use super::{allows, message, status_text};

    #[test]
    fn statuses_have_names() {
        assert_eq!(status_text(0), "0 (OK)");
        assert_eq!(status_text(16), "16 (UNAUTHENTICATED)");
        assert_eq!(status_text(99), "99");
    }

    #[test]
    fn messages_are_percent_encoded() {
        let header = |text: &str| [("grpc-message".to_owned(), text.to_owned())];
        assert_eq!(message(&header("no%20name")).as_deref(), Some("no name"));
        assert_eq!(message(&header("50% off")).as_deref(), Some("50% off"));
        assert_eq!(message(&[]), None);
    }

    #[test]
    fn a_call_succeeds_unless_another_status_is_expected() {
        assert!(allows(&[], 0) && !allows(&[], 5));
        assert!(allows(&[5, 9], 9) && !allows(&[5, 9], 0));
    }
}
