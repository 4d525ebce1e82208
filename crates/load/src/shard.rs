//! The place of a thread in a load: its index, and that of its part.

use bakeoff_model::load::LoadPart;

/// Which of the threads this is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shard {
    /// Its index.
    pub(crate) thread: u32,
    /// How many there are.
    pub(crate) threads: u32,
    /// The part of the load that they make together.
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
