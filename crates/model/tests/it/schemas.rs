//! The JSON Schemas in `docs/schema/` are those of the code.

use std::fs;
use std::path::Path;

use bakeoff_model::schema;

#[test]
fn schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut known: Vec<&str> = schema::schemas().iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(
        names, known,
        "docs/schema has other files; run `cargo xtask schema`"
    );
    for (name, text) in schema::schemas() {
        let found = fs::read_to_string(folder.join(name)).unwrap();
        assert!(
            found == text,
            "docs/schema/{name} is stale; run `cargo xtask schema`"
        );
    }
}
