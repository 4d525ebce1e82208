//! Flow control (RFC 9113, 5.2): what either side may still send.

use super::frame::MAX_31_BITS;

/// Bytes that the service may send on one stream before we say that they have been taken. Bodies
/// are thrown away as they come, so that the windows only have to be too large to slow it down.
pub(super) const STREAM_WINDOW: u32 = 16 << 20;

/// The same for the whole connection.
pub(super) const CONNECTION_WINDOW: u32 = 1 << 30;

/// The window that both sides start with, unless their settings say otherwise.
pub(super) const DEFAULT_WINDOW: u32 = 65_535;

/// The window of the service: how much it may send.
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

    /// Takes bytes that came; `None` when the service was not allowed to send them. Otherwise by
    /// how much the window must be opened again; 0 = not yet.
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

/// The window of the client: how much it may send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outflow {
    /// Settings of the service can make it negative.
    free: i64,
    /// Bytes that were sent and not yet allowed again.
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

    /// Bytes that may be sent now.
    pub(super) fn free(self) -> usize {
        usize::try_from(self.free).unwrap_or(0)
    }

    /// Notes that bytes were sent; no more of them than are free.
    pub(super) fn spend(&mut self, bytes: usize) {
        let bytes = i64::try_from(bytes).unwrap_or(0);
        self.free -= bytes;
        self.sent += bytes;
    }

    /// Opens or closes the window; `None` when it is larger than it may be then.
    pub(super) fn change(&mut self, by: i64) -> Option<()> {
        self.free += by;
        (self.free <= i64::from(MAX_31_BITS)).then_some(())
    }

    /// Opens the window by what the service has taken; `None` when it is larger than it may be
    /// then. Otherwise whether any of that had been sent.
    pub(super) fn update(&mut self, increment: u32) -> Option<bool> {
        let increment = i64::from(increment);
        let taken = self.sent > 0;
        self.sent = (self.sent - increment).max(0);
        self.change(increment)?;
        Some(taken)
    }
}
