//! Hands the versions of what is compiled in to `--version`.

use std::{env, fs, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = fs::read_to_string("Cargo.lock").expect("the package has a Cargo.lock");
    for package in ["axum", "hyper", "tokio", "sqlx"] {
        let variable = package.replace('-', "_").to_uppercase();
        let version = locked_version(&lock, package);
        println!("cargo::rustc-env={variable}_VERSION={version}");
    }
    println!("cargo::rustc-env=RUSTC_VERSION={}", rustc_version());
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let profile = env::var("PROFILE").expect("cargo sets PROFILE");
    println!("cargo::rustc-env=BUILD={target} {profile}");
}

fn locked_version<'a>(lock: &'a str, package: &str) -> &'a str {
    let name = format!("name = \"{package}\"");
    lock.lines()
        .skip_while(|line| *line != name)
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .expect("a locked dependency has a version")
}

fn rustc_version() -> String {
    let rustc = env::var("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output();
    let output = output.expect("the compiler that builds this runs");
    String::from_utf8(output.stdout)
        .expect("rustc prints UTF-8")
        .trim()
        .to_owned()
}
