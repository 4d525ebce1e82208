//! Who listens where, from /proc/net: for the sentence that helps.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) inode: u64,
}

/// All listening TCP sockets of this network namespace.
pub(crate) fn listeners() -> Vec<Listener> {
    listeners_beside("self")
}

/// All listening TCP sockets of the network namespace of a process, by its number or `self`.
fn listeners_beside(process: &str) -> Vec<Listener> {
    ["tcp", "tcp6"]
        .iter()
        .map(|name| format!("/proc/{process}/net/{name}"))
        .flat_map(|path| parse(&fs::read_to_string(path).unwrap_or_default()))
        .collect()
}

/// `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4242 ...`.
fn parse(text: &str) -> Vec<Listener> {
    const LISTEN: &str = "0A";
    text.lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if *fields.get(3)? != LISTEN {
                return None;
            }
            let address = address(fields.get(1)?)?;
            Some(Listener {
                address,
                inode: fields.get(9)?.parse().ok()?,
            })
        })
        .collect()
}

/// Addresses are printed as 32-bit words of the machine's own order.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Vec<[u8; 4]> = (0..host.len() / 8)
        .map(|index| {
            let word = host.get(index * 8..index * 8 + 8)?;
            Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
        })
        .collect::<Option<_>>()?;
    let ip = match words.as_slice() {
        [word] => IpAddr::V4(Ipv4Addr::from(*word)),
        [_, _, _, _] => {
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            let ip = Ipv6Addr::from(bytes);
            ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4)
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Where processes of one network namespace listen.
pub(crate) fn listeners_of(processes: &[u32]) -> Vec<SocketAddr> {
    let inodes: BTreeSet<u64> = processes.iter().flat_map(|pid| inodes(*pid)).collect();
    let first = processes.first().map_or_else(String::new, u32::to_string);
    let mut found: Vec<SocketAddr> = listeners_beside(&first)
        .into_iter()
        .filter(|listener| inodes.contains(&listener.inode))
        .map(|listener| listener.address)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The process that holds a socket, as `java (process 123)`; `None` when it is not ours to see.
pub(crate) fn holder(inode: u64) -> Option<String> {
    let pid = crate::meter::all_processes()
        .into_iter()
        .find(|pid| inodes(*pid).contains(&inode))?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("{} (process {pid})", name.trim()))
}

fn inodes(pid: u32) -> Vec<u64> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            let inode = target
                .to_str()?
                .strip_prefix("socket:[")?
                .strip_suffix(']')?;
            inode.parse().ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{holder, listeners, listeners_of, parse};

    #[test]
    fn listening_sockets_are_parsed() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue\n\
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 42 1\n\
   1: 0100007F:1F91 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 43 1\n\
   2: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A \
00000000:00000000 00:00000000 00000000     0        0 44 1\n\
   3: 0000000000000000FFFF00000100007F:0051 00000000000000000000000000000000:0000 0A \
00000000:00000000 00:00000000 00000000     0        0 45 1\n";
        let found: Vec<_> = parse(text)
            .iter()
            .map(|one| (one.address.to_string(), one.inode))
            .collect();
        let expect = [
            ("127.0.0.1:8080", 42),
            ("[::]:80", 44),
            ("127.0.0.1:81", 45),
        ];
        assert_eq!(
            found,
            expect.map(|(address, inode)| (address.to_owned(), inode))
        );
    }

    #[test]
    fn this_process_is_found_by_its_socket() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        assert!(listeners_of(&[std::process::id()]).contains(&address));
        let listener = listeners()
            .into_iter()
            .find(|one| one.address == address)
            .unwrap();
        let holder = holder(listener.inode).unwrap();
        assert!(
            holder.contains(&format!("process {}", std::process::id())),
            "{holder}"
        );
    }
}
