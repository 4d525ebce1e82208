//! Suite files in, a checked [`crate::suite::Suite`] or every mistake at once out.
