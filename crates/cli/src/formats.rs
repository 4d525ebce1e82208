//! The file formats that have a JSON Schema, the event stream among them.

/// Every schema as (file name in `docs/schema/`, text).
pub(crate) fn schemas() -> Vec<(&'static str, String)> {
    let mut schemas = bakeoff_model::schema::schemas();
    schemas.push(bakeoff_store::event::schema());
    schemas
}

/// Returns the name of a format on the command line: its file's name up to the first dot.
pub(crate) fn name(file: &'static str) -> &'static str {
    file.split('.').next().unwrap_or(file)
}

/// The names of the formats on the command line. Written down, because every start of the program
/// needs them and none should have to make the schemas for it.
pub(crate) const NAMES: [&str; 9] = [
    "suite",
    "published",
    "checks",
    "contender",
    "plan",
    "load-spec",
    "load-event",
    "record",
    "event",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NAMES, name, schemas};

    #[test]
    fn the_names_are_those_of_the_schemas() {
        let names: Vec<&str> = schemas().iter().map(|(file, _)| name(file)).collect();
        assert_eq!(names, NAMES);
    }

    #[test]
    fn the_published_schemas_are_those_of_the_code() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
        for (file, text) in schemas() {
            let published = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
            assert!(
                published == text,
                "{file} is stale: run `cargo xtask schema`"
            );
        }
        let mut files: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut known: Vec<&str> = schemas().iter().map(|(file, _)| *file).collect();
        known.sort_unstable();
        assert_eq!(files, known, "docs/schema has other files");
    }
}
