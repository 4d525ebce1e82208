//! Readings about the host over a stretch of time: its cores, and its kernel's TCP.

use bakeoff_model::measure::resource::{CoreTime, HostTime, TcpCounters};
use bakeoff_model::validity::RequiredReading;

use super::Slice;
use super::setting::Setting;
use crate::reading::Reading;

/// Readings about the host.
#[derive(Debug, Clone)]
pub(crate) struct HostReadings {
    /// Times of the host's cores, whatever used them; in a cluster, of the contender's node.
    pub(crate) core_times: Reading<HostTime>,
    /// TCP counters of the kernel.
    pub(crate) tcp: Reading<TcpCounters>,
}

impl HostReadings {
    /// Returns the readings of a slice. TCP counters may be known of a service that is not metered.
    pub(super) fn of(setting: &Setting, slice: &Slice<'_>) -> Self {
        if !setting.metered {
            let tcp = slice.tcp.copied();
            return Self {
                core_times: Reading::NotMetered,
                tcp: tcp.map_or(Reading::NotMetered, Reading::Known),
            };
        }
        Self {
            core_times: setting.due(RequiredReading::CoreTimes, slice.host.cloned()),
            tcp: setting.due(RequiredReading::TcpCounters, slice.tcp.copied()),
        }
    }

    /// Adds the readings of another stretch of time.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { core_times, tcp } = other;
        self.core_times.add(core_times, add_core_times);
        self.tcp.add(tcp, add_tcp);
    }
}

/// Adds times of the same cores in the same order.
fn add_core_times(sum: &mut HostTime, other: &HostTime) {
    let HostTime {
        wall_ns,
        own_ns,
        cores,
    } = other;
    sum.wall_ns += wall_ns;
    sum.own_ns += own_ns;
    for (core, other) in sum.cores.iter_mut().zip(cores) {
        let CoreTime {
            core: _,
            busy_ns,
            stolen_ns,
        } = other;
        core.busy_ns += busy_ns;
        core.stolen_ns += stolen_ns;
    }
}

fn add_tcp(sum: &mut TcpCounters, other: &TcpCounters) {
    let TcpCounters {
        sent_segments,
        resent_segments,
        resent_syns,
        listen_overflows,
        listen_drops,
        delayed_acks,
    } = other;
    sum.sent_segments += sent_segments;
    sum.resent_segments += resent_segments;
    sum.resent_syns += resent_syns;
    sum.listen_overflows += listen_overflows;
    sum.listen_drops += listen_drops;
    sum.delayed_acks += delayed_acks;
}
