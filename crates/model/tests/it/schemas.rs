//! The JSON Schemas in `docs/schema/` are those of the code. That there are no others is a test of
//! the command line, which has one more: that of the event stream.

use std::fs;
use std::path::Path;

use bakeoff_model::schema;

#[test]
fn schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for (name, text) in schema::schemas() {
        let found = fs::read_to_string(folder.join(name)).unwrap();
        assert!(
            found == text,
            "docs/schema/{name} is stale; run `cargo xtask schema`"
        );
    }
}
