//! Folders on the disk: the suite that is read, and the results that are written.

pub mod file;
pub(crate) mod flame_file;
pub mod locked_folder;
pub mod recorder;
pub mod results;
pub mod round_file;
pub mod session_file;
pub mod suite_folder;
