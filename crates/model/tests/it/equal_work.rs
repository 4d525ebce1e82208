//! `docs/EQUAL-WORK.md` says what the contenders' files say: versions, JDKs, pools and options.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_model::suite::{Contender, Suite};
use bakeoff_model::text::names;
use regex::Regex;

use crate::repository::{entries, suites};

const PAGE: &str = include_str!("../../../../docs/EQUAL-WORK.md");

/// Headers of the columns that are more than text in code font.
const CONTENDER: &str = "contender";
const VERSIONS: &str = "versions";
const NOTED: &str = "noted in reports";
const JDK: &str = "JDK";

/// Cells by header.
type Row = BTreeMap<String, String>;

/// A table of the page whose rows are contenders.
type Table = Vec<Row>;

/// A version that the page names for a package, or that a manifest has.
type Package = (String, String);

/// The part of the page about a suite.
fn section(suite: &str) -> Vec<&'static str> {
    let heading = format!("# Suite {suite}");
    let after = PAGE.lines().skip_while(|line| *line != heading).skip(1);
    after.take_while(|line| !line.starts_with("# ")).collect()
}

/// The tables of a part of the page that have a row for each contender.
fn tables(section: &[&str]) -> Vec<Table> {
    let blocks = section.split(|line| !line.starts_with('|'));
    let tables = blocks.filter_map(|lines| {
        let (head, rows) = lines.split_first()?;
        let headers = cells(head);
        let row = |line: &&str| headers.iter().cloned().zip(cells(line)).collect();
        (headers[0] == CONTENDER).then(|| rows[1..].iter().map(row).collect())
    });
    tables.collect()
}

fn cells(line: &str) -> Vec<String> {
    let inner = line.trim_matches('|').split('|');
    inner.map(|cell| cell.trim().to_owned()).collect()
}

/// Texts in code font, and the rest of the cell.
fn spans(cell: &str) -> (Vec<&str>, String) {
    let parts: Vec<&str> = cell.split('`').collect();
    let code = parts.iter().skip(1).step_by(2).copied().collect();
    (code, parts.iter().step_by(2).copied().collect())
}

/// The rows of a table by the contender, or the contenders, that each is about; what is wrong with
/// the first column is a complaint.
fn assigned<'a>(
    table: &'a Table,
    suite: &'a Suite,
    complaints: &mut Vec<String>,
) -> Vec<(&'a Row, Vec<&'a Contender>)> {
    let name = |row: &'a Row| row[CONTENDER].trim_matches('`');
    let is_variant = |one: &Contender| {
        let mut rows = table.iter().map(name).filter(|glob| glob.contains('/'));
        rows.any(|glob| names::matches(glob, &one.name))
    };
    let of = |row: &'a Row| -> Vec<&Contender> {
        let all = suite.contenders.iter();
        match name(row).contains('/') {
            true => all
                .filter(|one| names::matches(name(row), &one.name))
                .collect(),
            false => all
                .filter(|one| one.folder == name(row) && !is_variant(one))
                .collect(),
        }
    };
    let rows: Vec<_> = table.iter().map(|row| (row, of(row))).collect();
    for (row, contenders) in &rows {
        if contenders.is_empty() {
            complaints.push(format!(
                "{}: there is no contender {}",
                suite.name,
                name(row)
            ));
        }
    }
    for one in &suite.contenders {
        let count = rows
            .iter()
            .flat_map(|(_, all)| all)
            .filter(|other| other.name == one.name);
        let count = count.count();
        if count != 1 {
            let message = format!("{}: {} has {count} rows in a table", suite.name, one.name);
            complaints.push(message);
        }
    }
    rows
}

/// Packages and versions of a cell: `` `axum` 0.8.9, `sqlx` 0.8.6 ``.
fn packages(cell: &str) -> Vec<Package> {
    let form = Regex::new(r"^`([^`]+)` (\S+)$").unwrap();
    let parts = cell.split(", ").filter(|part| !part.is_empty());
    let package = |part: &str| {
        let found = form.captures(part);
        let found = found.unwrap_or_else(|| panic!("no package and version: {part}"));
        (found[1].to_owned(), found[2].to_owned())
    };
    parts.map(package).collect()
}

/// The packages of a contender, by its lock file or its `pom.xml`.
fn built_of(folder: &Path, contender: &Contender) -> BTreeSet<Package> {
    let lock = folder.join("Cargo.lock");
    if lock.is_file() {
        let lock: toml::Table = toml::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
        let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
        let packages = lock["package"].as_array().unwrap().iter();
        return packages
            .map(|package| (text(package, "name"), text(package, "version")))
            .collect();
    }
    let pom = fs::read_to_string(folder.join("pom.xml")).unwrap();
    let profile = contender
        .build
        .iter()
        .find_map(|word| word.strip_prefix("-P"));
    let mut properties = properties(&pom);
    if let Some(profile) = profile {
        let (_, rest) = pom.split_once(&format!("<id>{profile}</id>")).unwrap();
        properties.extend(self::properties(rest));
    }
    artifacts(&pom, &properties)
}

/// The first properties of a text.
fn properties(pom: &str) -> BTreeMap<String, String> {
    let (_, rest) = pom.split_once("<properties>").unwrap_or_default();
    let (inner, _) = rest.split_once("</properties>").unwrap_or_default();
    let form = Regex::new(r"<([\w.-]+)>([^<]*)</").unwrap();
    let pairs = form.captures_iter(inner);
    pairs
        .map(|pair| (pair[1].to_owned(), pair[2].to_owned()))
        .collect()
}

/// Artifacts that have a version, without the version of Scala in their names.
fn artifacts(pom: &str, properties: &BTreeMap<String, String>) -> BTreeSet<Package> {
    let form = r"<artifactId>([^<]+)</artifactId>\s*<version>([^<]+)</version>";
    let form = Regex::new(form).unwrap();
    let scala = Regex::new(r"_(\d[\d.]*|\$\{scala\.binary\.version\})$").unwrap();
    let artifact = |found: regex::Captures<'_>| {
        let mut version = found[2].to_owned();
        while let Some(name) = version
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'))
        {
            // A property of Maven's own, which no page names, stays what it is.
            let Some(value) = properties.get(name) else {
                break;
            };
            version = value.clone();
        }
        (scala.replace(&found[1], "").into_owned(), version)
    };
    form.captures_iter(pom).map(artifact).collect()
}

/// The text of all files of a contender but its lock file and its own pages.
fn text_of(folder: &Path) -> String {
    let mut text = String::new();
    for path in entries(folder) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "target" => text += &text_of(&path),
            false if name != "Cargo.lock" && !name.ends_with(".md") => {
                text += &fs::read_to_string(&path).unwrap_or_default();
            }
            _ => {}
        }
    }
    text
}

/// One row of the page against the files of one contender.
struct Check<'a> {
    contender: &'a Contender,
    row: &'a Row,
    /// Of the row, or of its folder's.
    versions: &'a [Package],
    /// Names of packages that the table has anywhere.
    named: &'a BTreeSet<String>,
    folder: PathBuf,
}

impl Check<'_> {
    fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.row.contains_key(VERSIONS) {
            self.versions(&mut found);
        }
        let text = text_of(&self.folder);
        let note = self.contender.note.as_deref().unwrap_or_default();
        let jdk = self
            .contender
            .jdk
            .map(|jdk| jdk.to_string())
            .unwrap_or_default();
        for (header, cell) in self.row {
            let (code, rest) = spans(cell);
            let has_all = |text: &str| code.iter().all(|span| text.contains(span));
            match header.as_str() {
                CONTENDER | VERSIONS => {}
                NOTED if has_all(note) => {}
                NOTED => found.push(format!("its note lacks a text of {cell}: {note}")),
                JDK if *cell == jdk => {}
                JDK => found.push(format!("its JDK is {jdk:?}, not {cell:?}")),
                _ if !has_all(&text) => found.push(format!("its files lack a text of {cell}")),
                _ if self.row.contains_key(VERSIONS) && rest.contains(char::is_numeric) => {
                    found.push(format!("a number that no file is asked for: {cell}"));
                }
                _ => {}
            }
        }
        let name = &self.contender.name;
        found.iter().map(|text| format!("{name}: {text}")).collect()
    }

    fn versions(&self, found: &mut Vec<String>) {
        let built_of = built_of(&self.folder, self.contender);
        for (name, version) in self.versions {
            if !built_of.contains(&(name.clone(), version.clone())) {
                found.push(format!("it is not built of {name} {version}"));
            }
        }
        for (name, version) in &built_of {
            let is_there = self.versions.iter().any(|(other, _)| other == name);
            if self.named.contains(name) && !is_there {
                found.push(format!("its row does not name {name} {version}"));
            }
        }
        if self.versions.is_empty() {
            found.push("its row names no version".to_owned());
        }
    }
}

/// Statements of one table that the files of a suite do not confirm.
fn check_table(table: &Table, suite: &Suite, folder: &Path, complaints: &mut Vec<String>) {
    let versions = |row: &Row| packages(row.get(VERSIONS).map_or("", String::as_str));
    let named = table
        .iter()
        .flat_map(versions)
        .map(|(name, _)| name)
        .collect();
    let of_folder = |contender: &Contender| {
        let folder = format!("`{}`", contender.folder);
        table
            .iter()
            .find(|row| row[CONTENDER] == folder)
            .map(versions)
    };
    for (row, contenders) in assigned(table, suite, complaints) {
        for contender in contenders {
            let mut of_row = versions(row);
            if of_row.is_empty() {
                of_row = of_folder(contender).unwrap_or_default();
            }
            let check = Check {
                contender,
                row,
                versions: &of_row,
                named: &named,
                folder: folder.join("contenders").join(&contender.folder),
            };
            complaints.extend(check.complaints());
        }
    }
}

#[test]
fn the_page_says_what_the_files_of_the_contenders_say() {
    let mut complaints = Vec::new();
    for (folder, suite) in suites() {
        let section = section(&suite.name);
        let tables = tables(&section);
        let complete = |table: &&Table| {
            let keys = [VERSIONS, NOTED, JDK];
            keys.iter().all(|key| table[0].contains_key(*key))
        };
        if tables.iter().filter(complete).count() != 1 {
            complaints.push(format!("{}: no table of versions and settings", suite.name));
        }
        for table in &tables {
            check_table(table, &suite, &folder, &mut complaints);
        }
        let files = fs::read_to_string(folder.join("suite.toml")).unwrap();
        let files = files + &text_of(&folder.join("contenders"));
        let section = section.join("\n");
        let settings = spans(&section)
            .0
            .into_iter()
            .filter(|span| span.contains(" = "));
        for setting in settings.filter(|setting| !files.contains(setting)) {
            complaints.push(format!("{}: no file of it has {setting}", suite.name));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
