//! Volumes of containers.

use super::source::{KeyPath, Reading};
use crate::suite::volume::Volume;

/// The volumes at `place`.
pub(super) fn volumes(reading: &mut Reading<'_>, place: &KeyPath, texts: &[String]) -> Vec<Volume> {
    let mut mounts = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(mount) => mounts.push(mount),
            Err(message) => {
                let place = place.index(index);
                reading.complain(&place, &format!("`{place}`: {message}"), None);
            }
        }
    }
    mounts
}
