//! The listening processes and their addresses, from /proc: for messages that name them.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use procfs::net::TcpState;
use procfs::process::{FDTarget, Process, all_processes};

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub(crate) address: SocketAddr,
    pub(crate) inode: u64,
}

/// All listening TCP sockets of this network namespace.
pub(crate) fn listeners() -> Vec<Listener> {
    Process::myself().map_or_else(|_| Vec::new(), |own| listening(&own))
}

/// All listening TCP sockets of the network namespace of a process; IPv4 addresses as such, also
/// those of IPv6 sockets.
fn listening(process: &Process) -> Vec<Listener> {
    let sockets = [process.tcp(), process.tcp6()].into_iter().flatten();
    let listening = sockets
        .flatten()
        .filter(|socket| socket.state == TcpState::Listen);
    listening
        .map(|socket| {
            let address = socket.local_address;
            Listener {
                address: SocketAddr::new(address.ip().to_canonical(), address.port()),
                inode: socket.inode,
            }
        })
        .collect()
}

/// Where processes of one network namespace listen.
pub(crate) fn listeners_of(processes: &[u32]) -> Vec<SocketAddr> {
    let processes: Vec<Process> = processes.iter().copied().filter_map(process).collect();
    let inodes: BTreeSet<u64> = processes.iter().flat_map(inodes).collect();
    let listening = processes.first().map(listening).unwrap_or_default();
    let own = listening
        .into_iter()
        .filter(|one| inodes.contains(&one.inode));
    addresses(own)
}

/// Where any process listens in the network namespace of a process.
pub(crate) fn listeners_beside(pid: u32) -> Vec<String> {
    let listening = process(pid).as_ref().map(listening).unwrap_or_default();
    let found = addresses(listening.into_iter());
    found.iter().map(SocketAddr::to_string).collect()
}

fn addresses(listeners: impl Iterator<Item = Listener>) -> Vec<SocketAddr> {
    let found: BTreeSet<SocketAddr> = listeners.map(|listener| listener.address).collect();
    found.into_iter().collect()
}

/// The process that holds a socket, as `java (process 123)`; `None` when it is not ours to see.
pub(crate) fn holder(inode: u64) -> Option<String> {
    let mut processes = all_processes().ok()?.flatten();
    let holder = processes.find(|process| inodes(process).contains(&inode))?;
    let name = holder.stat().map(|stat| stat.comm).unwrap_or_default();
    Some(format!("{name} (process {})", holder.pid()))
}

fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

/// The sockets that a process holds.
fn inodes(process: &Process) -> Vec<u64> {
    let files = process.fd().into_iter().flatten().flatten();
    let sockets = files.filter_map(|file| match file.target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    });
    sockets.collect()
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};

    use super::{holder, listeners, listeners_beside, listeners_of};

    #[test]
    fn an_ipv4_address_is_one_in_either_table() {
        let socket = TcpListener::bind("[::ffff:127.0.0.1]:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        assert!(listeners_of(&[std::process::id()]).contains(&address));
    }

    #[test]
    fn this_process_is_found_by_its_socket() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let own = std::process::id();
        assert!(listeners_of(&[own]).contains(&address));
        assert!(listeners_beside(own).contains(&address.to_string()));
        let listener = listeners()
            .into_iter()
            .find(|one| one.address == address)
            .unwrap();
        let holder = holder(listener.inode).unwrap();
        assert!(holder.contains(&format!("process {own}")), "{holder}");
    }
}
