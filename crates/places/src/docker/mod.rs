//! Contenders as containers of a Docker Engine (or of Podman's compatible socket), over its API:
//! finding the engine, assembling images, starting, metering and stopping containers.
//!
//! Nothing here starts an engine or makes base images: those are chores of the workspace.

mod container;
mod context;
mod engine;
mod far_host;
mod image;
mod instance;
mod runtime;
mod session;
mod settings;
mod ssh;
mod stats;
pub(crate) use std::future::Future;
use std::thread;

pub use crate::docker::context::Context;
pub use crate::docker::engine::{Engine, is_elsewhere, own_socket};
pub use crate::docker::far_host::FarHost;
pub use crate::docker::image::{
    Image, ImageError, ImageSpec, artifact_in_image, base_hint, base_reference, java_in_image,
};
pub use crate::docker::runtime::DockerRuntime;

/// Talks to the engine from a drop, which can neither wait in the runtime that it is dropped in nor
/// be sure that there is still one. The connection is a new one: those of the old client belong to
/// the runtime that is being held up.
fn drop_aside<F: Future<Output = ()>>(
    engine: &Engine,
    talk: impl FnOnce(Engine) -> F + Send + 'static,
) {
    let Some(engine) = engine.afresh() else {
        return;
    };
    let aside = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        if let Ok(runtime) = runtime {
            runtime.block_on(talk(engine));
        }
    });
    let _ = aside.join();
}
