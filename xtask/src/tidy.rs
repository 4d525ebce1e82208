//! The house style that no linter of the ecosystem checks: line, function and file length, and
//! what must not be in the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

const LINE_COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;

/// Checks every Rust file that git knows or would add; all findings at once.
pub(crate) fn tidy(root: &Path) -> anyhow::Result<()> {
    let mut findings = Vec::new();
    let files = rust_files(root)?;
    for file in &files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        check_file(file, &text, &mut findings)?;
    }
    for finding in &findings {
        crate::say(finding);
    }
    if !findings.is_empty() {
        bail!("tidy: {} findings", findings.len());
    }
    crate::say(&format!("tidy: {} files are tidy", files.len()));
    Ok(())
}

fn rust_files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "*.rs",
        ])
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    let list = String::from_utf8(output.stdout).context("git lists a file that is not UTF-8")?;
    // A file that was deleted and not yet committed is still listed.
    Ok(list
        .lines()
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect())
}

fn check_file(file: &Path, text: &str, findings: &mut Vec<String>) -> anyhow::Result<()> {
    let name = file.display();
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX {
            findings.push(format!("{name}:{}: {columns} columns", index + 1));
        }
    }
    let is_test = file.ends_with("tests.rs") || file.iter().any(|part| part == "tests");
    let without_tests = text
        .lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .count();
    if !is_test && without_tests > FILE_LINES_MAX {
        findings.push(format!("{name}: {without_tests} lines without tests"));
    }
    let parsed = syn::parse_file(text).with_context(|| format!("{name}: not Rust"))?;
    let mut functions = Functions { file, findings };
    functions.visit_file(&parsed);
    Ok(())
}

/// Walks all functions of a file.
struct Functions<'a> {
    file: &'a Path,
    findings: &'a mut Vec<String>,
}

impl Functions<'_> {
    fn check(&mut self, name: &syn::Ident, block: &syn::Block) {
        let span = block.span();
        let lines = span.end().line.saturating_sub(span.start().line) + 1;
        if lines > FUNCTION_LINES_MAX {
            let (file, line) = (self.file.display(), span.start().line);
            self.findings
                .push(format!("{file}:{line}: function {name} has {lines} lines"));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.check(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.check(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}
