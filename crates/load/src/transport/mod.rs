//! Transport of the bytes: sockets, the kernel interfaces that wait for them, and TLS. Nothing here
//! knows what the bytes mean.

pub(crate) mod reactor;
pub(crate) mod socket;
pub(crate) mod tls;
