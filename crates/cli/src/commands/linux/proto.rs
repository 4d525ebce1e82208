//! The files of Protocol Buffers that a command names.

use std::path::PathBuf;

use bakeoff_grpc::Schema;

/// Returns the name of a call in reports: `helloworld.Greeter/SayHello`.
pub(crate) fn name(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}

/// Returns the messages that the files describe; `None` without files.
pub(crate) fn read(files: &[PathBuf]) -> anyhow::Result<Option<Schema>> {
    match files {
        [] => Ok(None),
        files => Ok(Some(Schema::from_files(files)?)),
    }
}
