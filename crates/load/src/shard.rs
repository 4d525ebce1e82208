//! The place of a thread in a load: its index, and that of its part.

use bakeoff_model::load::LoadPart;

/// The identity of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shard {
    /// Index of the thread.
    pub(crate) thread: u32,
    /// Number of threads.
    pub(crate) threads: u32,
    /// The part of the load that the threads make together.
    pub(crate) part: LoadPart,
}

impl Shard {
    /// Returns this thread's share of the whole load: every `threads`-th connection of the part.
    pub(crate) fn share(self) -> LoadPart {
        self.part.part(LoadPart {
            index: self.thread,
            of: self.threads,
        })
    }
}
