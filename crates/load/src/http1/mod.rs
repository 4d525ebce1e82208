//! Reading HTTP/1.x answers from bytes as they come, in pieces of any size.
//!
//! Nothing here touches a socket or a clock: bytes in, progress out. A whole head with a status
//! and a content-length takes the fast path of [`head`]; everything else goes through `httparse`.
//! Bodies are counted and thrown away unless the answer is one of the sampled ones.

mod chunked;
mod head;
mod pipeline;
mod reader;
#[cfg(test)]
mod tests;

#[cfg(feature = "fuzz")]
pub(crate) use chunked::Chunked;
pub(crate) use head::LastHead;
pub(crate) use pipeline::Pipeline;
pub(crate) use reader::{Progress, Reader};
