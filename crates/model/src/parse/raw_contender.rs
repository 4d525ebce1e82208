//! `contender.toml` as people write it; a sibling of [`super::raw`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::suite::container::ContainerSettings;

/// `contender.toml`: one system under test and its variants.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ContenderFile {
    /// The contender, how it is built and how it is run.
    pub contender: ContenderTable,
    /// The image it is put into.
    #[serde(default)]
    pub image: ImageTable,
    /// Parts of the work of its requests that it can do alone, so that their share is known.
    #[serde(default)]
    pub probe: Vec<ProbeTable>,
    /// The contender's own environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Extra environment of the build.
    #[serde(default)]
    pub build_env: BTreeMap<String, String>,
    /// Variants by name; each becomes the contender `NAME/VARIANT`.
    #[serde(default)]
    pub variant: BTreeMap<String, VariantTable>,
    /// Environment variable -> values; each combination is a case.
    #[serde(default)]
    pub matrix: BTreeMap<String, MatrixValues>,
}

/// A contender, how it is built and how it is run.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ContenderTable {
    /// The name of its folder.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// One line for a person.
    #[serde(default)]
    pub describe: String,
    /// Programming language, lower case.
    #[serde(default)]
    pub language: String,
    /// A caveat that the report shows next to the numbers.
    pub note: Option<String>,
    /// The contender of which reports state its numbers as a share, `http4s/vanilla`; its variants
    /// have the same one, the one that is named has none.
    #[schemars(length(min = 1))]
    pub baseline: Option<String>,
    /// Lines of its log that it writes for each successful request at least, instead of the
    /// suite's `log-lines-min`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub log_lines_min: Option<f64>,
    /// Toolchains without which it cannot be built or run; a missing one skips it with one line.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Build command, run in a copy of the folder; absent when there is nothing to build.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub build: Vec<String>,
    /// The artifact of the build, relative to that copy: a file or a folder. Absent if `run` needs
    /// none, such as a program that is installed.
    pub artifact: Option<String>,
    /// Command that starts the contender, with `{artifact}`, `{java}` and `{jvm-options}`. Absent
    /// if there is only an image or a URL.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub run: Vec<String>,
    /// Where `run` starts, absolute or relative to the contender's folder; the copy in which it is
    /// built unless given.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// `http://HOST[:PORT]` of a service that runs already, for the runtime `external`.
    pub url: Option<String>,
    /// Command that prints a version receipt, with the same placeholders.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub version: Vec<String>,
    /// The wanted JDK of JVM contenders.
    #[schemars(range(min = 8))]
    pub jdk: Option<u32>,
    /// Do not make the bare contender, only its variants.
    #[serde(default)]
    pub only_variants: bool,
}

/// The image a contender is put into, or is.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ImageTable {
    /// An image that is the service already: it is started as it is, by its own entry point.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Replaces the image's entry point, as `ENTRYPOINT` of an image and `command` of a Pod do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    /// Replaces the arguments of the image's entry point, as `CMD` of an image and `command` in a
    /// compose file do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Vec<String>>,
    /// Files and folders of this host that a container of that image can read: `SOURCE:TARGET`,
    /// relative to the contender's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<Vec<String>>,
    /// How a container of that image is started besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<ContainerSettings>,
    /// `debian` (unless given), `scratch`, `jre-17`, `jre-25` or a registry image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// A command that does a part of the work of requests, and nothing else. The last line that it
/// prints is the CPU time that this took, in seconds, without start and warm-up.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProbeTable {
    /// The name of the part.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// The command, with the placeholders of `run`, and `{operations}`.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// How often the work is done: what `{operations}` stands for.
    #[schemars(range(min = 1))]
    pub operations: u32,
}

/// The values that a variant replaces. Tables are merged by key, lists are replaced.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VariantTable {
    /// One line for a person.
    pub describe: Option<String>,
    /// Programming language, lower case.
    pub language: Option<String>,
    /// A caveat that the report shows next to the numbers.
    pub note: Option<String>,
    /// The contender of which reports state its numbers as a share.
    #[schemars(length(min = 1))]
    pub baseline: Option<String>,
    /// Lines of its log for each successful request at least.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub log_lines_min: Option<f64>,
    /// Toolchains without which it cannot be built or run.
    pub needs: Option<Vec<String>>,
    /// Build command.
    #[schemars(length(min = 1))]
    pub build: Option<Vec<String>>,
    /// The artifact of the build.
    pub artifact: Option<String>,
    /// Command that starts the variant.
    #[schemars(length(min = 1))]
    pub run: Option<Vec<String>>,
    /// Folder in which `run` starts.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// A service that runs already.
    pub url: Option<String>,
    /// Command that prints a version receipt.
    #[schemars(length(min = 1))]
    pub version: Option<Vec<String>>,
    /// The wanted JDK of JVM contenders.
    #[schemars(range(min = 8))]
    pub jdk: Option<u32>,
    /// The image it is put into.
    #[serde(default)]
    pub image: ImageTable,
    /// The variant's own environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Extra environment of the build.
    #[serde(default)]
    pub build_env: BTreeMap<String, String>,
    /// The variant's own matrix, instead of the contender's; an empty table takes it away.
    pub matrix: Option<BTreeMap<String, MatrixValues>>,
}

/// The values of one parameter.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct MatrixValues(#[schemars(length(min = 1))] pub Vec<String>);
