//! Durations in files: whole nanoseconds under a key that ends in `_ns`. Files of format 1 have
//! `{"secs": 1, "nanos": 0}` instead, which is still read.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Both ways in which a duration was ever written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Nanoseconds(u64),
    Parts(Duration),
}

impl From<Written> for Duration {
    fn from(written: Written) -> Self {
        match written {
            Written::Nanoseconds(nanoseconds) => Self::from_nanos(nanoseconds),
            Written::Parts(duration) => duration,
        }
    }
}

/// In whole nanoseconds; five centuries do not fit, and need not.
#[must_use]
pub fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    whole(*duration).serialize(serializer)
}

/// For `#[serde(with)]`.
///
/// # Errors
/// The value is not a duration.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Written::deserialize(deserializer).map(Duration::from)
}

/// The same for durations that may be absent.
pub mod option {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Written, whole};

    /// For `#[serde(with)]`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration.map(whole).serialize(serializer)
    }

    /// For `#[serde(with)]`.
    ///
    /// # Errors
    /// The value is not a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let written = Option::<Written>::deserialize(deserializer)?;
        Ok(written.map(Duration::from))
    }
}
