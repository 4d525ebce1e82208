//! Latency histograms: HdrHistogram with three significant digits, 1 ns to 60 s, merged and
//! never averaged, written as base64 of the V2 compressed form (lossless).

use std::borrow::Cow;
use std::sync::OnceLock;

use bakeoff_base::problem::Problem;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest time a histogram resolves, 60 s in nanoseconds; longer ones are recorded as it.
pub const HIGHEST_NS: u64 = 60_000_000_000;

/// A histogram of times in nanoseconds.
///
/// One that was read from text holds only its non-empty buckets, a few KiB, until it is recorded
/// into or merged into: a folder of results has thousands of them.
#[derive(Debug, Clone)]
pub struct Histogram(Counts);

#[derive(Debug, Clone)]
enum Counts {
    Full(hdrhistogram::Histogram<u64>),
    /// (highest time of the bucket in ns, count), ascending, and the sum of the counts.
    Packed(Vec<(u64, u64)>, u64),
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.count() == other.count() && self.buckets().eq(other.buckets())
    }
}

/// Returns an empty one. A copy: to fill 200 KiB anew takes several times as long.
fn empty() -> hdrhistogram::Histogram<u64> {
    bounds().clone()
}

/// Returns a histogram that knows the bounds of buckets.
fn bounds() -> &'static hdrhistogram::Histogram<u64> {
    static EMPTY: OnceLock<hdrhistogram::Histogram<u64>> = OnceLock::new();
    let make = || hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, 3);
    EMPTY.get_or_init(|| make().expect("the bounds are constants inside what the library allows"))
}

impl Histogram {
    /// An empty histogram, all of its memory allocated (about 200 KiB).
    #[must_use]
    pub fn new() -> Self {
        Self(Counts::Full(empty()))
    }

    /// All buckets in memory, unpacked for the moment when they are not.
    fn full(&self) -> Cow<'_, hdrhistogram::Histogram<u64>> {
        match &self.0 {
            Counts::Full(inner) => Cow::Borrowed(inner),
            Counts::Packed(buckets, _) => {
                let mut inner = empty();
                add_buckets(&mut inner, buckets);
                Cow::Owned(inner)
            }
        }
    }

    /// All buckets in memory, unpacked for good when they are not.
    #[inline]
    fn full_mut(&mut self) -> &mut hdrhistogram::Histogram<u64> {
        if matches!(self.0, Counts::Packed(..)) {
            self.0 = Counts::Full(self.full().into_owned());
        }
        match &mut self.0 {
            Counts::Full(inner) => inner,
            Counts::Packed(..) => unreachable!("it was unpacked above"),
        }
    }

    /// Counts one time. Never allocates, unless the histogram was just read from text.
    #[inline]
    pub fn record(&mut self, time_ns: u64) {
        self.full_mut()
            .saturating_record(time_ns.clamp(1, HIGHEST_NS));
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        match &other.0 {
            Counts::Full(inner) => self
                .full_mut()
                .add(inner)
                .expect("all our histograms share their bounds"),
            Counts::Packed(buckets, _) => add_buckets(self.full_mut(), buckets),
        }
    }

    /// Returns the histogram without the counts of `part`, which must be among them.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let mut rest = self.full().into_owned();
        let subtracted = rest.subtract(part.full().as_ref());
        subtracted.expect("all our histograms share their bounds, and the part is in the whole");
        Self(Counts::Full(rest))
    }

    /// Adds all counts of a histogram that may be absent, to one that then is not.
    pub fn merge_some(into: &mut Option<Self>, from: Option<&Self>) {
        if let Some(from) = from {
            into.get_or_insert_default().merge(from);
        }
    }

    /// The sum of histograms, which holds only its non-empty buckets; `None` when all are empty.
    #[must_use]
    pub fn sum<'a>(parts: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let mut all: Vec<(u64, u64)> = parts.flat_map(Self::buckets).collect();
        all.sort_unstable_by_key(|(time_ns, _)| *time_ns);
        let sum = Self::packed(all);
        (sum.count() > 0).then_some(sum)
    }

    /// Returns the times with two significant digits, which take a fraction of the space in files.
    /// For times of which only the sum is used: it changes by some tenths of a percent.
    #[must_use]
    pub fn coarse(&self) -> Self {
        let buckets = self.buckets().map(|(time_ns, count)| {
            let time_ns = two_digits(bounds().median_equivalent(time_ns));
            (bounds().highest_equivalent(time_ns), count)
        });
        Self::packed(buckets.collect())
    }

    /// Makes a histogram of ascending buckets, some of which may be there twice.
    fn packed(mut buckets: Vec<(u64, u64)>) -> Self {
        buckets.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
        buckets.shrink_to_fit();
        let counts = buckets.iter().map(|(_, count)| *count);
        let total = counts.fold(0_u64, u64::saturating_add);
        Self(Counts::Packed(buckets, total))
    }

    /// Forgets all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.full_mut().reset();
    }

    /// How many times were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Counts::Full(inner) => inner.len(),
            Counts::Packed(_, total) => *total,
        }
    }

    /// The time in nanoseconds below or at which the share `quantile` (0 to 1) of all times lies;
    /// `None` when nothing was recorded.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        (self.count() > 0).then(|| match &self.0 {
            Counts::Full(inner) => inner.value_at_quantile(quantile),
            Counts::Packed(buckets, total) => packed_quantile(buckets, *total, quantile),
        })
    }

    /// The smallest recorded time in nanoseconds.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (self.count() > 0).then(|| self.full().min())
    }

    /// The largest recorded time in nanoseconds.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (self.count() > 0).then(|| match &self.0 {
            Counts::Full(inner) => inner.max(),
            Counts::Packed(buckets, _) => buckets.last().map_or(0, |(time_ns, _)| *time_ns),
        })
    }

    /// The mean in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| match &self.0 {
            Counts::Full(inner) => inner.mean(),
            Counts::Packed(buckets, total) => packed_mean(buckets, *total),
        })
    }

    /// The standard deviation in nanoseconds.
    #[must_use]
    pub fn deviation_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.full().stdev())
    }

    /// How many recorded times lie in `low_ns..=high_ns`, at the histogram's resolution.
    #[must_use]
    pub fn count_between(&self, low_ns: u64, high_ns: u64) -> u64 {
        self.full().count_between(low_ns.max(1), high_ns.max(1))
    }

    /// Every non-empty bucket as (highest time of the bucket in ns, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (full, packed) = match &self.0 {
            Counts::Full(inner) => (Some(inner), [].as_slice()),
            Counts::Packed(buckets, _) => (None, buckets.as_slice()),
        };
        let full = full.into_iter().flat_map(|inner| inner.iter_recorded());
        full.map(|step| (step.value_iterated_to(), step.count_at_value()))
            .chain(packed.iter().copied())
    }

    /// The lossless text form: base64 of HdrHistogram V2, compressed.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.full(), &mut bytes)
            .expect("writing to memory cannot fail");
        STANDARD.encode(bytes)
    }

    /// Reads what [`Histogram::encode`] wrote.
    ///
    /// # Errors
    /// A sentence when the text is not base64 or not a histogram.
    pub fn decode(text: &str) -> Result<Self, Problem> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|error| format!("not base64: {error}"))?;
        let read: hdrhistogram::Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| format!("not a histogram: {error}"))?;
        // Through our own bounds, so that whatever comes in has our buckets.
        let mut inner = empty();
        inner
            .add(&read)
            .map_err(|error| format!("not within 60 s: {error}"))?;
        Ok(Self::packed(Self(Counts::Full(inner)).buckets().collect()))
    }
}

/// Rounds to two significant digits.
fn two_digits(time_ns: u64) -> u64 {
    let digits = time_ns.checked_ilog10().unwrap_or_default();
    let step = 10_u64.pow(digits.saturating_sub(1));
    (time_ns + step / 2) / step * step
}

/// The quantile as `hdrhistogram` defines it: the bucket in which the share of all counts, rounded
/// up, lies.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a count, and counts stay below 2^53"
)]
fn packed_quantile(buckets: &[(u64, u64)], total: u64, quantile: f64) -> u64 {
    let wanted = ((quantile.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
    let mut seen = 0_u64;
    let reached = buckets.iter().find(|(_, count)| {
        seen = seen.saturating_add(*count);
        seen >= wanted
    });
    match reached.or(buckets.last()) {
        Some((time_ns, _)) if quantile <= 0.0 => bounds().lowest_equivalent(*time_ns),
        Some((time_ns, _)) => *time_ns,
        None => 0,
    }
}

/// The mean as `hdrhistogram` defines it: every time counts as the middle of its bucket.
#[expect(
    clippy::cast_precision_loss,
    reason = "times and counts stay below 2^53"
)]
fn packed_mean(buckets: &[(u64, u64)], total: u64) -> f64 {
    let parts = buckets.iter().map(|(time_ns, count)| {
        bounds().median_equivalent(*time_ns) as f64 * *count as f64 / total as f64
    });
    parts.fold(0.0, |sum, part| sum + part)
}

fn add_buckets(inner: &mut hdrhistogram::Histogram<u64>, buckets: &[(u64, u64)]) {
    for (time_ns, count) in buckets {
        inner.saturating_record_n(*time_ns, *count);
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
