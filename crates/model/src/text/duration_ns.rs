//! Durations in files: whole nanoseconds under a key that ends in `_ns`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    u64::deserialize(deserializer).map(Duration::from_nanos)
}

/// Durations in files that may be absent.
pub mod option {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::whole;

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
        let nanoseconds = Option::<u64>::deserialize(deserializer)?;
        Ok(nanoseconds.map(Duration::from_nanos))
    }
}
