//! Sockets and the meaning of their errors.

#![expect(
    unsafe_code,
    reason = "the kernel's time stamps are in no safe wrapper"
)]

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::time::Duration;

use bakeoff_model::load::{ErrorClass, Target};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, connect, ipproto,
    socket_with, sockopt,
};

use crate::LoadError;

/// Whether calls on a socket wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocking {
    /// They do.
    Yes,
    /// They return at once.
    No,
}

/// Where connections go, resolved once.
#[derive(Debug, Clone)]
pub(crate) enum Endpoint {
    /// IPv4 or IPv6.
    Inet(SocketAddr),
    /// A Unix socket.
    Unix(SocketAddrUnix),
}

impl Endpoint {
    /// Resolves the target. Among several addresses of a name the first one that accepts a
    /// connection within `timeout` is taken.
    ///
    /// # Errors
    /// [`LoadError::Spec`] when the address cannot be understood or resolved.
    pub(crate) fn resolve(target: &Target, timeout: Duration) -> Result<Self, LoadError> {
        if let Some(path) = &target.unix_socket {
            return SocketAddrUnix::new(path.as_str())
                .map(Self::Unix)
                .map_err(|error| LoadError::Spec {
                    message: format!("unix socket {path:?}: {error}"),
                });
        }
        let address = &target.address;
        let found: Vec<SocketAddr> = address
            .to_socket_addrs()
            .map_err(|error| LoadError::Spec {
                message: format!("address {address:?}: {error}"),
            })?
            .collect();
        let first = found.first().ok_or_else(|| LoadError::Spec {
            message: format!("address {address:?}: the name has no address"),
        })?;
        let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, timeout).is_ok();
        let chosen = if found.len() == 1 {
            first
        } else {
            found.iter().find(accepts).unwrap_or(first)
        };
        Ok(Self::Inet(*chosen))
    }

    fn is_loopback(&self) -> bool {
        matches!(self, Self::Inet(address) if address.ip().is_loopback())
    }

    /// Makes a socket of the right family.
    pub(crate) fn socket(&self, blocking: Blocking) -> Result<OwnedFd, Errno> {
        let flags = match blocking {
            Blocking::Yes => SocketFlags::CLOEXEC,
            Blocking::No => SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        };
        let (family, protocol) = match self {
            Self::Inet(SocketAddr::V4(_)) => (AddressFamily::INET, Some(ipproto::TCP)),
            Self::Inet(SocketAddr::V6(_)) => (AddressFamily::INET6, Some(ipproto::TCP)),
            Self::Unix(_) => (AddressFamily::UNIX, None),
        };
        let socket = socket_with(family, SocketType::STREAM, flags, protocol)?;
        if matches!(self, Self::Inet(_)) {
            // A request is one write: there is never something to wait for.
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        if self.is_loopback() {
            do_not_pace(&socket)?;
        }
        Ok(socket)
    }

    /// The address as the kernel wants it.
    pub(crate) fn any(&self) -> SocketAddrAny {
        match self {
            Self::Inet(address) => (*address).into(),
            Self::Unix(address) => address.clone().into(),
        }
    }

    /// Begins to connect; "in progress" is no error.
    pub(crate) fn connect(&self, socket: &OwnedFd) -> Result<(), Errno> {
        let result = match self {
            Self::Inet(address) => connect(socket, address),
            Self::Unix(address) => connect(socket, address),
        };
        match result {
            Err(Errno::INPROGRESS) => Ok(()),
            result => result,
        }
    }
}

/// Chooses a congestion control that sends at once: pacing by a model of the path (BBR) costs
/// timers for a path that has no bottleneck. Reno is in every kernel; one without it keeps its
/// default.
pub(crate) fn do_not_pace(socket: impl AsFd) -> Result<(), Errno> {
    sockopt::set_tcp_congestion(socket, "reno").or_else(|errno| match errno {
        Errno::NOENT | Errno::PERM => Ok(()),
        errno => Err(errno),
    })
}

/// Has the kernel note when bytes arrive on a socket. A refusal is not an error: without a note
/// the instant of reading counts.
pub(crate) fn stamp_arrivals(socket: &OwnedFd) {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).unwrap_or(0);
    // SAFETY: the option is a number that lives during the call, of the length that is given.
    let _ = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast::<libc::c_void>(),
            length,
        )
    };
}

/// Receives bytes; with them, when the last of them arrived, in nanoseconds since the Unix epoch,
/// if the kernel noted it.
pub(crate) fn receive_stamped(
    socket: &OwnedFd,
    room: &mut [u8],
) -> Result<(usize, Option<u64>), Errno> {
    // Aligned, and long enough for a time stamp.
    let mut control = [0_u64; 8];
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: a header of zeros is an empty one; what it points to outlives the call, and the
    // lengths are right.
    let (bytes, header) = unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        let bytes = libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0);
        (bytes, header)
    };
    let Ok(bytes) = usize::try_from(bytes) else {
        let code = std::io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(code.unwrap_or(libc::EIO)));
    };
    // SAFETY: the header is as the kernel left it, with whole control messages in `control`, which
    // is still there; a message of this type holds a `timespec`.
    let came = unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        let is_stamp = !message.is_null()
            && (*message).cmsg_level == libc::SOL_SOCKET
            && (*message).cmsg_type == libc::SCM_TIMESTAMPNS;
        is_stamp.then(|| {
            let time = libc::CMSG_DATA(message).cast::<libc::timespec>();
            time.read_unaligned()
        })
    };
    let nanoseconds = |time: libc::timespec| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
    };
    Ok((bytes, came.map(nanoseconds)))
}

/// The class of a connection that could not be made.
pub(crate) fn connect_class(errno: Errno) -> ErrorClass {
    match errno {
        Errno::TIMEDOUT => ErrorClass::ConnectTimeout,
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

/// The class of a connection that broke while it was in use.
pub(crate) fn broken_class(errno: Errno) -> ErrorClass {
    match errno {
        Errno::NOMEM | Errno::NOBUFS => ErrorClass::Local,
        _ => ErrorClass::Reset,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::thread::sleep;
    use std::time::Duration;

    use super::{receive_stamped, stamp_arrivals};
    use crate::clock::wall_ns;

    #[test]
    fn an_arrival_is_noted_when_it_happens_not_when_it_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client: OwnedFd = TcpStream::connect(listener.local_addr().unwrap())
            .unwrap()
            .into();
        let (mut server, _) = listener.accept().unwrap();
        stamp_arrivals(&client);
        // The kernel begins to take notes a moment after it was asked to.
        for _ in 0..100 {
            server.write_all(b"answer").unwrap();
            sleep(Duration::from_millis(20));
            let mut room = [0; 100];
            let (bytes, came_ns) = receive_stamped(&client, &mut room).unwrap();
            assert_eq!(&room[..bytes], b"answer");
            if let Some(came_ns) = came_ns {
                assert!(wall_ns() - came_ns > 15_000_000);
                return;
            }
        }
        panic!("no arrival was noted");
    }
}
