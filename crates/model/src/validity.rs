//! Whether a number is fair: a verdict and the reasons for it, each with its evidence as numbers.
//!
//! Only the vocabulary is here; `bakeoff-validity` holds the rules by which reasons are found.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::ErrorClass;

/// What may be concluded from a number, from best to worst: the worst reason decides. A broken
/// load comes before a bottleneck, and the load generator before the backend and the host, because
/// a starved generator also makes the others look idle. What is known to be bound by something
/// else is worse than what is merely not known.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing speaks against it.
    #[default]
    Fair,
    /// It may be compared, with a mark: something disturbed it a little.
    Degraded,
    /// A reading that a rule needs could not be made.
    Unknown,
    /// The host was the bottleneck: shared cores, steal, work of others.
    HostBound,
    /// The backend was the bottleneck.
    BackendBound,
    /// The load generator was the bottleneck.
    GeneratorBound,
    /// The load was not what was asked for, or too much of it failed.
    Invalid,
}

impl Verdict {
    /// The verdict as files and people write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::Degraded => "degraded",
            Self::Unknown => "unknown",
            Self::HostBound => "host-bound",
            Self::BackendBound => "backend-bound",
            Self::GeneratorBound => "generator-bound",
            Self::Invalid => "invalid",
        }
    }

    /// Whether the number stands in the fair ranking: fair ones, and degraded ones with a mark.
    #[must_use]
    pub fn ranks(self) -> bool {
        matches!(self, Self::Fair | Self::Degraded)
    }

    /// Whether the number is a lower bound of what the contender can do.
    #[must_use]
    pub fn is_bound(self) -> bool {
        matches!(
            self,
            Self::HostBound | Self::BackendBound | Self::GeneratorBound
        )
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a number is fair, and everything that was found. Without reasons it is fair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
pub struct Validity {
    reasons: Vec<Reason>,
}

impl Validity {
    /// Nothing speaks against the number.
    #[must_use]
    pub fn fair() -> Self {
        Self::default()
    }

    /// A validity with these reasons, the worst first.
    #[must_use]
    pub fn of(mut reasons: Vec<Reason>) -> Self {
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.verdict));
        Self { reasons }
    }

    /// A verdict with the words of an earlier version of bakeoff.
    #[must_use]
    pub fn recorded(verdict: Verdict, evidence: &str) -> Self {
        let evidence = evidence.to_owned();
        Self::of(vec![Reason {
            verdict,
            finding: Finding::Recorded { evidence },
        }])
    }

    /// The verdict of its worst reason.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.reasons
            .first()
            .map_or(Verdict::Fair, |reason| reason.verdict)
    }

    /// Whether nothing speaks against the number; there may be remarks.
    #[must_use]
    pub fn is_fair(&self) -> bool {
        self.verdict() == Verdict::Fair
    }

    /// All reasons, the worst first. One whose verdict is fair is a remark.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// The verdict as files and people write it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.verdict().name()
    }

    /// What speaks against the number, a lower-case fragment; empty when it is fair.
    #[must_use]
    pub fn evidence(&self) -> String {
        self.warnings().collect::<Vec<_>>().join("; ")
    }

    /// What speaks against the number, a lower-case fragment each, the worst first.
    pub fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let against = |reason: &&Reason| reason.verdict > Verdict::Fair;
        let against = self.reasons.iter().filter(against);
        against.map(|reason| reason.finding.to_string())
    }

    /// Remarks that do not speak against the number, a lower-case fragment each.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let remarks = |reason: &&Reason| reason.verdict == Verdict::Fair;
        self.reasons
            .iter()
            .filter(remarks)
            .map(|reason| reason.finding.to_string())
    }
}

/// The verdict, and what speaks against the number.
impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.evidence() {
            evidence if evidence.is_empty() => Ok(()),
            evidence => write!(f, ": {evidence}"),
        }
    }
}

/// One thing that was found, and what it means for the number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What it means; `fair` for a remark.
    pub verdict: Verdict,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What was found, with the numbers by which it was judged. Shares are 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum Finding {
    /// No request succeeded.
    NoSuccess {
        /// Requests that failed.
        failed: u64,
    },
    /// Requests failed.
    Errors {
        /// How many, of all classes.
        failed: u64,
        /// Requests that came to an end.
        ended: u64,
        /// How many of each class.
        classes: BTreeMap<ErrorClass, u64>,
    },
    /// Bodies were not the expected ones. Only some are looked at, so each stands for many.
    WrongBodies {
        /// How many of those that were looked at.
        count: u64,
    },
    /// The load generator ran out of file descriptors, ports or memory.
    GeneratorErrors {
        /// How many requests failed by that.
        count: u64,
    },
    /// Connections were not open.
    ConnectionsMissing {
        /// How many were open or being opened, on average.
        open: f64,
        /// How many were asked for.
        asked: u32,
    },
    /// A connection got no response in the whole step.
    ConnectionsStarved {
        /// Requests of the slowest connection.
        min: u64,
        /// Requests of the fastest one.
        max: u64,
    },
    /// Connections were not served alike.
    ConnectionsUnequal {
        /// Requests of the slowest connection.
        min: u64,
        /// Requests of the fastest one.
        max: u64,
    },
    /// By Little's law part of the concurrency that was asked for is missing: neither with the
    /// service nor with the load generator.
    ConcurrencyMissing {
        /// The concurrency that was found.
        found: f64,
        /// The concurrency that was asked for.
        asked: f64,
    },
    /// The service had fewer requests at a time than were asked for: throughput times mean time.
    ConcurrencyLow {
        /// Requests that it had at a time.
        effective: f64,
        /// The concurrency that was asked for.
        asked: f64,
    },
    /// Open load: less was done than was offered.
    RateMissed {
        /// Requests that came to an end.
        ended: u64,
        /// Requests that were due.
        offered: u64,
    },
    /// Open load: requests were sent late.
    SendLag {
        /// 99th percentile of the delay, ns.
        lag_p99_ns: u64,
        /// 99th percentile of the response time, ns.
        response_p99_ns: u64,
    },
    /// The load generator's threads had no headroom.
    GeneratorFull {
        /// Share of its threads' time that it used.
        busy: f64,
    },
    /// Too much of each cycle of closed load passed in the load generator.
    GeneratorShare {
        /// Share of the cycle between a response and the next request.
        share: f64,
    },
    /// The backend's cores had no headroom.
    BackendFull {
        /// Cores that it used.
        used: f64,
        /// Cores that it may use.
        allowed: f64,
    },
    /// Cores that several parts share had no headroom.
    SharedCoresFull {
        /// Cores that were busy, with anything.
        busy: f64,
        /// How many they are.
        cores: usize,
        /// Whether the contender is one of the parts.
        with_contender: bool,
    },
    /// The hypervisor withheld the contender's cores.
    Steal {
        /// Share of these cores' time.
        share: f64,
    },
    /// Others worked on the contender's cores.
    ForeignWork {
        /// Share of these cores' time.
        share: f64,
    },
    /// The contender waited for memory.
    MemoryPressure {
        /// Share of the time in which some of its threads waited.
        share: f64,
    },
    /// The CPU quota stalled the contender.
    QuotaStalls {
        /// Enforcement periods in which it was throttled.
        throttled_periods: u64,
        /// All periods.
        periods: u64,
        /// Time throttled, ns.
        throttled_ns: u64,
    },
    /// Many requests were in flight, and no part had its cores full.
    NobodyFull {
        /// Cores that the contender used.
        used: f64,
        /// Cores that it may use.
        allowed: f64,
        /// Requests in flight.
        in_flight: f64,
    },
    /// Connections were not kept although they should be.
    KeepAlive {
        /// Connections that were opened again.
        reconnects: u64,
        /// Successful requests.
        requests: u64,
    },
    /// Response times gather where delayed acknowledgements put them.
    DelayedAcknowledgements {
        /// Share of the times.
        share: f64,
    },
    /// Response times gather where retransmissions put them.
    RetransmissionWaits {
        /// Share of the times.
        share: f64,
    },
    /// The kernel sent TCP segments again.
    Retransmissions {
        /// Segments sent again.
        resent: u64,
        /// Segments sent.
        sent: u64,
    },
    /// A listen queue overflowed, or requests to connect were lost.
    ListenQueue {
        /// Connections that found the listen queue full.
        overflows: u64,
        /// Requests to connect that were dropped.
        drops: u64,
        /// Requests to connect that were sent again.
        resent: u64,
    },
    /// Figures that should have been read and could not be.
    Unreadable {
        /// Which.
        figures: Vec<Figure>,
    },
    /// Figures that records of this age do not have: not judged.
    NotRecorded {
        /// Which.
        figures: Vec<Figure>,
    },
    /// Figures of a service that is not metered: not judged.
    NotMetered {
        /// Which.
        figures: Vec<Figure>,
    },
    /// Part of a step's time slices have this verdict by themselves.
    PartOfTime {
        /// Their verdict, or a worse one.
        slices: Verdict,
        /// Share of the step's time.
        share: f64,
        /// What was found in the longest of them, a lower-case fragment.
        example: String,
    },
    /// A verdict as an earlier version of bakeoff recorded it.
    Recorded {
        /// Its words.
        evidence: String,
    },
}

/// A figure that rules need.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// CPU time of the contender.
    ContenderCpu,
    /// Time in which the contender waited for memory.
    MemoryPressure,
    /// Time in which the quota stalled the contender.
    QuotaStalls,
    /// CPU time of the backend.
    BackendCpu,
    /// What each core did.
    CoreTimes,
    /// Counters of the kernel's TCP.
    TcpCounters,
    /// Time between responses and next requests.
    Turnaround,
    /// Time in which connections were being opened again.
    Connecting,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ContenderCpu => "the contender's CPU time",
            Self::MemoryPressure => "memory pressure",
            Self::QuotaStalls => "stalls of the CPU quota",
            Self::BackendCpu => "the backend's CPU time",
            Self::CoreTimes => "times of each core",
            Self::TcpCounters => "TCP counters",
            Self::Turnaround => "turnaround",
            Self::Connecting => "time to reconnect",
        })
    }
}

/// A lower-case fragment.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuccess { failed: 0 } => write!(f, "no request came to an end"),
            Self::NoSuccess { failed } => write!(f, "no request succeeded, {failed} failed"),
            Self::Errors { .. } | Self::WrongBodies { .. } | Self::GeneratorErrors { .. } => {
                self.fmt_failure(f)
            }
            Self::ConnectionsMissing { .. }
            | Self::ConnectionsStarved { .. }
            | Self::ConnectionsUnequal { .. }
            | Self::ConcurrencyMissing { .. }
            | Self::ConcurrencyLow { .. }
            | Self::KeepAlive { .. } => self.fmt_connections(f),
            Self::RateMissed { .. }
            | Self::SendLag { .. }
            | Self::GeneratorFull { .. }
            | Self::GeneratorShare { .. } => self.fmt_generator(f),
            Self::DelayedAcknowledgements { .. }
            | Self::RetransmissionWaits { .. }
            | Self::Retransmissions { .. }
            | Self::ListenQueue { .. } => self.fmt_network(f),
            Self::Unreadable { .. } | Self::NotRecorded { .. } | Self::NotMetered { .. } => {
                self.fmt_missing(f)
            }
            Self::PartOfTime {
                slices,
                share,
                example,
            } => write!(f, "{} of the time is {slices}: {example}", Percent(*share)),
            Self::Recorded { evidence } => f.write_str(evidence),
            _ => self.fmt_host(f),
        }
    }
}

impl Finding {
    fn fmt_failure(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errors {
                failed,
                ended,
                classes,
            } => {
                let share = Percent(ratio(*failed, *ended));
                write!(f, "{share} of the requests failed")?;
                let mut most: Vec<_> = classes.iter().collect();
                most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
                let names = most
                    .iter()
                    .map(|(class, count)| format!("{count} {}", class.name()));
                let names: Vec<String> = names.collect();
                write!(f, " ({} of {ended})", names.join(", "))
            }
            Self::WrongBodies { count } => {
                write!(f, "{count} of the checked bodies were wrong")
            }
            Self::GeneratorErrors { count } => write!(
                f,
                "the load generator ran out of file descriptors, ports or memory {count} times"
            ),
            _ => Ok(()),
        }
    }

    fn fmt_connections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConnectionsMissing { open, asked } => {
                write!(f, "{open:.0} of {asked} connections were open")
            }
            Self::ConnectionsStarved { min, max } => write!(
                f,
                "connections starved: {min} responses on one, {max} on another"
            ),
            Self::ConnectionsUnequal { min, max } => write!(
                f,
                "connections are not served alike: {min} responses on one, {max} on another"
            ),
            Self::ConcurrencyMissing { found, asked } => write!(
                f,
                "Little's law accounts for {found:.1} of {asked:.0} requests in flight"
            ),
            Self::ConcurrencyLow { effective, asked } => write!(
                f,
                "the effective concurrency was {effective:.1} of {asked:.0}"
            ),
            Self::KeepAlive {
                reconnects,
                requests,
            } => write!(
                f,
                "keep-alive is not honoured: {reconnects} reconnects for {requests} requests"
            ),
            _ => Ok(()),
        }
    }

    fn fmt_generator(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RateMissed { ended, offered } => write!(
                f,
                "the offered rate was not reached: {ended} of {offered} requests came to an end"
            ),
            Self::SendLag {
                lag_p99_ns,
                response_p99_ns,
            } => write!(
                f,
                "requests were sent late: p99 of the send lag is {} ms, of the response time \
                 {} ms",
                Milliseconds(*lag_p99_ns),
                Milliseconds(*response_p99_ns)
            ),
            Self::GeneratorFull { busy } => write!(
                f,
                "the load generator used {} of its threads' time",
                Percent(*busy)
            ),
            Self::GeneratorShare { share } => write!(
                f,
                "{} of each cycle passed in the load generator, between a response and the next \
                 request",
                Percent(*share)
            ),
            _ => Ok(()),
        }
    }

    fn fmt_network(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DelayedAcknowledgements { share } => write!(
                f,
                "{} of the times gather at 40 ms, as of delayed acknowledgements: a side that \
                 writes a message in pieces without TCP_NODELAY",
                Percent(*share)
            ),
            Self::RetransmissionWaits { share } => write!(
                f,
                "{} of the times gather at 200 ms, as of retransmissions",
                Percent(*share)
            ),
            Self::Retransmissions { resent, sent } => {
                write!(f, "{resent} of {sent} TCP segments were sent again")
            }
            Self::ListenQueue {
                overflows,
                drops,
                resent,
            } => write!(
                f,
                "the listen queue overflowed {overflows} times, {drops} requests to connect were \
                 dropped and {resent} sent again"
            ),
            _ => Ok(()),
        }
    }

    fn fmt_host(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BackendFull { used, allowed } => {
                write!(f, "the backend used {used:.2} of its {allowed} cores")
            }
            Self::SharedCoresFull {
                busy,
                cores,
                with_contender,
            } => {
                let who = match with_contender {
                    true => "contender, load generator and backend share",
                    false => "load generator and backend share",
                };
                write!(f, "{busy:.2} of the {cores} cores that {who} were busy")
            }
            Self::Steal { share } => write!(
                f,
                "{} of the contender's cores was stolen by the hypervisor",
                Percent(*share)
            ),
            Self::ForeignWork { share } => write!(
                f,
                "something else used {} of the contender's cores",
                Percent(*share)
            ),
            Self::MemoryPressure { share } => write!(
                f,
                "the contender waited for memory in {} of the time",
                Percent(*share)
            ),
            Self::QuotaStalls {
                throttled_periods,
                periods,
                throttled_ns,
            } => write!(
                f,
                "the CPU quota stalled the contender in {throttled_periods} of {periods} periods, \
                 {} ms each",
                Milliseconds(throttled_ns / (*throttled_periods).max(1))
            ),
            Self::NobodyFull {
                used,
                allowed,
                in_flight,
            } => write!(
                f,
                "no part was full: the contender used {used:.2} of {allowed} cores with \
                 {in_flight:.0} requests in flight"
            ),
            _ => Ok(()),
        }
    }

    fn fmt_missing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (figures, why) = match self {
            Self::Unreadable { figures } => (figures, "could not be read"),
            Self::NotRecorded { figures } => (figures, "not in records of this age"),
            Self::NotMetered { figures } => (figures, "not metered"),
            _ => return Ok(()),
        };
        let names: Vec<String> = figures.iter().map(ToString::to_string).collect();
        write!(f, "{why}: {}", names.join(", "))
    }
}

/// A share as per cent with two significant digits at least.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        match percent.abs() {
            size if size >= 9.95 || size == 0.0 => write!(f, "{percent:.0} %"),
            size if size >= 0.995 => write!(f, "{percent:.1} %"),
            _ => write!(f, "{percent:.2} %"),
        }
    }
}

/// A time as milliseconds with three significant digits at least.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = as_f64(self.0) / 1e6;
        match milliseconds {
            size if size >= 100.0 => write!(f, "{milliseconds:.0}"),
            size if size >= 1.0 => write!(f, "{milliseconds:.1}"),
            _ => write!(f, "{milliseconds:.3}"),
        }
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    as_f64(part) / as_f64(whole.max(1))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a step stay below 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// A validity as files hold it. Format 1 has one sentence of evidence, later ones reasons.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Validity")]
struct Written {
    /// The verdict of the worst reason.
    validity: Verdict,
    /// Format 1: what spoke against the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    /// What was found, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Reason>,
}

impl From<Validity> for Written {
    fn from(validity: Validity) -> Self {
        let verdict = validity.verdict();
        match <[Reason; 1]>::try_from(validity.reasons) {
            Ok(
                [
                    Reason {
                        finding: Finding::Recorded { evidence },
                        ..
                    },
                ],
            ) => Self {
                validity: verdict,
                evidence: Some(evidence),
                reasons: Vec::new(),
            },
            Ok([reason]) => Self {
                validity: verdict,
                evidence: None,
                reasons: vec![reason],
            },
            Err(reasons) => Self {
                validity: verdict,
                evidence: None,
                reasons,
            },
        }
    }
}

impl TryFrom<Written> for Validity {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let mut reasons = written.reasons;
        if let Some(evidence) = written.evidence {
            reasons.push(Reason {
                verdict: written.validity,
                finding: Finding::Recorded { evidence },
            });
        }
        let validity = Self::of(reasons);
        match validity.verdict() {
            verdict if verdict == written.validity => Ok(validity),
            verdict => Err(format!(
                "validity is {}, but the worst reason says {verdict}",
                written.validity
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Finding, Reason, Validity, Verdict};
    use crate::load::ErrorClass;

    fn reason(verdict: Verdict, finding: Finding) -> Reason {
        Reason { verdict, finding }
    }

    #[test]
    fn the_worst_reason_decides() {
        let remark = reason(
            Verdict::Fair,
            Finding::Retransmissions { resent: 1, sent: 9 },
        );
        let steal = reason(Verdict::HostBound, Finding::Steal { share: 0.123 });
        let missing = reason(Verdict::Unknown, Finding::Unreadable { figures: vec![] });
        assert!(Validity::of(vec![remark.clone()]).is_fair());
        let validity = Validity::of(vec![remark, missing, steal]);
        assert_eq!(validity.verdict(), Verdict::HostBound);
        assert!(
            validity
                .to_string()
                .starts_with("host-bound: 12 % of the contender's cores was stolen")
        );
        assert_eq!(validity.remarks().count(), 1);
    }

    #[test]
    fn files_hold_what_was_judged() {
        let check = |text: &str, sentence: &str| {
            let validity: Validity = serde_json::from_str(text).unwrap();
            assert_eq!(validity.to_string(), sentence);
            assert_eq!(serde_json::to_string(&validity).unwrap(), text);
        };
        check(r#"{"validity":"fair"}"#, "fair");
        check(
            r#"{"validity":"host-bound","evidence":"a sentence"}"#,
            "host-bound: a sentence",
        );
        let errors = Finding::Errors {
            failed: 30,
            ended: 100,
            classes: BTreeMap::from([(ErrorClass::Reset, 29), (ErrorClass::Local, 1)]),
        };
        let validity = Validity::of(vec![reason(Verdict::Invalid, errors)]);
        check(
            &serde_json::to_string(&validity).unwrap(),
            "invalid: 30 % of the requests failed (29 reset, 1 local of 100)",
        );
        let lie = r#"{"validity":"fair","evidence":"x","reasons":[{"verdict":"invalid","reason":"no-success","failed":1}]}"#;
        assert!(serde_json::from_str::<Validity>(lie).is_err());
    }
}
