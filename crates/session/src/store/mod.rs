//! A results folder while a session writes to it.

pub mod locked_folder;
pub mod recorder;
