//! Variables of a file: its own, those of the environment, and those that editors make anew for
//! each request. Pure but for the environment and the time, which functions read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::outside::Outside;
use crate::scalar::as_text;

/// The files of editors that have variables, in environments such as `dev`; the values of the
/// second stay out of version control.
const ENVIRONMENTS: [&str; 2] = ["http-client.env.json", "http-client.private.env.json"];

/// The variables of all environments.
const SHARED: &str = "$shared";

/// Variables, and what was made of the others.
pub(super) struct Variables<'a> {
    pub(super) outside: Outside<'a>,
    /// The values, or why there is none.
    all: BTreeMap<String, Result<String, String>>,
    /// The names of variables of which there was to be a new value for each request.
    made: Vec<String>,
    /// How many values were made.
    count: u64,
    /// The environment that is taken, and the names of the variables in it.
    environment: Option<String>,
    of_environment: BTreeSet<String>,
    is_environment_used: bool,
    /// The names of variables without a value that stand for a host.
    hosts: Vec<String>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(outside: Outside<'a>) -> Self {
        let mut variables = Self {
            outside,
            all: BTreeMap::new(),
            made: Vec::new(),
            count: 0,
            environment: None,
            of_environment: BTreeSet::new(),
            is_environment_used: false,
            hosts: Vec::new(),
        };
        for name in ENVIRONMENTS {
            if let Ok(bytes) = (outside.file)(name) {
                variables.add_environment(&bytes);
            }
        }
        variables
    }

    /// Adds the variables of the first environment in a file, and those of all environments.
    fn add_environment(&mut self, file: &[u8]) {
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        let Ok(Value::Object(environments)) = serde_json::from_slice::<Value>(file) else {
            return;
        };
        let own = environments.keys().find(|name| *name != SHARED).cloned();
        let own = self.environment.clone().or(own);
        for name in [Some(SHARED.to_owned()), own.clone()].into_iter().flatten() {
            let values = environments.get(&name).and_then(Value::as_object);
            for (name, value) in values.into_iter().flatten() {
                if let Some(value) = as_text(value) {
                    self.all.insert(name.clone(), Ok(value));
                    self.of_environment.insert(name.clone());
                }
            }
        }
        self.environment = own;
    }

    /// Whether a variable is defined, or is one of those that are never.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = name.trim_start_matches('%');
        self.all.contains_key(name) || name.starts_with('$') || is_of_another_request(name)
    }

    /// Keeps the name of a variable that stands for a host.
    pub(super) fn is_host(&mut self, name: &str) {
        if !self.hosts.iter().any(|one| one == name) {
            self.hosts.push(name.to_owned());
        }
    }

    /// Sets a variable.
    pub(super) fn define(&mut self, number: usize, name: &str, value: &str) {
        let value = self.filled(value);
        let value = value.map_err(|why| format!("{why} (line {number})"));
        self.of_environment.remove(name);
        self.all.insert(name.to_owned(), value);
    }

    /// Returns the text with the values of its variables.
    ///
    /// # Errors
    /// Why there is no value for one of them.
    pub(super) fn filled(&mut self, text: &str) -> Result<String, String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                break;
            };
            filled.push_str(before);
            filled.push_str(&self.value(name.trim())?);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&mut self, name: &str) -> Result<String, String> {
        if let Some(name) = name.strip_prefix('$') {
            return self.dynamic(name);
        }
        let name = name.trim_start_matches('%');
        if let Some(value) = self.all.get(name) {
            self.is_environment_used |= self.of_environment.contains(name);
            return value.clone();
        }
        if is_of_another_request(name) {
            return Err(format!(
                "{{{{{name}}}}} comes from another request; `@token = ...` gives it a value"
            ));
        }
        Err(format!(
            "{{{{{name}}}}} has no value; `@{name} = ...` gives it one"
        ))
    }

    /// Returns a value for a variable that editors make anew for each request. Here it is made
    /// once, and the note says so.
    fn dynamic(&mut self, text: &str) -> Result<String, String> {
        let mut words = text
            .split([' ', '(', ',', ')'])
            .filter(|word| !word.is_empty());
        let name = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        if let Some(name) = name
            .strip_prefix("env.")
            .or_else(|| match (name, &words[..]) {
                ("processEnv", [name]) => Some(*name),
                _ => None,
            })
        {
            let value = (self.outside.variable)(name);
            return value.ok_or_else(|| format!("the variable {name} is not set"));
        }
        self.count += 1;
        let value = match name {
            "guid" | "uuid" | "random.uuid" => uuid(self.count),
            "randomInt" | "random.integer" => integer(&words, self.count)
                .ok_or_else(|| format!("{{{{${name}}}}} has two numbers: `{{{{${name} 1 9}}}}`"))?,
            "timestamp" => {
                let now = (self.outside.now_s)();
                let moved = now.checked_add_signed(offset_s(&words).unwrap_or_default());
                moved.unwrap_or(now).to_string()
            }
            "isoTimestamp" | "datetime" | "localDatetime" => {
                return Err(format!(
                    "{{{{${name}}}}} is the time at which each request is sent; write one"
                ));
            }
            "dotenv" => {
                return Err(format!(
                    "{{{{${name}}}}} is in a file `.env`; write the value"
                ));
            }
            _ => return Err(format!("{{{{${name}}}}} is not known; write a value")),
        };
        let name = format!("${name}");
        if !self.made.contains(&name) {
            self.made.push(name);
        }
        Ok(value)
    }

    /// Returns the notes about where values come from: those that are the same in all requests, the
    /// environment, and hosts without one.
    pub(super) fn notes(&self) -> Vec<String> {
        let names = self.made.join(", ");
        let made = (!self.made.is_empty()).then(|| {
            format!(
                "{names}: one value is made now and sent every time; for a new one in each \
                 request, write a suite with a scenario and feeds"
            )
        });
        let environment = self
            .environment
            .as_ref()
            .filter(|_| self.is_environment_used);
        let environment = environment.map(|name| {
            let file = ENVIRONMENTS[0];
            format!("variables that the file does not define are those of {name} in {file}")
        });
        let names = self.hosts.join(", ");
        let hosts = (!self.hosts.is_empty())
            .then(|| format!("without a value, and taken for the host, without a path: {names}"));
        [made, environment, hosts].into_iter().flatten().collect()
    }
}

/// Whether a variable has its value from a response, or from another request.
fn is_of_another_request(name: &str) -> bool {
    name.contains(".response.") || name.contains(".request.")
}

/// Returns a UUID of version 4 by its number: another import makes the same ones.
fn uuid(number: u64) -> String {
    format!("ba4e0ff0-0000-4000-8000-{number:012x}")
}

/// Returns a number from the first to below the last, by the number of the value.
fn integer(words: &[&str], number: u64) -> Option<String> {
    let (from, to): (i64, i64) = match words {
        [] => (0, 1000),
        [from, to] => (from.parse().ok()?, to.parse().ok()?),
        _ => return None,
    };
    let span = u64::try_from(to.checked_sub(from)?)
        .ok()
        .filter(|span| *span > 0)?;
    // A step that is no divisor of usual spans.
    let step = number.wrapping_mul(7919) % span;
    from.checked_add_unsigned(step)
        .map(|number| number.to_string())
}

/// Returns the seconds of `-1 d`.
fn offset_s(words: &[&str]) -> Option<i64> {
    let [count, unit] = words else {
        return None;
    };
    let unit: i64 = match *unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        "M" => 30 * 86_400,
        "y" => 365 * 86_400,
        _ => return None,
    };
    count.parse::<i64>().ok()?.checked_mul(unit)
}
