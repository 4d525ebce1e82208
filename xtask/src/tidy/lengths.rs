//! Lengths of lines, functions and files.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::source::{SourceFile, is_test};

/// The columns of a line.
pub(super) const LINE_COLUMNS_MAX: usize = 100;
const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;

/// Returns the findings on what is too long in a file.
pub(super) fn check(file: &SourceFile) -> Vec<String> {
    let name = file.path.display();
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX {
            findings.push(format!("{name}:{}: {columns} columns", index + 1));
        }
    }
    let lines = lines_without_tests(file);
    if !is_test_file(file) && lines > FILE_LINES_MAX {
        findings.push(format!("{name}: {lines} lines without tests"));
    }
    let mut functions = Functions::default();
    functions.visit_file(&file.syntax);
    for (function, line, lines) in functions.long {
        findings.push(format!("{name}:{line}: {function} has {lines} lines"));
    }
    findings
}

/// Files that hold nothing but tests, which may be as long as their tables.
fn is_test_file(file: &SourceFile) -> bool {
    file.path.ends_with("tests.rs") || file.path.iter().any(|part| part == "tests")
}

/// Lines outside of `#[cfg(test)] mod name { ... }`, wherever these stand.
fn lines_without_tests(file: &SourceFile) -> usize {
    let tests = file.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if is_test(&module.attrs) && module.content.is_some() => {
            Some(lines_of(module.span()))
        }
        _ => None,
    });
    file.text.lines().count().saturating_sub(tests.sum())
}

fn lines_of(span: proc_macro2::Span) -> usize {
    span.end().line.saturating_sub(span.start().line) + 1
}

/// Walks all functions of a file.
#[derive(Default)]
struct Functions {
    /// Functions that are too long: name, line, lines.
    long: Vec<(String, usize, usize)>,
}

impl Functions {
    fn measure(&mut self, name: &syn::Ident, block: &syn::Block) {
        let lines = lines_of(block.span());
        if lines > FUNCTION_LINES_MAX {
            let line = block.span().start().line;
            self.long.push((format!("function {name}"), line, lines));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig.ident, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{SourceFile, check};

    fn findings(text: &str) -> Vec<String> {
        check(&SourceFile {
            path: PathBuf::from("src/a.rs"),
            text: text.to_owned(),
            syntax: syn::parse_file(text).unwrap(),
        })
    }

    #[test]
    fn modules_of_tests_are_no_source_wherever_they_stand() {
        let source = "const A: u8 = 0;\n".repeat(480);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{source}}}\n");
        assert_eq!(findings(&format!("{tests}{source}")), [""; 0]);
        assert_eq!(findings(&format!("{source}{tests}")), [""; 0]);
        // A declaration is one line, and what follows it is source.
        let declared = format!("#[cfg(test)]\nmod tests;\n{source}{source}");
        assert_eq!(findings(&declared), ["src/a.rs: 962 lines without tests"]);
    }

    #[test]
    fn long_lines_and_functions_are_found() {
        let long = "let _ = 1;\n".repeat(70);
        let text = format!("// {}\nimpl A {{ fn b() {{\n{long}}} }}\n", "x".repeat(98));
        assert_eq!(
            findings(&text),
            [
                "src/a.rs:1: 101 columns",
                "src/a.rs:2: function b has 72 lines"
            ]
        );
    }
}
