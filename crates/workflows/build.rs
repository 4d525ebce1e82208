//! Makes the suite that `init --like locations` starts from a part of the program: its files, by
//! their paths, as `OUT_DIR/locations.rs`. They are read from the repository, or, in a packaged
//! crate, which has nothing of what is around its folder, from the copies that
//! `cargo xtask package` puts into `bundled`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const LIST: &str = "src/init/locations.files";
const SUITE: &str = "../../suites/locations";
const COPIES: &str = "bundled";
/// A copy's name ends so: Cargo leaves out folders that have a `Cargo.toml`.
const SUFFIX: &str = ".file";

fn main() {
    let package = folder("CARGO_MANIFEST_DIR");
    let list = fs::read_to_string(package.join(LIST)).expect("the list of files is in the package");
    println!("cargo::rerun-if-changed={LIST}");
    let mut code = String::from("&[\n");
    for file in list.lines() {
        let from = source(&package, file);
        println!("cargo::rerun-if-changed={}", from.display());
        let from = from.display().to_string();
        writeln!(code, "({file:?}, include_bytes!({from:?}).as_slice()),")
            .expect("a string takes all text");
    }
    code.push_str("]\n");
    fs::write(folder("OUT_DIR").join("locations.rs"), code).expect("OUT_DIR can be written");
}

fn folder(variable: &str) -> PathBuf {
    env::var_os(variable).expect("Cargo sets it").into()
}

/// Where a file of the suite is.
fn source(package: &Path, file: &str) -> PathBuf {
    let original = package.join(SUITE).join(file);
    match original.exists() {
        true => original,
        false => package.join(COPIES).join(format!("{file}{SUFFIX}")),
    }
}
