//! The replay backend, which serves recorded exchanges from memory, and the proxy that records them
//! or captures what clients ask a service. A separate crate, because it is part of every
//! measurement and therefore always compiled with full optimisation. The crate knows neither
//! processes nor contenders.

mod delay;
mod key;
mod proxy;
mod record;
mod recording;
mod replay;
mod request_count;

pub use self::key::RequestKey;
pub use self::proxy::{Authority, Body, Exchange, Exchanges, Proxy, SentRequest, Upstream};
pub use self::record::{RecordSummary, RecordingProxy};
pub use self::recording::{DURATIONS_MAX, Recorded, Recording, RecordingError};
pub use self::replay::{Replay, ReplayOptions};
pub use self::request_count::Answered;
