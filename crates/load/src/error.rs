//! Errors because of which a load could not be generated at all.

#[cfg(doc)]
use bakeoff_model::load::LoadSpec;

/// Why a [`LoadSpec`] could not be carried out. What the service does wrong is never one of these:
/// it is counted.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The spec makes no sense or asks for what the engine cannot do.
    #[error("{message}")]
    Spec {
        /// The mistake, a lower-case fragment.
        message: String,
    },
    /// The host refused something that the engine cannot do without.
    #[error("{what}: {source}")]
    System {
        /// The system call or the setting that was refused.
        what: String,
        /// The refusal.
        source: std::io::Error,
    },
}
