//! The few requests to the kernel's `NETLINK_ROUTE` that a contender's own network needs: make a
//! pair of virtual Ethernet devices, give an address, switch on, remove, and make a range of
//! addresses unreachable. No program is needed for it. Formats: `linux/netlink.h`,
//! `linux/rtnetlink.h`, `linux/neighbour.h`, `linux/veth.h`.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_SETNEIGHTBL: u16 = 67;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_PID: u16 = 19;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NDTA_NAME: u16 = 1;
const NDTA_PARMS: u16 = 6;
const NDTPA_IFINDEX: u16 = 1;
/// Milliseconds, as 64 bits.
const NDTPA_RETRANS_TIME: u16 = 5;
const AF_INET: u8 = 2;
const RT_TABLE_MAIN: u8 = 254;
const RTN_UNREACHABLE: u8 = 7;
const RTA_DST: u16 = 1;
/// Who made a route, in `ip route` as `proto 198`: a number that no routing daemon has
/// (`/etc/iproute2/rt_protos`). A removal that names it leaves the routes of others alone.
const PROTOCOL: u8 = 198;
/// `struct nlmsghdr`, bytes.
const HEADER: usize = 16;

/// A way to the kernel's network configuration, of the namespace in which it was opened.
#[derive(Debug)]
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    /// Opens one in the namespace of this thread.
    pub(super) fn open() -> io::Result<Self> {
        let kind = SocketType::RAW;
        let socket = socket_with(AddressFamily::NETLINK, kind, SocketFlags::CLOEXEC, None)?;
        Ok(Self(socket))
    }

    /// Makes a pair of devices: `name` in this namespace, `peer` in that of the process.
    pub(super) fn make_pair(&self, name: &str, peer: &str, process: u32) -> io::Result<()> {
        let mut inner = link(0, 0);
        attribute(&mut inner, IFLA_IFNAME, &text(peer));
        attribute(&mut inner, IFLA_NET_NS_PID, &process.to_ne_bytes());
        let mut data = Vec::new();
        attribute(&mut data, VETH_INFO_PEER, &inner);
        let mut info = Vec::new();
        attribute(&mut info, IFLA_INFO_KIND, b"veth");
        attribute(&mut info, IFLA_INFO_DATA, &data);
        let mut body = link(0, 0);
        attribute(&mut body, IFLA_IFNAME, &text(name));
        attribute(&mut body, IFLA_LINKINFO, &info);
        self.request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body)
    }

    /// Gives a device its address on a line with `other` alone, and switches it on.
    pub(super) fn set_up(&self, name: &str, own: Ipv4Addr, other: Ipv4Addr) -> io::Result<()> {
        let index = name_to_index(self.0.as_fd(), name)?;
        let mut body = vec![AF_INET, 32, 0, 0];
        body.extend(index.to_ne_bytes());
        attribute(&mut body, IFA_LOCAL, &own.octets());
        attribute(&mut body, IFA_ADDRESS, &other.octets());
        self.request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body)?;
        self.switch_on(name)
    }

    /// Has the kernel ask for the hardware address behind a device once more after 10 ms instead of
    /// a second. The first of these questions, or its reply, is lost while the other end is being
    /// switched on, and that second would be in the start-up time of the contender.
    pub(super) fn ask_again_soon(&self, name: &str) -> io::Result<()> {
        let index = name_to_index(self.0.as_fd(), name)?;
        let mut settings = Vec::new();
        attribute(&mut settings, NDTPA_IFINDEX, &index.to_ne_bytes());
        attribute(&mut settings, NDTPA_RETRANS_TIME, &10_u64.to_ne_bytes());
        let mut body = vec![AF_INET, 0, 0, 0];
        attribute(&mut body, NDTA_NAME, b"arp_cache\0");
        attribute(&mut body, NDTA_PARMS, &settings);
        self.request(RTM_SETNEIGHTBL, 0, &body)
    }

    /// Switches a device on.
    pub(super) fn switch_on(&self, name: &str) -> io::Result<()> {
        let index = name_to_index(self.0.as_fd(), name)?;
        self.request(RTM_NEWLINK, 0, &link(index, IFF_UP))
    }

    /// Removes a device, and so the other one of its pair. One that is gone is not an error.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        let index = match name_to_index(self.0.as_fd(), name) {
            Ok(index) => index,
            Err(Errno::NODEV) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        };
        match self.request(RTM_DELLINK, 0, &link(index, 0)) {
            Err(error) if error.raw_os_error() == Some(Errno::NODEV.raw_os_error()) => Ok(()),
            outcome => outcome,
        }
    }

    /// Makes 256 addresses unreachable, but for those that a more specific route leads to. An error
    /// of kind [`io::ErrorKind::AlreadyExists`] if there is a route to them.
    pub(super) fn make_unreachable(&self, first: Ipv4Addr) -> io::Result<()> {
        let flags = NLM_F_CREATE | NLM_F_EXCL;
        self.request(RTM_NEWROUTE, flags, &unreachable(first))
    }

    /// Removes the route of [`Self::make_unreachable`]; `false` if there is none.
    pub(super) fn remove_unreachable(&self, first: Ipv4Addr) -> io::Result<bool> {
        match self.request(RTM_DELROUTE, 0, &unreachable(first)) {
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }

    /// Sends one request and waits for the kernel's acknowledgement.
    fn request(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
        let mut message = Vec::new();
        message.extend(length.to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
        // Sequence and sender: there is one request at a time.
        message.extend([0; 8]);
        message.extend(body);
        send(&self.0, &message, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (_, length) = recv(&self.0, &mut answer, RecvFlags::empty())?;
        acknowledged(&answer[..length.min(answer.len())])
    }
}

/// Reads the reply of the kernel: `struct nlmsgerr` behind the header, with 0 or a negative error.
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let word = |at: usize| answer.get(at..at + 4).and_then(|four| four.try_into().ok());
    let kind = answer.get(4..6).and_then(|two| two.try_into().ok());
    match (kind.map(u16::from_ne_bytes), word(HEADER)) {
        (Some(NLMSG_ERROR), Some(code)) => match i32::from_ne_bytes(code) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(-code)),
        },
        _ => Err(io::Error::other("the kernel's reply is unknown")),
    }
}

/// `struct rtmsg` and the destination: an unreachable /24 of the main table.
fn unreachable(first: Ipv4Addr) -> Vec<u8> {
    let mut body = vec![
        AF_INET,
        24,
        0,
        0,
        RT_TABLE_MAIN,
        PROTOCOL,
        0,
        RTN_UNREACHABLE,
    ];
    body.extend([0; 4]);
    attribute(&mut body, RTA_DST, &first.octets());
    body
}

/// `struct ifinfomsg`; the flags are those to change, too.
fn link(index: u32, flags: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend(flags.to_ne_bytes());
    body.extend(flags.to_ne_bytes());
    body
}

/// Appends `struct rtattr` with its value, padded to words.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// A name as the kernel takes it, with its zero byte.
fn text(name: &str) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{acknowledged, attribute};

    #[test]
    fn attributes_are_padded_and_their_length_is_not() {
        let mut body = Vec::new();
        attribute(&mut body, 3, b"lo\0");
        assert_eq!(body.len(), 8);
        assert_eq!(body[..2], 7u16.to_ne_bytes());
        assert_eq!(body[2..4], 3u16.to_ne_bytes());
        assert_eq!(body[4..], *b"lo\0\0");
    }

    #[test]
    fn the_kernels_refusal_is_an_error_of_its_own() {
        let answer = |code: i32| {
            let mut answer = vec![0; 16];
            answer[4..6].copy_from_slice(&2u16.to_ne_bytes());
            answer.extend(code.to_ne_bytes());
            answer
        };
        assert!(acknowledged(&answer(0)).is_ok());
        let refused = acknowledged(&answer(-1)).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(1));
        assert!(acknowledged(&[]).is_err());
    }
}
