//! Sockets and the meaning of their errors.

#![expect(unsafe_code, reason = "the kernel's timestamps are in no safe wrapper")]

use std::fmt::Display;
use std::mem::offset_of;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, Target};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, connect, ipproto,
    socket_with, sockopt,
};

use crate::error::LoadError;

/// Offset of the time in a control message.
// SAFETY: it only computes.
const TIMESTAMP_AT: usize = unsafe { libc::CMSG_LEN(0) } as usize;

/// Bytes of a control message with a time.
#[expect(clippy::cast_possible_truncation, reason = "a time has 16 bytes")]
// SAFETY: it only computes.
pub(crate) const TIMESTAMP_BYTES: usize =
    unsafe { libc::CMSG_SPACE(size_of::<libc::timespec>() as u32) } as usize;

/// The number of these bytes as a length in a header, whose type differs between musl and glibc.
#[expect(clippy::cast_possible_truncation, reason = "a time has 16 bytes")]
pub(crate) const TIMESTAMP_LENGTH: u16 = TIMESTAMP_BYTES as u16;

/// Whether calls on a socket wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocking {
    /// Calls wait.
    Yes,
    /// Calls return immediately.
    No,
}

/// The destination of connections, resolved once.
#[derive(Debug, Clone)]
pub(crate) enum Endpoint {
    /// IPv4 or IPv6.
    Inet {
        /// The address.
        address: SocketAddr,
        /// The device to which sockets are bound.
        device: Option<String>,
    },
    /// A Unix socket.
    Unix(SocketAddrUnix),
}

/// Returns the address that is loaded, and how many the target's name has. Of several, the first
/// one that accepts a connection within `timeout` is used.
///
/// # Errors
/// [`LoadError::Spec`] if the address is invalid or cannot be resolved.
pub fn chosen_address(
    target: &Target,
    timeout: Duration,
) -> Result<(SocketAddr, usize), LoadError> {
    let address = &target.address;
    let fail = |why: &dyn Display| LoadError::Spec {
        message: format!("address {address:?}: {why}"),
    };
    let found = address.to_socket_addrs().map_err(|error| fail(&error))?;
    let found: Vec<SocketAddr> = found.collect();
    let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, timeout).is_ok();
    let chosen = match found.as_slice() {
        [_, _, ..] => found.iter().find(accepts).or(found.first()),
        found => found.first(),
    };
    match chosen {
        Some(chosen) => Ok((*chosen, found.len())),
        None => Err(fail(&"the name has no address")),
    }
}

impl Endpoint {
    /// Resolves the target, as [`chosen_address`] does.
    ///
    /// # Errors
    /// [`LoadError::Spec`] if the address is invalid or cannot be resolved.
    pub(crate) fn resolve(target: &Target, timeout: Duration) -> Result<Self, LoadError> {
        if let Some(path) = &target.unix_socket {
            return SocketAddrUnix::new(path.as_str())
                .map(Self::Unix)
                .map_err(|error| LoadError::Spec {
                    message: format!("unix socket {path:?}: {error}"),
                });
        }
        let (address, _) = chosen_address(target, timeout)?;
        Ok(Self::Inet {
            address,
            device: target.device.clone(),
        })
    }

    fn is_loopback(&self) -> bool {
        matches!(self, Self::Inet { address, .. } if address.ip().is_loopback())
    }

    /// Makes a socket of the right family.
    pub(crate) fn socket(&self, blocking: Blocking) -> Result<OwnedFd, Errno> {
        let flags = match blocking {
            Blocking::Yes => SocketFlags::CLOEXEC,
            Blocking::No => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        };
        let (family, protocol) = match self {
            Self::Inet { address, .. } if address.is_ipv4() => {
                (AddressFamily::INET, Some(ipproto::TCP))
            }
            Self::Inet { .. } => (AddressFamily::INET6, Some(ipproto::TCP)),
            Self::Unix(_) => (AddressFamily::UNIX, None),
        };
        let socket = socket_with(family, SocketType::STREAM, flags, protocol)?;
        if let Self::Inet { device, .. } = self {
            // A request is one write: there is never something to wait for.
            sockopt::set_tcp_nodelay(&socket, true)?;
            if let Some(device) = device {
                bind_to(&socket, device)?;
            }
        }
        if self.is_loopback() {
            do_not_pace(&socket)?;
        }
        Ok(socket)
    }

    /// Returns the address in the kernel's form.
    pub(crate) fn any(&self) -> SocketAddrAny {
        match self {
            Self::Inet { address, .. } => (*address).into(),
            Self::Unix(address) => address.clone().into(),
        }
    }

    /// Starts to connect; "in progress" is not an error.
    pub(crate) fn connect(&self, socket: &OwnedFd) -> Result<(), Errno> {
        let result = match self {
            Self::Inet { address, .. } => connect(socket, address),
            Self::Unix(address) => connect(socket, address),
        };
        match result {
            Err(Errno::INPROGRESS) => Ok(()),
            result => result,
        }
    }
}

/// Chooses a congestion control that sends immediately: pacing by a model of the path (BBR) costs
/// timers for a path that has no bottleneck. Reno is in every kernel; one without it keeps its
/// default.
pub(crate) fn do_not_pace(socket: impl AsFd) -> Result<(), Errno> {
    sockopt::set_tcp_congestion(socket, "reno").or_else(|errno| match errno {
        Errno::NOENT | Errno::PERM => Ok(()),
        errno => Err(errno),
    })
}

/// Asks the kernel for a receive timestamp when bytes arrive on a socket. A refusal is not an
/// error: without timestamps the time of reading counts.
pub(crate) fn enable_rx_timestamps(socket: &OwnedFd) {
    let on: libc::c_int = 1;
    let _ = set_option(socket, libc::SO_TIMESTAMPNS, &on.to_ne_bytes());
}

/// Binds a socket to a device: nothing is sent by another one, whatever the routes say.
fn bind_to(socket: &OwnedFd, device: &str) -> Result<(), Errno> {
    set_option(socket, libc::SO_BINDTODEVICE, device.as_bytes())
}

/// Whether this process may bind sockets to a device of this host. Before Linux 5.7 this requires
/// `CAP_NET_RAW`.
#[must_use]
pub fn may_bind_to_device() -> bool {
    let protocol = Some(ipproto::TCP);
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        protocol,
    );
    socket.is_ok_and(|socket| bind_to(&socket, "lo") != Err(Errno::PERM))
}

/// Sets an option of the socket layer.
fn set_option(socket: &OwnedFd, option: libc::c_int, value: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(0);
    // SAFETY: the value lives during the call and has the length that is given.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value.as_ptr().cast::<libc::c_void>(),
            length,
        )
    };
    match outcome {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}

fn last_error() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error();
    Errno::from_raw_os_error(code.unwrap_or(libc::EIO))
}

/// Receives bytes, with the arrival time of the last one, in nanoseconds since the Unix epoch, if
/// the kernel reports it.
pub(crate) fn receive_with_timestamp(
    socket: &OwnedFd,
    room: &mut [u8],
) -> Result<(usize, Option<u64>), Errno> {
    let mut control = [0_u8; TIMESTAMP_BYTES];
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: a header of zeros is an empty one; what it points to outlives the call, and the
    // lengths are right.
    let bytes = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = TIMESTAMP_LENGTH.into();
        libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0)
    };
    let Ok(bytes) = usize::try_from(bytes) else {
        return Err(last_error());
    };
    // Bytes that the kernel did not fill are zero, and no timestamp.
    Ok((bytes, timestamp_ns(&control)))
}

/// Returns the time in a control message of the kernel: the arrival of the last byte, in
/// nanoseconds since the Unix epoch. `None` for any other message, or none.
#[inline]
pub(crate) fn timestamp_ns(control: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(i32::from_ne_bytes(*control.get(at..)?.first_chunk()?));
    let level = number(offset_of!(libc::cmsghdr, cmsg_level))?;
    let kind = number(offset_of!(libc::cmsghdr, cmsg_type))?;
    let time = control.get(TIMESTAMP_AT..)?;
    let seconds = time.get(offset_of!(libc::timespec, tv_sec)..)?;
    let seconds = i64::from_ne_bytes(*seconds.first_chunk()?);
    let rest = time.get(offset_of!(libc::timespec, tv_nsec)..)?;
    let rest = libc::c_long::from_ne_bytes(*rest.first_chunk()?);
    let is_timestamp = level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPNS;
    is_timestamp.then(|| seconds.cast_unsigned() * 1_000_000_000 + rest.cast_unsigned())
}

/// Returns the error class of a connection that could not be made, or broke before it was seen to
/// be established.
pub(crate) fn connect_class(errno: Errno) -> ErrorClass {
    match errno {
        Errno::TIMEDOUT => ErrorClass::ConnectTimeout,
        // A refused connection has another error: this one was accepted, then reset.
        Errno::CONNRESET | Errno::PIPE => ErrorClass::Reset,
        Errno::MFILE
        | Errno::NFILE
        | Errno::ADDRNOTAVAIL
        | Errno::NOMEM
        | Errno::NOBUFS
        | Errno::ACCESS
        | Errno::PERM => ErrorClass::Local,
        _ => ErrorClass::ConnectRefused,
    }
}

/// Returns the error class of a connection that broke while it was in use.
pub(crate) fn broken_class(errno: Errno) -> ErrorClass {
    match errno {
        Errno::NOMEM | Errno::NOBUFS => ErrorClass::Local,
        _ => ErrorClass::Reset,
    }
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::ErrorClass;
    use rustix::io::Errno;

    use super::connect_class;

    #[test]
    fn errors_of_connecting_have_their_class() {
        for (errno, class) in [
            (Errno::CONNREFUSED, ErrorClass::ConnectRefused),
            (Errno::NOENT, ErrorClass::ConnectRefused),
            (Errno::TIMEDOUT, ErrorClass::ConnectTimeout),
            (Errno::CONNRESET, ErrorClass::Reset),
            (Errno::PIPE, ErrorClass::Reset),
            (Errno::MFILE, ErrorClass::Local),
            (Errno::ADDRNOTAVAIL, ErrorClass::Local),
        ] {
            assert_eq!(connect_class(errno), class, "{errno}");
        }
    }
}
