//! Sockets and the meaning of their errors.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::{AsFd, OwnedFd};
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
