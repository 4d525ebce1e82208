//! Contenders as containers of a Docker Engine (or of Podman's compatible socket).

mod context;
mod engine;
mod image;

pub use self::context::Context;
pub use self::engine::{Engine, NoEngine, own_socket};
pub use self::image::{
    Image, ImageError, ImageSpec, artifact_in_image, base_reference, java_in_image,
};
