//! Flow control (RFC 9113, 5.2): the bytes that either side may still send.

use super::frame::MAX_31_BITS;

/// Bytes that the service may send on one stream before we acknowledge them. Bodies are discarded
/// as they arrive, so that the windows only have to be large enough not to slow it down.
pub(super) const STREAM_WINDOW: u32 = 16 << 20;

/// Bytes that the service may send on the whole connection before we acknowledge them.
pub(super) const CONNECTION_WINDOW: u32 = 1 << 30;

/// The window that both sides start with, unless their settings say otherwise.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// The service's window: how much it may send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inflow {
    size: u32,
    left: u32,
}

impl Inflow {
    /// A window of this size, all of it free.
    pub(super) fn new(size: u32) -> Self {
        Self { size, left: size }
    }

    /// Takes received bytes; `None` if the service was not allowed to send them. Otherwise returns
    /// by how much the window must be opened again; 0 = not yet.
    pub(super) fn take(&mut self, bytes: usize) -> Option<u32> {
        self.left = self.left.checked_sub(u32::try_from(bytes).ok()?)?;
        let taken = self.size - self.left;
        if taken < self.size / 2 {
            return Some(0);
        }
        self.left = self.size;
        Some(taken)
    }
}

/// The client's window: how much it may send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outflow {
    /// Free bytes; settings of the service can make this negative.
    free: i64,
    /// Bytes that were sent and not yet acknowledged.
    sent: i64,
}

impl Outflow {
    /// A window of this size.
    pub(super) fn new(size: u32) -> Self {
        Self {
            free: i64::from(size),
            sent: 0,
        }
    }

    /// Returns the bytes that may be sent now.
    pub(super) fn free(self) -> usize {
        usize::try_from(self.free).unwrap_or(0)
    }

    /// Notes that bytes were sent; no more than are free.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(0);
        self.free -= bytes;
        self.sent += bytes;
    }

    /// Opens or closes the window; `None` if it is then larger than allowed.
    pub(super) fn change(&mut self, by: i64) -> Option<()> {
        self.free += by;
        (self.free <= i64::from(MAX_31_BITS)).then_some(())
    }

    /// Opens the window by the bytes that the service has acknowledged; `None` if it is then larger
    /// than allowed. Otherwise returns whether any of them had been sent.
    pub(super) fn update(&mut self, increment: u32) -> Option<bool> {
        let increment = i64::from(increment);
        let taken = self.sent > 0;
        self.sent = (self.sent - increment).max(0);
        self.change(increment)?;
        Some(taken)
    }
}
