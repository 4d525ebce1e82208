//! Errors that prevent a load from being generated at all.

#[cfg(doc)]
use bakeoff_model::load::LoadSpec;

/// Why a [`LoadSpec`] could not be carried out. Failures of the service are never among these: they
/// are counted.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The spec is invalid or requires what the engine cannot do.
    #[error("{message}")]
    Spec {
        /// The mistake, a lower-case fragment.
        message: String,
    },
    /// The host refused something that the engine needs.
    #[error("{what}: {source}")]
    System {
        /// The system call or the setting that was refused.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
}
