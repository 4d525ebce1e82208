//! Converts a file of HTTP requests (`.http`, `.rest`), as editors send them, to requests: requests
//! between lines that start with `###`, variables as `@name = value` and `{{name}}`. Pure but for
//! variables, files and the time, which functions read.

mod body;
mod parts;
mod request;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeSet;

use bakeoff_base::problem::Problem;
use bakeoff_base::text::counted;

use crate::headers;
use crate::outside::Outside;
use crate::requests::{Choice, Described, Operation, RequestSource, another, may_change_data};
use request::Found;
use variables::Variables;

/// Reads the requests of a file: those to one host, and of those only the ones that change nothing,
/// unless the choice says otherwise. One that cannot be taken is left out with its line and the
/// reason.
///
/// # Errors
/// There is no request in it, or none to the chosen host.
pub fn read(text: &str, choice: &Choice, outside: Outside<'_>) -> Result<Described, Problem> {
    let text = text.trim_start_matches('\u{feff}');
    let mut variables = Variables::new(outside);
    let mut taken = Taken::default();
    for mut part in parts::of(text) {
        let later = part.take_definitions();
        match request::read(&part, &mut variables) {
            Ok(found) => taken.found.extend(found),
            Err(why) => taken.leave_out(why),
        }
        for (number, name, value) in later {
            variables.define(number, name, value);
        }
    }
    if taken.found.is_empty() && taken.left_out.is_empty() {
        return Err("no request in it".into());
    }
    let host = taken.choose_host(choice)?;
    taken.choose_reads(choice);
    Ok(taken.described(host, variables))
}

/// The requests found so far.
#[derive(Default)]
struct Taken {
    found: Vec<Found>,
    /// Requests that are left out, each with the line and the reason.
    left_out: Vec<String>,
    notes: Vec<String>,
}

impl Taken {
    fn leave_out(&mut self, why: String) {
        self.left_out.push(why);
    }

    /// Keeps the requests to one host, and returns it: the one that is named, else the one that is
    /// asked most. Requests without a host stay.
    fn choose_host(&mut self, choice: &Choice) -> Result<String, Problem> {
        let mut hosts: Vec<(String, usize)> = Vec::new();
        for host in self.found.iter().map(|found| &found.host) {
            match hosts.iter_mut().find(|(one, _)| one == host) {
                Some((_, count)) => *count += 1,
                None if host.is_empty() => {}
                None => hosts.push((host.clone(), 1)),
            }
        }
        let names: Vec<&str> = hosts.iter().map(|(host, _)| host.as_str()).collect();
        let host = match &choice.host {
            Some(named) if names.contains(&named.as_str()) => named.clone(),
            Some(named) => {
                let list = names.join(", ");
                return Err(
                    format!("no request to {named} is in it; it has some to {list}").into(),
                );
            }
            // The first of several hosts with equally many requests.
            None => match hosts.iter().rev().max_by_key(|(_, count)| *count) {
                Some((host, _)) => host.clone(),
                None => return Ok(String::new()),
            },
        };
        let all = std::mem::take(&mut self.found);
        let is_kept = |found: &Found| found.host.is_empty() || found.host == host;
        let (kept, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_kept);
        self.found = kept;
        if !others.is_empty() {
            let names: BTreeSet<&str> = others.iter().map(|one| one.host.as_str()).collect();
            let names = Vec::from_iter(names).join(", ");
            self.notes.push(format!(
                "left out: {} to other hosts ({names}); --host takes another",
                others.len()
            ));
        }
        for other in others {
            self.leave_out(format!("{}: to {}", other.shown(), other.host));
        }
        Ok(host)
    }

    /// Leaves out what may change data, unless that is asked for.
    fn choose_reads(&mut self, choice: &Choice) {
        let is_kept = |found: &Found| choice.writes || !may_change_data(&found.operation.method);
        let all = std::mem::take(&mut self.found);
        let (kept, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_kept);
        self.found = kept;
        if !others.is_empty() {
            self.notes.push(format!(
                "left out: {} that may change data; --writes takes them",
                others.len()
            ));
        }
        for other in others {
            self.leave_out(format!("{}: it may change data", other.shown()));
        }
    }

    fn described(self, host: String, variables: Variables<'_>) -> Described {
        let mut notes = self.notes;
        if !host.is_empty() {
            notes.insert(
                0,
                format!("all are sent to {host} in it; here, to where contenders listen"),
            );
        }
        let mut operations: Vec<Operation> = Vec::new();
        let mut dropped = Vec::new();
        let mut scripts = 0;
        for Found {
            mut operation,
            has_script,
            ..
        } in self.found
        {
            for name in headers::without_connection(&mut operation.headers) {
                if !dropped.contains(&name) {
                    dropped.push(name);
                }
            }
            scripts += u64::from(has_script);
            let is_taken = |name: &str| operations.iter().any(|one| one.name == name);
            operation.name = another(operation.name, is_taken);
            operations.push(operation);
        }
        notes.extend(headers::note(&dropped));
        if scripts > 0 {
            let count = counted(scripts, "request");
            notes.push(format!(
                "what is done with the responses to {count} is left out"
            ));
        }
        notes.extend(variables.notes());
        Described {
            source: RequestSource::Requests,
            operations,
            left_out: self.left_out,
            notes,
        }
    }
}
