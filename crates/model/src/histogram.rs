//! Latency histograms: HdrHistogram with three significant digits, 1 ns to 60 s, merged and
//! never averaged, written as base64 of the V2 compressed form (lossless).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest time a histogram tells apart, 60 s in nanoseconds; longer ones are recorded as it.
pub const HIGHEST_NS: u64 = 60_000_000_000;

/// A histogram of times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram, all of its memory allocated (about 200 KiB).
    #[must_use]
    pub fn new() -> Self {
        let inner = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, 3)
            .expect("the bounds are constants inside what the library allows");
        Self(inner)
    }

    /// Counts one time. Never allocates.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        self.0.saturating_record(time_ns.clamp(1, HIGHEST_NS));
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("all our histograms share their bounds");
    }

    /// Forgets all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many times were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time in nanoseconds below or at which the share `quantile` (0 to 1) of all times lies;
    /// `None` when nothing was recorded.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile))
    }

    /// The smallest recorded time in nanoseconds.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.min())
    }

    /// The largest recorded time in nanoseconds.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// The mean in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean())
    }

    /// The standard deviation in nanoseconds.
    #[must_use]
    pub fn deviation_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.stdev())
    }

    /// How many recorded times lie in `low_ns..=high_ns`, at the histogram's resolution.
    #[must_use]
    pub fn count_between(&self, low_ns: u64, high_ns: u64) -> u64 {
        self.0.count_between(low_ns.max(1), high_ns.max(1))
    }

    /// Every non-empty bucket as (highest time of the bucket in ns, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// The lossless text form: base64 of HdrHistogram V2, compressed.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("writing to memory cannot fail");
        STANDARD.encode(bytes)
    }

    /// Reads what [`Histogram::encode`] wrote.
    ///
    /// # Errors
    /// A sentence when the text is not base64 or not a histogram.
    pub fn decode(text: &str) -> Result<Self, String> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|error| format!("not base64: {error}"))?;
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| format!("not a histogram: {error}"))?;
        let mut histogram = Self::new();
        histogram
            .0
            .add(&read)
            .map_err(|error| format!("not within 60 s: {error}"))?;
        Ok(histogram)
    }
}

impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::decode(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Histogram {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "description": "HdrHistogram V2 compressed, base64; nanoseconds"
        })
    }
}
