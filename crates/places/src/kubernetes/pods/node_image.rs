//! The names of images in Pods, and how nodes get the images. Pure.

/// The prefix in start specs of the name of an image that nodes must not pull.
const LOADED: &str = "loaded:";

/// An image as Pods name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeImage {
    /// The name of the image, or its name and digest.
    pub reference: String,
    /// How nodes obtain the image.
    pub pull: Pull,
}

/// How nodes come by an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pull {
    /// The image was loaded into the nodes. Its name is in no public registry, or belongs to
    /// another image there, so nothing is pulled.
    Loaded,
    /// The nodes pull the image unless they have it.
    Registry,
}

impl Pull {
    pub(crate) fn policy(self) -> &'static str {
        match self {
            Self::Loaded => "Never",
            Self::Registry => "IfNotPresent",
        }
    }
}

impl NodeImage {
    /// Returns an image that was loaded into the nodes.
    #[must_use]
    pub fn loaded(reference: String) -> Self {
        let pull = Pull::Loaded;
        Self { reference, pull }
    }

    /// Returns an image that the nodes pull.
    #[must_use]
    pub fn of_registry(reference: String) -> Self {
        let pull = Pull::Registry;
        Self { reference, pull }
    }

    /// The one that a start spec names; loaded ones have a prefix there.
    pub(crate) fn of_spec(text: &str) -> Self {
        match text.strip_prefix(LOADED) {
            Some(reference) => Self::loaded(reference.to_owned()),
            None => Self::of_registry(text.to_owned()),
        }
    }

    /// Returns how a start spec names the image.
    #[must_use]
    pub fn in_spec(&self) -> String {
        match self.pull {
            Pull::Loaded => format!("{LOADED}{}", self.reference),
            Pull::Registry => self.reference.clone(),
        }
    }
}
