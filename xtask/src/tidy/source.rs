//! The files of the tree, read and parsed once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::workspace::tracked;

/// A Rust file of the tree.
pub(super) struct SourceFile {
    /// Relative to the root of the workspace.
    pub(super) path: PathBuf,
    pub(super) text: String,
    pub(super) syntax: syn::File,
}

/// Every Rust file that git knows or would add.
pub(super) fn rust_files(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    for path in tracked_once(root, "*.rs")? {
        let text = fs::read_to_string(root.join(&path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let syntax =
            syn::parse_file(&text).with_context(|| format!("{}: not Rust", path.display()))?;
        files.push(SourceFile { path, text, syntax });
    }
    Ok(files)
}

/// Returns the tracked files without links, which are other names of files that are listed too.
pub(super) fn tracked_once(root: &Path, pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = tracked(root, pattern)?;
    files.retain(|file| !root.join(file).is_symlink());
    Ok(files)
}

/// Whether an item is compiled for tests only.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"))
    })
}
