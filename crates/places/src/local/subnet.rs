//! The 256 addresses of a session's contenders: claimed, so that no two sessions have the same, and
//! unreachable as long as the session lives, but for those that a contender has.
//!
//! Without that route the host sends what goes to the address of a contender that has ended by its
//! default route: out of the machine.

use std::io;
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use bakeoff_base::problem::Problem;
use procfs::net::RouteEntry;

use crate::local::netlink::Netlink;

/// How many sessions can have addresses at the same time: 198.18.0.0/15, which is kept for
/// benchmarks (RFC 2544), so that no network needs it.
const COUNT: u16 = 512;

/// `RTF_REJECT` of `linux/route.h`: an unreachable route in `/proc/net/route`.
const REJECT: u16 = 0x200;

/// The addresses of one session. Dropping it makes them reachable again and gives them up.
#[derive(Debug)]
pub(super) struct Subnet {
    number: u16,
    /// The claim: the kernel has a name in this namespace of the network once, and forgets it when
    /// this process ends, however it ends. `None` in tests alone.
    claim: Option<UnixListener>,
}

impl Subnet {
    /// Claims the first free addresses, starting at those of this process's number.
    ///
    /// # Errors
    /// All are taken, or the kernel refuses the route.
    pub(super) fn claim() -> Result<Self, Problem> {
        let wish = std::process::id() % u32::from(COUNT);
        let routes = routes();
        let numbers = (0..COUNT).map(|offset| (u16::try_from(wish).unwrap_or(0) + offset) % COUNT);
        for number in numbers {
            let first = first(number);
            let is_used = |route: &RouteEntry| !is_rejected(route) && is_within(route, first);
            let Some(claim) = claimed(number).filter(|_| !routes.iter().any(is_used)) else {
                continue;
            };
            match guard(first) {
                Ok(()) => {
                    return Ok(Self {
                        number,
                        claim: Some(claim),
                    });
                }
                // Another network of this host.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let text = format!("{first}/24 cannot be made unreachable: {error}");
                    return Err(text.into());
                }
            }
        }
        Err("all addresses of 198.18.0.0/15 are taken".into())
    }

    /// One of the addresses.
    pub(super) fn address(&self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(first(self.number).to_bits() + number % 256)
    }

    /// Addresses without claim and route.
    #[cfg(test)]
    pub(super) fn unclaimed(number: u16) -> Self {
        let claim = None;
        Self { number, claim }
    }
}

impl Drop for Subnet {
    fn drop(&mut self) {
        if self.claim.is_some() {
            // A route that could not be removed now is left to the next sweep.
            let _ =
                Netlink::open().and_then(|kernel| kernel.remove_unreachable(first(self.number)));
        }
    }
}

/// Removes the routes of dead sessions, and names them.
pub(super) fn sweep() -> io::Result<Vec<String>> {
    let guards: Vec<RouteEntry> = routes().into_iter().filter(is_rejected).collect();
    let mut removed = Vec::new();
    for number in 0..COUNT {
        let first = first(number);
        if !guards.iter().any(|route| is_within(route, first)) {
            continue;
        }
        // If the claim is free, its session is dead; it stays ours until the route is gone.
        let Some(_claim) = claimed(number) else {
            continue;
        };
        match Netlink::open()?.remove_unreachable(first) {
            Ok(true) => removed.push(format!("route to {first}/24")),
            Ok(false) => {}
            // It was root's session, and is for root to sweep.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

fn first(number: u16) -> Ipv4Addr {
    let [second, third] = number.to_be_bytes();
    Ipv4Addr::new(198, 18 + second, third, 0)
}

/// Makes addresses unreachable whose claim is ours; a route to them that is ours is a dead
/// session's.
fn guard(first: Ipv4Addr) -> io::Result<()> {
    let kernel = Netlink::open()?;
    match kernel.make_unreachable(first) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists
                && kernel.remove_unreachable(first)? =>
        {
            kernel.make_unreachable(first)
        }
        outcome => outcome,
    }
}

/// The claim of addresses; `None` if a living session has it.
fn claimed(number: u16) -> Option<UnixListener> {
    let name = format!("bakeoff-{}", first(number));
    let address = SocketAddr::from_abstract_name(name).ok()?;
    UnixListener::bind_addr(&address).ok()
}

/// The routes of this namespace of the network; none if they cannot be read.
fn routes() -> Vec<RouteEntry> {
    procfs::net::route().unwrap_or_default()
}

/// Whether packets are refused that take a route.
fn is_rejected(route: &RouteEntry) -> bool {
    route.flags & REJECT != 0
}

/// Whether all destinations of a route are among these 256 addresses.
fn is_within(route: &RouteEntry, first: Ipv4Addr) -> bool {
    let of_256 = |address: Ipv4Addr| address.to_bits() >> 8;
    of_256(route.destination) == of_256(first) && of_256(route.mask) == of_256(Ipv4Addr::BROADCAST)
}

#[cfg(test)]
mod tests {
    use super::{Subnet, is_rejected, is_within, routes, sweep};

    /// Whether the addresses are unreachable by a route.
    fn is_guarded(subnet: &Subnet) -> bool {
        let first = super::first(subnet.number);
        let guards = |route: &_| is_rejected(route) && is_within(route, first);
        routes().iter().any(guards)
    }

    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
    fn sessions_of_one_number_have_different_addresses_and_leave_each_other_alone() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("\n******** NOT TESTED HERE ********\naddresses: they take root\n");
            return;
        }
        // The number of this process is equal to itself modulo 512.
        let (one, other) = (Subnet::claim().unwrap(), Subnet::claim().unwrap());
        assert_ne!(one.address(2), other.address(2));
        assert!(is_guarded(&one) && is_guarded(&other));
        drop(other);
        sweep().unwrap();
        assert!(is_guarded(&one), "its session lives");
        let number = one.number;
        drop(one);
        assert!(!is_guarded(&Subnet::unclaimed(number)));
    }

    #[test]
    fn addresses_are_those_of_benchmarks() {
        let address = |number: u16, last: u32| Subnet::unclaimed(number).address(last).to_string();
        assert_eq!(address(0, 1), "198.18.0.1");
        assert_eq!(address(511, 254), "198.19.255.254");
    }
}
