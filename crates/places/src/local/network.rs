//! A network namespace for each contender, so that several that listen on the same port can be
//! alive together. A pair of virtual Ethernet devices leads to it; it ends with its processes.
//!
//! Every pair has the same address on the host's side, so that the backend is at one place for all
//! contenders, known before any of them is started.
//!
//! The addresses of a session are its own, and unreachable unless a contender has them: see
//! [`crate::local::subnet`].

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{io, thread};

use bakeoff_base::problem::Problem;
use rustix::thread::UnshareFlags;

use crate::local::netlink::Netlink;
use crate::local::subnet::{self, Subnet};

/// Devices of ours: names hold 15 letters, too few for [`crate::sweep::PREFIX`] with the number of
/// a process and that of the device.
const PREFIX: &str = "bko";

/// Where the kernel lists devices.
const DEVICES: &str = "/sys/class/net";

/// The device inside.
const INSIDE: &str = "eth0";

/// The number of contenders that can run concurrently: the rest of 256 addresses.
const ALIVE_MAX: u32 = 253;

/// The networks of one session's contenders.
#[derive(Debug)]
pub(super) struct Network {
    session: u32,
    subnet: Subnet,
    made: AtomicU32,
}

/// The network of one contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The device on the host's side.
    pub(crate) device: String,
    /// The address on the host's side.
    pub(crate) gateway: Ipv4Addr,
    /// The contender's address.
    pub(crate) address: Ipv4Addr,
}

impl Network {
    /// Claims addresses for this process, after a try whether namespaces are permitted.
    ///
    /// # Errors
    /// A sentence why they are not, or why there are no addresses.
    pub(super) fn of_this_session() -> Result<Self, Problem> {
        let tried = thread::spawn(|| unshared().and_then(|()| Netlink::open()?.switch_on("lo")));
        let tried = tried.join();
        let outcome = tried.unwrap_or_else(|_| Err(io::Error::other("the attempt panicked")));
        outcome.map_err(|error| format!("network namespaces cannot be made here: {error}"))?;
        Ok(Self {
            session: std::process::id(),
            subnet: Subnet::claim()?,
            made: AtomicU32::new(0),
        })
    }

    /// The host's side of every line.
    pub(super) fn gateway(&self) -> Ipv4Addr {
        self.subnet.address(1)
    }

    /// A line that no living contender has.
    pub(super) fn line(&self) -> Line {
        let free = |line: &Line| !Path::new(DEVICES).join(&line.device).exists();
        let mut lines = (0..ALIVE_MAX).map(|_| self.next_line());
        // If all are taken, the kernel refuses to make one twice.
        lines.find(free).unwrap_or_else(|| self.next_line())
    }

    fn next_line(&self) -> Line {
        let number = self.made.fetch_add(1, Ordering::Relaxed) % ALIVE_MAX;
        Line {
            device: format!("{PREFIX}{}x{number}", self.session),
            gateway: self.gateway(),
            address: self.subnet.address(number + 2),
        }
    }
}

impl Line {
    /// Returns the network as an argument of the shim.
    pub(super) fn to_arg(&self) -> String {
        let Self {
            device,
            gateway,
            address,
        } = self;
        format!("{device},{gateway},{address}")
    }

    /// The other way round.
    pub(super) fn from_arg(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        let line = Self {
            device: parts.next()?.to_owned(),
            gateway: parts.next()?.parse().ok()?,
            address: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(line)
    }

    /// Leaves the host's network for a separate one with this line to it. For processes of a single
    /// thread.
    pub(super) fn move_in(&self) -> io::Result<()> {
        let outside = Netlink::open()?;
        unshared()?;
        let inside = Netlink::open()?;
        inside.switch_on("lo")?;
        outside.make_pair(&self.device, INSIDE, std::process::id())?;
        outside.ask_again_soon(&self.device)?;
        // The host's end has the route by which the contender is asked from then on.
        inside.set_up(INSIDE, self.address, self.gateway)?;
        outside.set_up(&self.device, self.gateway, self.address)
    }

    /// Takes the line down. Its end removes it too, but the kernel may take its time with a
    /// namespace whose sockets were not closed.
    pub(super) fn take_down(&self) {
        // A device that could not be removed now is left to the next sweep.
        let _ = Netlink::open().and_then(|kernel| kernel.remove(&self.device));
    }
}

#[expect(
    deprecated,
    reason = "the safe call is unsound for FILES only, which is not unshared here"
)]
fn unshared() -> io::Result<()> {
    Ok(rustix::thread::unshare(UnshareFlags::NEWNET)?)
}

/// Removes the devices and routes of dead sessions, and names them.
pub(crate) fn sweep(is_dead: impl Fn(u32) -> bool) -> io::Result<Vec<String>> {
    let mut removed = subnet::sweep()?;
    for name in devices(Path::new(DEVICES)) {
        if owner(&name).is_some_and(&is_dead) {
            Netlink::open()?.remove(&name)?;
            removed.push(format!("network device {name}"));
        }
    }
    Ok(removed)
}

fn devices(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

/// The process number in the name of a device of ours.
fn owner(name: &str) -> Option<u32> {
    let (owner, number) = name.strip_prefix(PREFIX)?.split_once('x')?;
    number.parse::<u32>().ok()?;
    owner.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::{Line, Network, Subnet, owner};

    #[test]
    fn lines_of_a_session_have_one_gateway_and_addresses_of_their_own() {
        let network = Network {
            session: 4_194_303,
            subnet: Subnet::unclaimed(511),
            made: AtomicU32::new(252),
        };
        let lines = [network.line(), network.line(), network.line()];
        let text = lines.clone().map(|line| line.to_arg());
        assert_eq!(
            text,
            [
                "bko4194303x252,198.19.255.1,198.19.255.254",
                "bko4194303x0,198.19.255.1,198.19.255.2",
                "bko4194303x1,198.19.255.1,198.19.255.3",
            ]
        );
        for line in lines {
            assert!(line.device.len() <= 15, "what the kernel takes");
            assert_eq!(owner(&line.device), Some(4_194_303));
            assert_eq!(Line::from_arg(&line.to_arg()), Some(line));
        }
    }

    #[test]
    fn strange_devices_have_no_owner() {
        for name in ["eth0", "bko", "bko7", "bkoxx1", "bkosx7", "veth1x2"] {
            assert_eq!(owner(name), None, "{name}");
        }
        assert_eq!(Line::from_arg("a,1.2.3.4"), None);
        assert_eq!(Line::from_arg("a,1.2.3.4,1.2.3.5,x"), None);
    }
}
