//! The paths that an item names: in `use`, in types and expressions, and in macros.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::source::is_test;

/// A path that a module names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// Names of the path, including `crate`, `self` and `super`.
    pub(super) names: Vec<String>,
    /// Line on which the path stands.
    pub(super) line: usize,
}

/// Adds the paths that an item outside of tests names. What is only passed on (`pub use`) goes to
/// `exports`: a facade needs nothing of what it passes on.
pub(super) fn collect(
    item: &syn::Item,
    references: &mut Vec<Reference>,
    exports: &mut BTreeMap<String, Vec<String>>,
) {
    if let syn::Item::Use(item) = item
        && !is_test(&item.attrs)
        && !matches!(item.vis, syn::Visibility::Inherited)
    {
        let mut passed_on = Vec::new();
        tree(&item.tree, &mut Vec::new(), &mut passed_on);
        exports.extend(passed_on);
        return;
    }
    Paths { references }.visit_item(item);
}

/// The names that a `use` brings in, each with its whole path.
fn tree(
    tree_of_use: &syn::UseTree,
    above: &mut Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) {
    let mut leaf = |name: &syn::Ident, known_as: &syn::Ident| {
        let mut names = above.clone();
        // `use a::{self}` is `use a`.
        if name != "self" || names.is_empty() {
            names.push(name.to_string());
        }
        let known_as = match names.last() {
            Some(last) if known_as == "self" => last.clone(),
            _ => known_as.to_string(),
        };
        found.push((known_as, names));
    };
    match tree_of_use {
        syn::UseTree::Path(path) => {
            above.push(path.ident.to_string());
            tree(&path.tree, above, found);
            above.pop();
        }
        syn::UseTree::Name(name) => leaf(&name.ident, &name.ident),
        syn::UseTree::Rename(rename) => leaf(&rename.ident, &rename.rename),
        syn::UseTree::Glob(_) => found.push(("*".to_owned(), above.clone())),
        syn::UseTree::Group(group) => {
            for one in &group.items {
                tree(one, above, found);
            }
        }
    }
}

struct Paths<'a> {
    references: &'a mut Vec<Reference>,
}

impl Paths<'_> {
    /// Macros are tokens to `syn`: the paths among them are runs of `name :: name`.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut names, mut colons, mut line) = (Vec::<String>::new(), 0, 0);
        for token in tokens {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.end(&mut names, line);
                        line = name.span().start().line;
                    }
                    names.push(name.to_string());
                }
                TokenTree::Group(group) => {
                    self.end(&mut names, line);
                    self.tokens(group.stream());
                }
                _ => self.end(&mut names, line),
            }
            colons = 0;
        }
        self.end(&mut names, line);
    }

    fn end(&mut self, names: &mut Vec<String>, line: usize) {
        let names = std::mem::take(names);
        // A single name is a local one, or it came by `use`.
        if names.len() > 1 {
            self.references.push(Reference { names, line });
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        tree(&item.tree, &mut Vec::new(), &mut found);
        let line = item.span().start().line;
        let references = found
            .into_iter()
            .map(|(_, names)| Reference { names, line });
        self.references.extend(references);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string());
        self.end(&mut segments.collect(), path.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
        visit::visit_macro(self, mac);
    }
}
