//! Requests that did not succeed, by class.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;

/// Why a request did not count as successful. Classes are counted apart, each with its time.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// The connection was refused or could not be made.
    ConnectRefused,
    /// The connection was not made in time.
    ConnectTimeout,
    /// No byte of the response came in time.
    HeaderTimeout,
    /// The response started and did not end in time.
    BodyTimeout,
    /// The connection was reset.
    Reset,
    /// The connection was closed before the response was whole.
    EarlyClose,
    /// The bytes received are not HTTP.
    BadFraming,
    /// The status is not the expected one.
    UnexpectedStatus,
    /// The body (or a header) is not the expected one.
    WrongBody,
    /// TLS failed.
    Tls,
    /// The load generator ran out of file descriptors, ports or memory: its own fault, never the
    /// service's.
    Local,
    /// A scheduled request that was not sent within the stated bound.
    Dropped,
}

impl ErrorClass {
    /// All classes in the order in which they are shown.
    pub const ALL: [Self; 12] = [
        Self::ConnectRefused,
        Self::ConnectTimeout,
        Self::HeaderTimeout,
        Self::BodyTimeout,
        Self::Reset,
        Self::EarlyClose,
        Self::BadFraming,
        Self::UnexpectedStatus,
        Self::WrongBody,
        Self::Tls,
        Self::Local,
        Self::Dropped,
    ];

    /// The class as files and people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ConnectRefused => "connect-refused",
            Self::ConnectTimeout => "connect-timeout",
            Self::HeaderTimeout => "header-timeout",
            Self::BodyTimeout => "body-timeout",
            Self::Reset => "reset",
            Self::EarlyClose => "early-close",
            Self::BadFraming => "bad-framing",
            Self::UnexpectedStatus => "unexpected-status",
            Self::WrongBody => "wrong-body",
            Self::Tls => "tls",
            Self::Local => "local",
            Self::Dropped => "dropped",
        }
    }
}

/// Requests of one error class in one slice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// How many.
    pub count: u64,
    /// Sum of their times from send (or connect) to the failure, ns.
    pub time_ns_sum: u64,
    /// One of them in words, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
    /// How many by message, [`MESSAGES_MAX`] different ones at most: others are in `count` alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub messages: BTreeMap<String, u64>,
    /// How long failed requests took: response times if successful requests have any, else from the
    /// send or connect. Absent if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Histogram>,
}

/// Different messages of an error class that are counted apart in a slice: those of wrong bodies
/// may all be different.
pub const MESSAGES_MAX: usize = 8;

impl ErrorCount {
    /// Adds failures of the same class that were counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.time_ns_sum += other.time_ns_sum;
        for (message, count) in &other.messages {
            self.add_message(message, *count);
        }
        if self.example.is_none() {
            self.example.clone_from(&other.example);
        }
        Histogram::merge_some(&mut self.times, other.times.as_ref());
    }

    /// Adds failures with this message.
    pub fn add_message(&mut self, message: &str, count: u64) {
        if self.example.is_none() {
            self.example = Some(message.to_owned());
        }
        if let Some(counted) = self.messages.get_mut(message) {
            *counted += count;
        } else if self.messages.len() < MESSAGES_MAX {
            self.messages.insert(message.to_owned(), count);
        }
    }
}
