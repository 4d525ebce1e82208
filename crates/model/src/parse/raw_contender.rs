//! `contender.toml` as people write it; a sibling of [`super::raw`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// `contender.toml`: one system under test and its variants.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ContenderFile {
    /// The contender, how it is built and how it is run.
    pub(crate) contender: ContenderTable,
    /// The image it is put into.
    #[serde(default)]
    pub(crate) image: ImageTable,
    /// Parts of the work of its requests that it can do alone, so that their share is known.
    #[serde(default)]
    pub(crate) probe: Vec<ProbeTable>,
    /// Its own environment.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Extra environment of the build.
    #[serde(default)]
    pub(crate) build_env: BTreeMap<String, String>,
    /// Variants by name; each becomes the contender `NAME/VARIANT`.
    #[serde(default)]
    pub(crate) variant: BTreeMap<String, VariantTable>,
    /// Environment variable -> values; each combination is a case.
    #[serde(default)]
    pub(crate) matrix: BTreeMap<String, MatrixValues>,
}

/// A contender, how it is built and how it is run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ContenderTable {
    /// The name of its folder.
    #[schemars(extend("x-text" = "name"))]
    pub(crate) name: String,
    /// One line for a person.
    #[serde(default)]
    pub(crate) describe: String,
    /// Programming language, lower case.
    #[serde(default)]
    pub(crate) language: String,
    /// A caveat that the report shows next to the numbers.
    pub(crate) note: Option<String>,
    /// The contender of which reports state its numbers as a share, `http4s/vanilla`; its variants
    /// have the same one, the one that is named has none.
    #[schemars(length(min = 1))]
    pub(crate) baseline: Option<String>,
    /// Lines of its log that it writes for each successful request at least, instead of the
    /// suite's `log-lines-min`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) log_lines_min: Option<f64>,
    /// Toolchains without which it cannot be built or run; a missing one skips it with one line.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// Build command, run in a copy of the folder; absent when there is nothing to build.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) build: Vec<String>,
    /// The artifact of the build, relative to that copy: a file or a folder. Absent where `run`
    /// needs none, such as a program that is installed.
    pub(crate) artifact: Option<String>,
    /// Command that starts it, with `{artifact}`, `{java}` and `{jvm-options}`. Absent where there
    /// is only an image or a URL.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) run: Vec<String>,
    /// Where `run` starts, absolute or relative to the contender's folder; the copy in which it is
    /// built unless given.
    #[schemars(length(min = 1))]
    pub(crate) workdir: Option<String>,
    /// `http://HOST[:PORT]` of a service that runs already, for the runtime `external`.
    pub(crate) url: Option<String>,
    /// Command that prints a version receipt, with the same placeholders.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub(crate) version: Vec<String>,
    /// The wanted JDK of JVM contenders.
    #[schemars(range(min = 8))]
    pub(crate) jdk: Option<u32>,
    /// Do not make the bare contender, only its variants.
    #[serde(default)]
    pub(crate) only_variants: bool,
}

/// The image a contender is put into, or is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ImageTable {
    /// An image that is the service already: it is started as it is, by its own entry point.
    #[schemars(length(min = 1))]
    pub(crate) name: Option<String>,
    /// Replaces that entry point, as `ENTRYPOINT` of the image and `command` of a Pod do.
    pub(crate) entrypoint: Option<Vec<String>>,
    /// Replaces the arguments of that entry point, as `CMD` of the image and `command` of a compose
    /// file do.
    pub(crate) arguments: Option<Vec<String>>,
    /// Files and folders of this host that a container of that image can read: `SOURCE:TARGET`,
    /// relative to the contender's folder.
    pub(crate) volumes: Option<Vec<String>>,
    /// `debian` (unless given), `scratch`, `jre-17`, `jre-25` or a registry image.
    pub(crate) base: Option<String>,
}

/// A command that does a part of the work of requests, and nothing else. The last line that it
/// prints is the CPU time that this took, in seconds, without start and warm-up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ProbeTable {
    /// The name of the part.
    #[schemars(extend("x-text" = "name"))]
    pub(crate) name: String,
    /// The command, with the placeholders of `run`, and `{operations}`.
    #[schemars(length(min = 1))]
    pub(crate) command: Vec<String>,
    /// How often the work is done: what `{operations}` stands for.
    #[schemars(range(min = 1))]
    pub(crate) operations: u32,
}

/// The values that a variant replaces. Tables are merged by key, lists are replaced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct VariantTable {
    /// One line for a person.
    pub(crate) describe: Option<String>,
    /// Programming language, lower case.
    pub(crate) language: Option<String>,
    /// A caveat that the report shows next to the numbers.
    pub(crate) note: Option<String>,
    /// The contender of which reports state its numbers as a share.
    #[schemars(length(min = 1))]
    pub(crate) baseline: Option<String>,
    /// Lines of its log for each successful request at least.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub(crate) log_lines_min: Option<f64>,
    /// Toolchains without which it cannot be built or run.
    pub(crate) needs: Option<Vec<String>>,
    /// Build command.
    #[schemars(length(min = 1))]
    pub(crate) build: Option<Vec<String>>,
    /// The artifact of the build.
    pub(crate) artifact: Option<String>,
    /// Command that starts it.
    #[schemars(length(min = 1))]
    pub(crate) run: Option<Vec<String>>,
    /// Where that starts.
    #[schemars(length(min = 1))]
    pub(crate) workdir: Option<String>,
    /// A service that runs already.
    pub(crate) url: Option<String>,
    /// Command that prints a version receipt.
    #[schemars(length(min = 1))]
    pub(crate) version: Option<Vec<String>>,
    /// The wanted JDK of JVM contenders.
    #[schemars(range(min = 8))]
    pub(crate) jdk: Option<u32>,
    /// The image it is put into.
    #[serde(default)]
    pub(crate) image: ImageTable,
    /// Its own environment.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Extra environment of the build.
    #[serde(default)]
    pub(crate) build_env: BTreeMap<String, String>,
    /// The variant's own matrix, instead of the contender's; an empty table takes it away.
    pub(crate) matrix: Option<BTreeMap<String, MatrixValues>>,
}

/// The values of one parameter.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct MatrixValues(#[schemars(length(min = 1))] pub(crate) Vec<String>);
