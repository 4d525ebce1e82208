//! Layers: the parts of a service to which its CPU time belongs, by the functions that samples of
//! its stacks show: the kernel, parsing, JSON, the framework, its own code.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cpu_parts::ThreadWork;

const BUILT_IN: &str = include_str!("layers.toml");

/// The layer of functions that no rule knows.
pub const OWN_CODE: &str = "own code";

/// The ending of the kernel's functions.
pub(super) const KERNEL: &str = "_[k]";

/// The beginnings of suffixes by which GCC and LLVM name a function of C that they split or copied.
const COPIES: [&str; 6] = ["isra", "part", "constprop", "cold", "lto_priv", "llvm"];

/// Rules by which functions belong to layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerRules {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    layer: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    #[serde(default)]
    kernel: bool,
    /// Functions of this layer belong to their callers.
    #[serde(default)]
    of_callers: bool,
    #[serde(default)]
    threads: Vec<String>,
    #[serde(default)]
    functions: Vec<String>,
}

/// How many samples belong to a layer or a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedSamples {
    /// The layer or the function.
    pub name: String,
    /// Samples.
    pub samples: u64,
    /// How many of them are in the kernel; absent if none is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kernel: u64,
}

impl NamedSamples {
    /// How many samples are outside of the kernel.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.samples.saturating_sub(self.kernel)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// To whom the time of a function of a program belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner<'r> {
    /// A layer that rules name.
    Layer(&'r str),
    /// The service, because no rule knows the function.
    Service,
    /// The caller, because it is of this runtime or standard library.
    Caller(&'r str),
    /// The caller, because the function is in C: of an interpreter, or of a library under one in
    /// another language. Without a caller in another language it is the service's.
    CallerOfC,
}

/// Samples by name, with those in the kernel.
#[derive(Default)]
struct Counts<'s>(BTreeMap<Cow<'s, str>, (u64, u64)>);

impl<'s> Counts<'s> {
    fn add(&mut self, name: impl Into<Cow<'s, str>>, stack: &str, samples: u64) {
        let (all, kernel) = self.0.entry(name.into()).or_default();
        *all += samples;
        if stack.ends_with(KERNEL) {
            *kernel += samples;
        }
    }

    fn most_first(self) -> Vec<NamedSamples> {
        let named = self.0.into_iter();
        let named = named.map(|(name, (samples, kernel))| NamedSamples {
            name: name.into_owned(),
            samples,
            kernel,
        });
        let mut named: Vec<NamedSamples> = named.collect();
        named.sort_by_key(|one| std::cmp::Reverse(one.samples));
        named
    }

    fn most_first_of(self, most: usize) -> Vec<NamedSamples> {
        let mut named = self.most_first();
        named.truncate(most);
        named
    }
}

/// The stacks of a folded text with their samples, `thread;caller;function 42`.
pub(super) fn stacks(folded: &str) -> impl Iterator<Item = (&str, u64)> {
    let lines = folded.lines().filter_map(|line| line.rsplit_once(' '));
    let counted = lines.filter_map(|(stack, count)| Some((stack, count.parse().ok()?)));
    counted.filter(|(_, count)| *count > 0)
}

impl LayerRules {
    /// The rules that come with bakeoff.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the rules that come with bakeoff are TOML")
    }

    /// Rules of a suite, asked before those that come with bakeoff.
    ///
    /// # Errors
    /// A sentence about the text that is not a rule.
    pub fn with(text: &str) -> Result<Self, Problem> {
        let mut own = Self::parse(text)?;
        own.rules.extend(Self::built_in().rules);
        Ok(own)
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let file: File = toml::from_str(text).map_err(Problem::new)?;
        Ok(Self { rules: file.layer })
    }

    /// The samples of each layer, most first, of folded stacks: `thread;caller;function 42`.
    #[must_use]
    pub fn samples(&self, folded: &str) -> Vec<NamedSamples> {
        let mut layers = Counts::default();
        for (stack, count) in stacks(folded) {
            layers.add(self.layer_of(stack), stack, count);
        }
        layers.most_first()
    }

    /// The layer of a stack, `thread;caller;function`.
    fn layer_of(&self, stack: &str) -> &str {
        let (thread, functions) = stack.split_once(';').unwrap_or((stack, ""));
        let begins = |rule: &&Rule| {
            rule.threads
                .iter()
                .any(|name| thread.starts_with(name.as_str()))
        };
        if let Some(rule) = self.rules.iter().find(begins) {
            return &rule.name;
        }
        // Folding writes `_` for a space.
        if let Some(work) = ThreadWork::of(&thread.replace('_', " ")) {
            return of_work(work);
        }
        let functions: Vec<&str> = functions.rsplit(';').collect();
        let of_kernel = functions.iter().take_while(|name| name.ends_with(KERNEL));
        let of_kernel: Vec<&str> = of_kernel.copied().collect();
        if !of_kernel.is_empty() {
            let mut kernel = self.rules.iter().filter(|rule| rule.kernel);
            let found = kernel.find(|rule| of_kernel.iter().any(|name| rule.has(name)));
            return found.map_or(OWN_CODE, |rule| &rule.name);
        }
        self.owner(&functions)
    }

    /// The owner of a stack outside of the kernel, the innermost function first. The first function
    /// that does not belong to its caller decides.
    fn owner(&self, functions: &[&str]) -> &str {
        let mut runtime = None;
        for name in functions.iter().filter(|name| !name.is_empty()) {
            match self.owner_of(name) {
                Owner::Layer(layer) => return layer,
                Owner::Service => return OWN_CODE,
                Owner::Caller(rule) => runtime = runtime.or(Some(rule)),
                Owner::CallerOfC => runtime = Some(OWN_CODE),
            }
        }
        // A scheduler without a caller is the runtime's.
        runtime.unwrap_or(OWN_CODE)
    }

    /// Returns the samples of each function that was at work, most first, of folded stacks: at most
    /// this number of functions. Those of runtimes and standard libraries count as their callers.
    #[must_use]
    pub fn functions(&self, folded: &str, most: usize) -> Vec<NamedSamples> {
        let mut functions = Counts::default();
        for (stack, count) in stacks(folded) {
            functions.add(name_in_source(self.function_of(stack)), stack, count);
        }
        functions.most_first_of(most)
    }

    /// Returns the samples of each function in folded stacks that was at work or had called one
    /// that was, most first: at most `most` functions, without those of the kernel, runtimes and
    /// standard libraries.
    #[must_use]
    pub fn inclusive(&self, folded: &str, most: usize) -> Vec<NamedSamples> {
        let mut functions = Counts::default();
        let mut is_shown: BTreeMap<&str, bool> = BTreeMap::new();
        for (stack, count) in stacks(folded) {
            // One that calls itself is at work once.
            let of_stack: BTreeSet<&str> = stack.split(';').skip(1).collect();
            let outside = of_stack.iter().filter(|name| !name.ends_with(KERNEL));
            let named = outside.copied().filter(|name| {
                let is_callers = || matches!(self.owner_of(name), Owner::Caller(_));
                *is_shown.entry(name).or_insert_with(|| !is_callers())
            });
            let named: BTreeSet<Cow<'_, str>> = named.map(name_in_source).collect();
            for name in named {
                functions.add(name, stack, count);
            }
        }
        functions.most_first_of(most)
    }

    /// The function of a stack that decides its layer; the innermost if the kernel was running,
    /// and if no function decides.
    fn function_of<'s>(&self, stack: &'s str) -> &'s str {
        let innermost = stack.rsplit(';').next().unwrap_or(stack);
        if innermost.ends_with(KERNEL) {
            return innermost;
        }
        // The first name is the thread's.
        let functions = stack.split_once(';').map_or("", |(_, functions)| functions);
        let named = functions.rsplit(';').filter(|name| !name.is_empty());
        let owned = named.map(|name| (name, self.owner_of(name)));
        let owned: Vec<(&str, Owner<'_>)> = owned.collect();
        let decides = |owner: &Owner<'_>| matches!(owner, Owner::Layer(_) | Owner::Service);
        let deciding = owned.iter().find(|(_, owner)| decides(owner));
        let mut of_c = owned.iter();
        let of_c = deciding.or_else(|| of_c.find(|(_, owner)| *owner == Owner::CallerOfC));
        of_c.map_or(innermost, |(name, _)| name)
    }

    /// The owner of a function of a program.
    fn owner_of(&self, function: &str) -> Owner<'_> {
        let mut others = self.rules.iter().filter(|rule| !rule.kernel);
        match others.find(|rule| rule.has(function)) {
            Some(rule) if rule.of_callers => Owner::Caller(&rule.name),
            Some(rule) => Owner::Layer(&rule.name),
            None if is_of_c(function) => Owner::CallerOfC,
            None => Owner::Service,
        }
    }
}

/// Whether a function is one of C, by its name: others have their package, class or file in theirs.
/// `[libc.so.6]` is one without a name.
fn is_of_c(function: &str) -> bool {
    if function.starts_with('[') {
        return true;
    }
    let (name, _) = function.split_once('@').unwrap_or((function, ""));
    let (name, copy) = name.split_once('.').unwrap_or((name, ""));
    let is_copy = copy.is_empty() || COPIES.iter().any(|one| copy.starts_with(one));
    let mut letters = name.bytes();
    is_copy && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

/// The name of a function without what differs between builds and compilers of one source: the hash
/// that Rust adds, the mark of V8's compiler, and the source path except its file and one folder.
fn name_in_source(function: &str) -> Cow<'_, str> {
    let of_rust = function.rsplit_once("::h").filter(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|letter| letter.is_ascii_hexdigit())
    });
    if let Some((name, _)) = of_rust {
        return name.into();
    }
    if let Some(script) = function.strip_prefix("JS:") {
        let script = script.trim_start_matches(['*', '+', '^', '~']);
        let (name, place) = script.split_once(' ').unwrap_or((script, ""));
        let name = if name.is_empty() { "(anonymous)" } else { name };
        return format!("JS:{name} {}", end_of_path(place)).into();
    }
    let of_python = function.strip_prefix("py::");
    match of_python.and_then(|rest| rest.rsplit_once(':')) {
        Some((name, place)) => format!("py::{name}:{}", end_of_path(place)).into(),
        None => function.into(),
    }
}

/// A file with the folder in which it is; what is not in a folder of a file system stays.
fn end_of_path(path: &str) -> &str {
    if !path.starts_with('/') && !path.starts_with("file:") {
        return path;
    }
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at);
    slashes.nth(1).map_or(path, |at| &path[at + 1..])
}

/// The layer of a thread that does not serve requests.
fn of_work(work: ThreadWork) -> &'static str {
    match work {
        ThreadWork::Compiling => "compilation",
        ThreadWork::Collecting => "garbage collection",
        ThreadWork::Logging => "logging",
    }
}

impl Rule {
    fn has(&self, function: &str) -> bool {
        let mut texts = self.functions.iter();
        texts.any(|text| is_in(text, function))
    }
}

/// Whether a rule's text is in the name of a function, at its beginning after a `^`. In a path of
/// Rust it is not the end of a crate's name: `shop_axum::price` is the shop's, not axum's.
fn is_in(text: &str, function: &str) -> bool {
    if let Some(beginning) = text.strip_prefix('^') {
        return function.starts_with(beginning);
    }
    if !function.contains("::") {
        return function.contains(text);
    }
    let mut found = function.match_indices(text);
    found.any(|(at, _)| !function[..at].ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::LayerRules;

    #[track_caller]
    fn check(rules: &LayerRules, stack: &str, layer: &str) {
        assert_eq!(rules.layer_of(stack), layer, "{stack}");
    }

    #[test]
    fn the_function_that_was_running_decides_but_for_those_of_runtimes() {
        let rules = LayerRules::built_in();
        for (stack, layer) in [
            ("web;main;tokio::run;shop::price", "own code"),
            ("web;tokio::run;shop::price;core::fmt::write", "own code"),
            ("web;shop::price;serde_json::to_vec;__memcpy_avx", "JSON"),
            ("web;serde_json::to_vec;_int_malloc", "allocation"),
            ("web;shop::get;hyper::client::get", "database client"),
            ("web;main;tokio::run;mio::poll", "framework"),
            (
                "web;node::Start;v8::internal::JsonStringifier::Serialize",
                "JSON",
            ),
            ("web;axum::call;shop_axum::price", "own code"),
            (
                "web;hyper::poll;<tokio_rustls::Stream as Read>::read",
                "TLS",
            ),
            ("web;shop::price;_int_malloc", "allocation"),
            (
                "web;shop::_::<impl serde_core::ser::Serialize for shop::Price>::serialize",
                "JSON",
            ),
            ("web;shop::store;rmp_serde::to_vec", "own code"),
            (
                "java.lang.Thread.run;sun.net.httpserver.ServerImpl$Exchange.run;java.util.List.of",
                "framework",
            ),
            (
                "java.lang.Thread.run;shop.Main.order;jdk.internal.net.http.HttpClientImpl.send",
                "database client",
            ),
            (
                "web;write;entry_[k];tcp_sendmsg_[k];copy_[k]",
                "kernel: network",
            ),
            ("web;read;entry_[k];vfs_read_[k]", "kernel: other"),
            ("VM Thread;Mark::run", "garbage collection"),
            ("C2 CompilerThre;Compile", "compilation"),
            (
                "java;java.lang.Thread.run;shop.Price.of;java.util.HashMap.get",
                "own code",
            ),
            (
                "java;io.netty.HttpObjectDecoder.decode;java.util.HashMap.get",
                "HTTP parsing",
            ),
            (
                "node;JS:*answer file:///srv/shop.mjs:1:2;JS:^log node:internal/console:377:6;\
                 JS:*_write node:internal/streams/writable:453:16;Builtins_LoadIC",
                "logging",
            ),
            (
                "node;JS:*ClientRequest node:_http_client:134:23;\
                 JS:^addRequest node:_http_agent:230:49;Builtins_LoadIC",
                "database client",
            ),
            ("web", "own code"),
        ] {
            check(&rules, stack, layer);
        }
    }

    #[test]
    fn rules_of_a_suite_come_first() {
        let text = "[[layer]]\nname = \"prices\"\nfunctions = [\"shop::price\"]\n";
        let rules = LayerRules::with(text).unwrap();
        check(&rules, "web;tokio::run;shop::price", "prices");
        check(&rules, "web;tokio::run;shop::item", "own code");
        let error = LayerRules::with("[[layer]]\nnane = \"a\"\n").unwrap_err();
        assert!(error.message().contains("nane"), "{error}");
    }

    #[test]
    fn functions_of_standard_libraries_count_as_their_callers() {
        let folded = "java;java.lang.Thread.run;shop.Main.price;java.util.List.get 3\n\
                      java;java.lang.Thread.run;shop.Main.price 2\n\
                      web;shop::price::h0123456789abcdef;_int_malloc 4\n\
                      web;std::io::write;__libc_write;tcp_sendmsg_[k];__check_[k] 2\n\
                      web;_start;__libc_write 1\n\
                      no count\n";
        let found = LayerRules::built_in().functions(folded, 4);
        let found: Vec<(&str, u64)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.samples))
            .collect();
        let expect = [
            ("shop.Main.price", 5),
            ("_int_malloc", 4),
            ("__check_[k]", 2),
            ("__libc_write", 1),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn a_function_is_the_same_one_in_another_build_and_by_another_compiler() {
        let folded = "node;JS:~price file:///a/x-0f/tree/shop.mjs:1:2 1\n\
                      node;JS:^price file:///a/x-1e/tree/shop.mjs:1:2 2\n\
                      node;JS:*price file:///a/x-1e/tree/shop.mjs:1:2 4\n\
                      node;JS:* file:///a/x-1e/tree/shop.mjs:9:2 3\n\
                      python3;py::price:/a/x-0f/tree/shop.py 1\n\
                      python3;py::price:/a/x-1e/tree/shop.py 1\n\
                      node;JS:+request node:_http_client:1:2 1\n";
        let rules = LayerRules::built_in();
        let (own, inclusive) = (rules.functions(folded, 9), rules.inclusive(folded, 9));
        assert_eq!(own, inclusive);
        let found: Vec<(&str, u64)> = own
            .iter()
            .map(|one| (one.name.as_str(), one.samples))
            .collect();
        let expect = [
            ("JS:price tree/shop.mjs:1:2", 7),
            ("JS:(anonymous) tree/shop.mjs:9:2", 3),
            ("py::price:tree/shop.py", 2),
            ("JS:request node:_http_client:1:2", 1),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn samples_are_added_up_most_first_and_those_of_the_kernel_by_themselves() {
        let folded = "web;shop::a 3\nweb;serde_json::b 5\nweb;shop::c 1\nno count\n\
                      VM Thread;Mark::run 1\nVM Thread;Mark::run;madvise_[k] 2\n";
        let found = LayerRules::built_in().samples(folded);
        let found: Vec<(&str, u64, u64)> = found
            .iter()
            .map(|layer| (layer.name.as_str(), layer.outside(), layer.kernel))
            .collect();
        let expect = [
            ("JSON", 5, 0),
            ("own code", 4, 0),
            ("garbage collection", 1, 2),
        ];
        assert_eq!(found, expect);
    }
}
