//! `.proto` files as people have them: with imports that lie elsewhere, a byte order mark, or an
//! edition instead of a syntax. Options do not change messages, except those of Protocol Buffers
//! itself, so all others are dropped, and imports that only they need may be missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bakeoff_base::problem::Problem;
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FileDescriptorProto, UninterpretedOption,
};
use protox::Error;
use protox::file::{File, FileResolver, GoogleFileResolver, IncludeFileResolver};

/// Compiles a source file with its imports to a set of descriptors.
///
/// # Errors
/// The file or an import cannot be read, or something in it is not found.
pub(crate) fn compiled(file: &Path) -> Result<Vec<u8>, Problem> {
    let file = file.canonicalize().map_err(Problem::new)?;
    // Imports are relative to a root that no file names: the nearest folder for which most of them
    // resolve.
    let mut best: Option<Compiled> = None;
    for folder in file.ancestors().skip(1) {
        let found = Compiled::new(folder, &file);
        // What lacks an import compiles if only options need it.
        let lacks = |one: &Compiled| (one.descriptors.is_err(), one.missing.len());
        let is_best = best.as_ref().is_none_or(|best| lacks(&found) < lacks(best));
        if is_best {
            best = Some(found);
        }
        if best.as_ref().is_some_and(|best| best.missing.is_empty()) {
            break;
        }
    }
    let best = best.ok_or("it lies in no folder")?;
    best.descriptors
        .map_err(|why| match best.missing.as_slice() {
            [] => why,
            names => {
                let names = names.join(", ");
                let what = "imports that are in no folder above it";
                Problem::new(format!("{}; {what}: {names}", why.message()))
            }
        })
}

/// A file that is compiled with imports relative to one folder.
struct Compiled {
    descriptors: Result<Vec<u8>, Problem>,
    /// The imports that are not there.
    missing: Vec<String>,
}

impl Compiled {
    fn new(root: &Path, file: &Path) -> Self {
        let missing = Arc::default();
        let mut compiler = protox::Compiler::with_file_resolver(Sources {
            root: root.to_owned(),
            missing: Arc::clone(&missing),
        });
        compiler.include_imports(true);
        let opened = compiler.open_file(file).map_err(Problem::new);
        let descriptors = opened.map(|compiler| compiler.encode_file_descriptor_set());
        let mut missing = missing.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            descriptors,
            missing: std::mem::take(&mut missing),
        }
    }
}

/// The files below a root. One that is missing is empty.
struct Sources {
    root: PathBuf,
    missing: Arc<Mutex<Vec<String>>>,
}

impl FileResolver for Sources {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        IncludeFileResolver::new(self.root.clone()).resolve_path(path)
    }

    fn open_file(&self, name: &str) -> Result<File, Error> {
        let path = self.root.join(name);
        if path.is_file() {
            let text = fs::read_to_string(path).map_err(Error::new)?;
            let text = with_syntax(text.trim_start_matches('\u{feff}'))?;
            let mut file = FileDescriptorProto::from(File::from_source(name, &text)?);
            drop_options(&mut file);
            return Ok(file.into());
        }
        match GoogleFileResolver::new().open_file(name) {
            Err(error) if error.is_file_not_found() => {
                let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
                missing.push(name.to_owned());
                File::from_source(name, "")
            }
            found => found,
        }
    }
}

/// Replaces an edition by the syntax `proto3`, whose bytes are those of an edition's defaults; only
/// fields that are set to their default values are not sent.
fn with_syntax(text: &str) -> Result<String, Error> {
    let is_edition = |line: &&str| {
        let value = line.trim_start().strip_prefix("edition");
        let value = value.and_then(|rest| rest.trim_start().strip_prefix('='));
        value.is_some_and(|value| value.trim_start().starts_with(['"', '\'']))
    };
    let Some(line) = text.lines().find(is_edition) else {
        return Ok(text.to_owned());
    };
    if text.contains("DELIMITED") {
        return Err(Error::new(
            "its edition of Protocol Buffers has DELIMITED fields, and only those of proto2 and \
             proto3 can be sent",
        ));
    }
    let end = &line[line.find(';').unwrap_or(line.len())..];
    Ok(text.replacen(line, &format!("syntax = \"proto3\"{end}"), 1))
}

/// Drops options that are no part of Protocol Buffers itself, and those of editions.
fn drop_options(file: &mut FileDescriptorProto) {
    drop_in(
        file.options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for service in &mut file.service {
        drop_in(
            service
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
        for method in &mut service.method {
            drop_in(
                method
                    .options
                    .as_mut()
                    .map(|one| &mut one.uninterpreted_option),
            );
        }
    }
    for field in &mut file.extension {
        drop_in(
            field
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    file.enum_type.iter_mut().for_each(drop_of_enum);
    file.message_type.iter_mut().for_each(drop_of_message);
}

fn drop_of_message(message: &mut DescriptorProto) {
    drop_in(
        message
            .options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for field in message.field.iter_mut().chain(&mut message.extension) {
        drop_in(
            field
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    for oneof in &mut message.oneof_decl {
        drop_in(
            oneof
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    for range in &mut message.extension_range {
        drop_in(
            range
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
    message.enum_type.iter_mut().for_each(drop_of_enum);
    message.nested_type.iter_mut().for_each(drop_of_message);
}

fn drop_of_enum(one: &mut EnumDescriptorProto) {
    drop_in(
        one.options
            .as_mut()
            .map(|one| &mut one.uninterpreted_option),
    );
    for value in &mut one.value {
        drop_in(
            value
                .options
                .as_mut()
                .map(|one| &mut one.uninterpreted_option),
        );
    }
}

fn drop_in(options: Option<&mut Vec<UninterpretedOption>>) {
    let is_other = |option: &UninterpretedOption| {
        let mut parts = option.name.iter();
        parts.any(|part| part.is_extension || part.name_part == "features")
    };
    if let Some(options) = options {
        options.retain(|option| !is_other(option));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::Schema;

    /// The paths of the methods of a file in a folder, or why there are none.
    fn check(text: &str, expect: Result<&[&str], &str>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.proto");
        fs::write(&file, text).unwrap();
        match (Schema::from_files(&[file]), expect) {
            (Ok(schema), Ok(paths)) => assert_eq!(schema.paths(), paths, "{text}"),
            (Err(why), Err(part)) => assert!(why.message().contains(part), "{why}"),
            (found, _) => panic!("{text}: {:?}", found.map(|one| one.paths())),
        }
    }

    #[test]
    fn what_only_options_need_may_be_missing() {
        let service = "service S { rpc M(Q) returns (Q) { option (h.rule) = { get: \"/q\" }; } }
            message Q { option (v.on) = true; string a = 1 [(v.len).max = 3, deprecated = true];
                enum E { Z = 0 [(v.x) = 1]; } oneof o { option (v.needed) = true; int32 b = 2; } }";
        let proto3 = format!("syntax = \"proto3\";\nimport \"h/rule.proto\";\n{service}");
        check(&proto3, Ok(&["/S/M"]));
        let edition = "\u{feff}edition = \"2023\"; option features.(go).api = OPAQUE;\n";
        check(&format!("{edition}{service}"), Ok(&["/S/M"]));
    }

    #[test]
    fn what_messages_need_is_named() {
        check(
            "syntax = \"proto3\";\nimport \"gone.proto\";\nmessage Q { Gone a = 1; }",
            Err("imports that are in no folder above it: gone.proto"),
        );
        check(
            "edition = \"2023\";\nmessage Q { Q a = 1 [features.message_encoding = DELIMITED]; }",
            Err("DELIMITED"),
        );
    }
}
