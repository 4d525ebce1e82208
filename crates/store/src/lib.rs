//! Suites and results on the disk, and events: everything that sessions read, keep and report. It
//! compiles on every system, because results are read everywhere; it starts and measures nothing.

pub mod event;
pub mod file;
pub mod flame_file;
pub mod grpc;
pub mod options;
pub mod results;
pub mod round_file;
pub mod session_file;
pub mod shell_text;
pub mod suite_folder;
