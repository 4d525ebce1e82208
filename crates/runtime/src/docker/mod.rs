//! Contenders as containers of a Docker Engine (or of Podman's compatible socket).

mod engine;

pub use self::engine::{Engine, NoEngine, own_socket};
