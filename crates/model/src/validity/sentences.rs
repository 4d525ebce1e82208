//! Findings as sentences: lower-case fragments with their numbers.

use std::fmt;

use bakeoff_base::number::as_f64;
use bakeoff_base::text::counted;

use super::{Finding, RequiredReading};

impl fmt::Display for RequiredReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ContenderCpu => "the contender's CPU time",
            Self::MemoryPressure => "memory pressure",
            Self::QuotaStalls => "stalls of the CPU quota",
            Self::BackendCpu => "the backend's CPU time",
            Self::BackendRequests => "requests to the backend",
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
            Self::Errors { .. }
            | Self::WrongBodies { .. }
            | Self::BackendRequests { .. }
            | Self::CpuMissing { .. }
            | Self::GeneratorErrors { .. }
            | Self::GeneratorLost { .. } => self.fmt_failure(f),
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
            Self::StillRising { .. }
            | Self::WarmthUnknown { .. }
            | Self::RisingInTurns { .. }
            | Self::Compiling { .. } => self.fmt_warmth(f),
            Self::Unreadable { .. } | Self::NotRecorded { .. } | Self::NotMetered { .. } => {
                self.fmt_missing(f)
            }
            Self::PartOfTime {
                slices,
                share,
                example,
                ..
            } => write!(f, "{slices} in {} of the time: {example}", Percent(*share)),
            Self::Recorded { evidence } => f.write_str(evidence),
            Self::SharedPhysicalCore(sharing) => sharing.fmt(f),
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
            Self::BackendRequests {
                found,
                requests,
                each_min,
            } => write!(
                f,
                "unequal work: only {} for {requests} successful requests, each of which takes \
                 {each_min} at least",
                counted(*found, "backend request")
            ),
            Self::CpuMissing { cpu_ns, requests } => write!(
                f,
                "{requests} successful requests took {} µs of CPU time: what serves is not metered",
                cpu_ns / 1000
            ),
            Self::GeneratorErrors { count } => write!(
                f,
                "the load generator ran out of file descriptors, ports or memory {count} times"
            ),
            Self::GeneratorLost {
                share,
                count,
                generators,
            } => write!(
                f,
                "{} lost, with {} of the load: {}",
                counted(*count, "load generator"),
                Percent(*share),
                generators.join("; ")
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
                "connections are served unevenly: {min} responses on one, {max} on another"
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
                "{} of latencies cluster at 40 ms, typical of delayed ACKs: one side writes a \
                 message in pieces without TCP_NODELAY",
                Percent(*share)
            ),
            Self::RetransmissionWaits { share } => write!(
                f,
                "{} of latencies cluster at 200 ms, typical of retransmissions",
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
            Self::LongDrain { share } => write!(
                f,
                "turns drained in {} of their time, with fewer requests in flight",
                Percent(*share)
            ),
            Self::IdleWork { .. } => self.fmt_idle(f),
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
                "no component was saturated: the contender used {used:.2} of {allowed} cores with \
                 {in_flight:.0} requests in flight"
            ),
            _ => Ok(()),
        }
    }

    fn fmt_idle(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::IdleWork {
            cores,
            jit_share,
            gc_share,
            threads,
        } = self
        else {
            return Ok(());
        };
        let cores = Percent(*cores);
        write!(f, "it used {cores} of a core while others had their turns")?;
        if threads.is_empty() {
            return write!(
                f,
                " (of all its CPU time, compilers took {} and garbage collectors {})",
                Percent(*jit_share),
                Percent(*gc_share)
            );
        }
        let each = threads.iter();
        let each = each.map(|one| format!("`{}` {}", one.name, Percent(one.share)));
        let all: Vec<String> = each.collect();
        write!(
            f,
            "; threads that can have done it, with their shares of its CPU time: {}",
            all.join(", ")
        )
    }

    fn fmt_warmth(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StillRising {
                rise,
                slices,
                in_turns,
            } => {
                let rise = Percent(*rise);
                match in_turns {
                    true => write!(
                        f,
                        "not warm: it got faster by {rise} than the others in the last {slices} \
                         turns of the warm-up"
                    ),
                    false => write!(
                        f,
                        "not warm: it still got faster by {rise} in 10 s in the last {slices} \
                         slices of the warm-up"
                    ),
                }
            }
            Self::WarmthUnknown {
                rise_most,
                slices,
                in_turns,
            } => {
                let rise = Percent(*rise_most);
                match in_turns {
                    true => write!(
                        f,
                        "the last {slices} turns of the warm-up do not exclude that it was faster \
                         by {rise} in their second half than in their first"
                    ),
                    false => write!(
                        f,
                        "the last {slices} slices of the warm-up do not exclude that it got \
                         faster by {rise} in 10 s"
                    ),
                }
            }
            Self::RisingInTurns {
                rise,
                to_generator,
                blocks,
            } => write!(
                f,
                "not warm: from the first of {blocks} blocks to the last it served {} more \
                 requests for each second of CPU time, relative to the others; {} relative to the \
                 load generator's CPU time",
                Percent(*rise),
                Percent(*to_generator)
            ),
            Self::Compiling { share } => write!(
                f,
                "compiler threads used {} of the contender's CPU time",
                Percent(*share)
            ),
            _ => Ok(()),
        }
    }

    fn fmt_missing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (figures, why) = match self {
            Self::Unreadable { figures } => (figures, "could not be read"),
            Self::NotRecorded { figures } => (figures, "not recorded"),
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
