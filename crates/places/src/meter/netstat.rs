//! Counters of the kernel's TCP in a network namespace, from `/proc/PID/net`.

use bakeoff_model::measure::resource::TcpCounters;

/// Reads the counters of the namespace of a process, by its number or `self`; `None` if they cannot
/// be read.
pub(crate) fn read(process: &str) -> Option<TcpCounters> {
    let text = |name: &str| std::fs::read_to_string(format!("/proc/{process}/net/{name}")).ok();
    counters(&text("snmp")?, &text("netstat")?)
}

fn counters(snmp: &str, netstat: &str) -> Option<TcpCounters> {
    Some(TcpCounters {
        sent_segments: value(snmp, "Tcp:", "OutSegs")?,
        resent_segments: value(snmp, "Tcp:", "RetransSegs")?,
        resent_syns: value(netstat, "TcpExt:", "TCPSynRetrans")?,
        listen_overflows: value(netstat, "TcpExt:", "ListenOverflows")?,
        listen_drops: value(netstat, "TcpExt:", "ListenDrops")?,
        delayed_acks: value(netstat, "TcpExt:", "DelayedACKs")?,
    })
}

/// The files hold pairs of lines: a group with the names of its columns, then with the values.
fn value(text: &str, group: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(group));
    let (names, values) = (lines.next()?, lines.next()?);
    let column = names.split_whitespace().position(|column| column == name)?;
    values.split_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use bakeoff_model::measure::resource::TcpCounters;

    use super::{counters, read};

    #[test]
    fn the_kernels_texts_are_read() {
        let snmp = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn OutSegs RetransSegs\n\
                    Tcp: 200 -1 1234 5\nUdp: OutSegs\nUdp: 9\n";
        let netstat = "TcpExt: DelayedACKs ListenOverflows ListenDrops TCPSynRetrans\n\
                       TcpExt: 1 2 3 4\nIpExt: InNoRoutes\nIpExt: 0\n";
        let expect = TcpCounters {
            sent_segments: 1234,
            resent_segments: 5,
            resent_syns: 4,
            listen_overflows: 2,
            listen_drops: 3,
            delayed_acks: 1,
        };
        assert_eq!(counters(snmp, netstat), Some(expect));
        assert_eq!(counters(snmp, "TcpExt: DelayedACKs\nTcpExt: 1\n"), None);
    }

    #[test]
    fn this_namespace_is_read() {
        assert!(read("self").is_some());
        assert_eq!(read("nobody"), None);
    }
}
