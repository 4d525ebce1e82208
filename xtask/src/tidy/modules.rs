//! The modules of each crate: which file holds which, and what each takes from others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::paths::{self, Reference};
use super::source::{SourceFile, is_test};

/// The names from the root of the crate to a module; the root itself has none.
pub(super) type ModulePath = Vec<String>;

/// A module of a crate, outside of tests.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The file that holds it.
    pub(super) file: PathBuf,
    /// `pub use path::Name`, `pub use path::Name as Other`: the name here, and the path.
    pub(super) exports: BTreeMap<String, Vec<String>>,
    /// References that may be to another module.
    pub(super) references: Vec<Reference>,
}

/// A library or program with its modules.
#[derive(Debug, Default)]
pub(super) struct Crate {
    /// The file of its root.
    pub(super) root: PathBuf,
    pub(super) modules: BTreeMap<ModulePath, Module>,
}

/// The libraries and programs of the workspace: each `src/lib.rs` and `src/main.rs` is the root of
/// one. Contenders are the tested material, and shaped as their authors like.
pub(super) fn crates(files: &[SourceFile]) -> Vec<Crate> {
    let by_path: BTreeMap<&Path, &SourceFile> = files
        .iter()
        .map(|file| (file.path.as_path(), file))
        .collect();
    let is_root = |file: &&SourceFile| {
        let root = file.path.ends_with("src/lib.rs") || file.path.ends_with("src/main.rs");
        root && !file.path.starts_with("suites")
    };
    files
        .iter()
        .filter(is_root)
        .map(|file| {
            let mut found = Crate {
                root: file.path.clone(),
                modules: BTreeMap::new(),
            };
            let folder = file.path.parent().unwrap_or(Path::new(""));
            let mut walk = Walk {
                files: &by_path,
                modules: &mut found.modules,
            };
            walk.module(Vec::new(), file, &file.syntax.items, folder);
            found
        })
        .collect()
}

/// Walks from the root of a crate through all files that its modules name.
struct Walk<'a> {
    files: &'a BTreeMap<&'a Path, &'a SourceFile>,
    modules: &'a mut BTreeMap<ModulePath, Module>,
}

impl Walk<'_> {
    /// `folder` is where files of the module's own modules are.
    fn module(&mut self, path: ModulePath, file: &SourceFile, items: &[syn::Item], folder: &Path) {
        let mut module = Module {
            file: file.path.clone(),
            ..Module::default()
        };
        for item in items {
            match item {
                syn::Item::Mod(child) if is_test(&child.attrs) => {}
                syn::Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let mut below = path.clone();
                    below.push(name.clone());
                    match &child.content {
                        Some((_, items)) => self.module(below, file, items, &folder.join(name)),
                        None => self.declared(below, folder, &name),
                    }
                }
                other => paths::collect(other, &mut module.references, &mut module.exports),
            }
        }
        self.modules.insert(path, module);
    }

    /// A module in a separate file; one that is not there is the compiler's business.
    fn declared(&mut self, path: ModulePath, folder: &Path, name: &str) {
        let candidates = [
            folder.join(format!("{name}.rs")),
            folder.join(name).join("mod.rs"),
        ];
        for candidate in &candidates {
            if let Some(file) = self.files.get(candidate.as_path()).copied() {
                self.module(path, file, &file.syntax.items, &folder.join(name));
                return;
            }
        }
    }
}
