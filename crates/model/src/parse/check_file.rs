//! Rules for the files of `checks/` that a schema cannot express.

use std::collections::{BTreeMap, BTreeSet};

use super::raw_checks::{CheckTable, ChecksFile};
use super::request;
use super::source::{KeyPath, Reading};
use crate::request::check::{Check, Expect};
use crate::text::names;

/// The group in which the tool records its own checks.
const LIFECYCLE_GROUP: &str = "lifecycle";

/// All checks in order; `files` belong to `readings` by index.
pub(super) fn checks(readings: &mut [Reading<'_>], files: Vec<Option<ChecksFile>>) -> Vec<Check> {
    let mut named = BTreeMap::new();
    let mut tables = Vec::new();
    for (position, file) in files.into_iter().enumerate() {
        let Some(file) = file else { continue };
        for (name, expect) in file.expect {
            let place = KeyPath::root().key("expect").key(&name);
            let expect = request::expect(&mut readings[position], &place, expect);
            if named.insert(name.clone(), expect).is_some() {
                let message = format!("the expectation `{name}` exists twice");
                let hint = "another file of checks/ has it already".to_owned();
                readings[position].complain(&place, &message, Some(hint));
            }
        }
        tables.push((position, file.check));
    }
    // What a file with a syntax error names may be in the part that could not be read.
    let all_known = readings.iter().all(|reading| reading.syntax_holds);
    let mut seen = BTreeSet::new();
    let mut checks = Vec::new();
    for (position, tables) in tables {
        let reading = &mut readings[position];
        for (index, table) in tables.into_iter().enumerate() {
            let place = KeyPath::root().key("check").index(index);
            if !seen.insert((table.group.clone(), table.name.clone())) {
                let (group, name) = (&table.group, &table.name);
                let message = format!("the check {name:?} of the group `{group}` exists twice");
                reading.complain(&place.key("name"), &message, None);
            }
            checks.push(check(reading, &place, table, &named, all_known));
        }
    }
    checks
}

fn check(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: CheckTable,
    named: &BTreeMap<String, Expect>,
    all_known: bool,
) -> Check {
    if table.group == LIFECYCLE_GROUP {
        let message = format!("the group `{LIFECYCLE_GROUP}` is bakeoff's own");
        let hint = Some("choose another name".to_owned());
        reading.complain(&place.key("group"), &message, hint);
    }
    let expect_place = place.key("expect");
    let own = request::expect(reading, &expect_place, table.expect.own);
    let expect = match &table.expect.like {
        None => own,
        Some(name) => match named.get(name) {
            Some(base) => merge(base.clone(), own),
            None if all_known => {
                let known: Vec<&str> = named.keys().map(String::as_str).collect();
                let hint = Some(names::suggestion(name, &known));
                let message = format!("unknown expectation `{name}`");
                reading.complain(&expect_place.key("like"), &message, hint);
                own
            }
            None => own,
        },
    };
    Check {
        headers: request::headers(reading, &place.key("headers"), &table.headers),
        body: request::body(reading, place, &table.body, table.body_repeat),
        group: table.group,
        name: table.name,
        method: table.method,
        path: table.path,
        expect,
    }
}

/// A named expectation with a check's own fields added: tables by key, the check's own winning;
/// `has` and `any-of` appended; the rest replaced if the check gives it.
fn merge(base: Expect, own: Expect) -> Expect {
    let mut merged = base;
    merged.headers.extend(own.headers);
    merged.keys.extend(own.keys);
    merged.has.extend(own.has);
    merged.values.extend(own.values);
    merged.begins.extend(own.begins);
    merged.lists.extend(own.lists);
    merged.any_of.extend(own.any_of);
    merged.json |= own.json;
    if !own.status.is_empty() {
        merged.status = own.status;
    }
    if !own.grpc_status.is_empty() {
        merged.grpc_status = own.grpc_status;
    }
    merged.contains = own.contains.or(merged.contains);
    merged.matches = own.matches.or(merged.matches);
    merged.body = own.body.or(merged.body);
    merged.body_bytes = own.body_bytes.or(merged.body_bytes);
    merged
}
