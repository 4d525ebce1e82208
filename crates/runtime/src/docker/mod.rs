//! Contenders as containers of a Docker Engine (or of Podman's compatible socket), over its API:
//! finding the engine, assembling images, starting, metering and stopping containers.
//!
//! Nothing here starts an engine or makes base images: those are chores of the workspace.

mod container;
mod context;
mod engine;
mod image;
mod instance;
mod runtime;
mod session;
mod stats;
mod watch;

use std::future::Future;
use std::thread;

pub use self::context::Context;
pub use self::engine::{Engine, NoEngine, own_socket};
pub use self::image::{
    Image, ImageError, ImageSpec, artifact_in_image, base_reference, java_in_image,
};
pub use self::runtime::DockerRuntime;

/// Runs a conversation with the engine to its end from a drop, which can neither wait in the
/// runtime that it is dropped in nor be sure that there is still one.
fn drop_aside(future: impl Future<Output = ()> + Send + 'static) {
    let aside = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(future);
        }
    });
    let _ = aside.join();
}
