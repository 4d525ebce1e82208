//! The buffers that io_uring receives into: memory that belongs to the kernel until a completion
//! names a buffer, to the reactor until it gives it back.

#![expect(unsafe_code, reason = "memory that is shared with the kernel")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// Number of buffers, a power of two.
const COUNT: u16 = 256;

/// Bytes of one buffer.
const BUFFER_BYTES: usize = 16 * 1024;

/// Distance of two buffers. One cache line more than their size: the kernel takes them in turn,
/// and beginnings that lie powers of two apart would all fall into the same few cache sets.
const STRIDE_BYTES: usize = BUFFER_BYTES + 64;

/// The alignment that the kernel asks of the ring of buffers.
const PAGE_BYTES: usize = 4096;

/// Buffers and the ring through which the kernel gets them.
#[derive(Debug)]
pub(super) struct Buffers {
    memory: NonNull<u8>,
    ring: NonNull<BufRingEntry>,
    /// Buffers given to the kernel so far, wrapping.
    tail: u16,
}

impl Buffers {
    const MEMORY: Layout = match Layout::from_size_align(STRIDE_BYTES * COUNT as usize, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("the size is a constant"),
    };
    const RING: Layout = {
        let bytes = size_of::<BufRingEntry>() * COUNT as usize;
        match Layout::from_size_align(bytes, PAGE_BYTES) {
            Ok(layout) => layout,
            Err(_) => panic!("the size is a constant"),
        }
    };

    /// Allocates the buffers and gives all of them to the kernel as `group`.
    ///
    /// # Errors
    /// When the kernel knows no buffer rings.
    pub(super) fn register(submitter: &Submitter<'_>, group: u16) -> std::io::Result<Self> {
        let mut buffers = Self {
            memory: allocate(Self::MEMORY),
            ring: allocate(Self::RING).cast(),
            tail: 0,
        };
        let address = buffers.ring.as_ptr() as u64;
        // SAFETY: the ring is page-aligned memory for COUNT entries that outlives the
        // registration: `Uring` frees it only when the kernel has no request left.
        unsafe { submitter.register_buf_ring_with_flags(address, COUNT, group, 0)? };
        for buffer in 0..COUNT {
            buffers.give_back(buffer);
        }
        Ok(buffers)
    }

    /// Returns the bytes that the kernel has put into a buffer which a completion names.
    pub(super) fn bytes(&self, buffer: u16, length: usize) -> &[u8] {
        let offset = usize::from(buffer % COUNT) * STRIDE_BYTES;
        let length = length.min(BUFFER_BYTES);
        // SAFETY: the range lies inside of one buffer by the lines above, the memory was zeroed
        // when it was allocated, and the kernel does not write to a buffer between its completion
        // and `give_back`, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(offset), length) }
    }

    /// Gives a buffer to the kernel.
    pub(super) fn give_back(&mut self, buffer: u16) {
        let buffer = buffer % COUNT;
        // SAFETY: the index is below COUNT. The kernel reads an entry only after the tail has
        // passed it, so nothing else uses this one.
        let entry = unsafe { &mut *self.ring.as_ptr().add(usize::from(self.tail % COUNT)) };
        // SAFETY: the offset lies inside of the memory.
        let start = unsafe { self.memory.as_ptr().add(usize::from(buffer) * STRIDE_BYTES) };
        entry.set_addr(start as u64);
        entry.set_len(u32::try_from(BUFFER_BYTES).unwrap_or(0));
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the address of the first entry is where the tail is defined to be, and it is
        // aligned; the kernel reads it atomically.
        let tail = unsafe {
            let tail = BufRingEntry::tail(self.ring.as_ptr());
            AtomicU16::from_ptr(tail.cast_mut())
        };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both were allocated with these layouts by `register`, and their owner drops
        // them only when the kernel has no request that could use them.
        unsafe {
            dealloc(self.memory.as_ptr(), Self::MEMORY);
            dealloc(self.ring.as_ptr().cast(), Self::RING);
        }
    }
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: neither layout has size 0.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}
