//! Variables of the environment in requests, `${env:NAME}`: credentials that no file of a suite and
//! no record has.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use bakeoff_base::hint::hinted;
use bakeoff_model::request::{Body, RequestSpec};
use bakeoff_model::suite::Suite;
use regex::{Captures, Regex};

/// A reference; with one more dollar it is text.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?<escape>\$?)\$\{env:(?<name>[A-Za-z_][A-Za-z0-9_]*)\}";
    Regex::new(pattern).expect("the pattern is valid")
});

/// Puts the values of variables into the requests of a suite. `$${env:NAME}` is the text
/// `${env:NAME}`.
///
/// # Errors
/// Variables are not set; all of them are in the error.
pub fn fill(suite: &mut Suite, variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
    let mut filling = Filling {
        variable,
        missing: BTreeSet::new(),
    };
    for check in &mut suite.checks {
        filling.fill(&mut check.path, &mut check.headers, &mut check.body);
    }
    for benchmark in &mut suite.benchmarks {
        let requests = benchmark.requests.iter_mut();
        requests.for_each(|request| filling.fill_request(request));
    }
    let names: Vec<String> = filling.missing.into_iter().collect();
    match names.first() {
        None => Ok(()),
        Some(first) => Err(hinted(
            format_args!(
                "variables that requests need are not set: {}",
                names.join(", ")
            ),
            format_args!("`export {first}=VALUE` sets one"),
        )),
    }
}

struct Filling<'v> {
    variable: &'v dyn Fn(&str) -> Option<String>,
    missing: BTreeSet<String>,
}

impl Filling<'_> {
    fn fill_request(&mut self, request: &mut RequestSpec) {
        let label = request.label();
        self.fill(&mut request.path, &mut request.headers, &mut request.body);
        if request.label() != label {
            // Records and reports have the name, and never a value.
            request.name = Some(label);
        }
    }

    fn fill(&mut self, path: &mut String, headers: &mut [(String, String)], body: &mut Body) {
        let values = headers.iter_mut().map(|(_, value)| value);
        for text in std::iter::once(path).chain(values) {
            if let Some(filled) = self.filled(text) {
                *text = filled;
            }
        }
        if let Some(filled) = body.as_text().and_then(|text| self.filled(text)) {
            *body = filled.into();
        }
    }

    /// Returns a text with the values of its variables; `None` if it has none.
    fn filled(&mut self, text: &str) -> Option<String> {
        REFERENCE.find(text)?;
        let filled = REFERENCE.replace_all(text, |found: &Captures<'_>| {
            if !found["escape"].is_empty() {
                return found[0][1..].to_owned();
            }
            let name = &found["name"];
            (self.variable)(name).unwrap_or_else(|| {
                self.missing.insert(name.to_owned());
                String::new()
            })
        });
        Some(filled.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bakeoff_model::request::RequestSpec;
    use bakeoff_model::suite::Suite;

    use super::{Filling, fill};
    use crate::tests::fakes;

    fn suite() -> Suite {
        let mut suite = fakes::suite();
        let check = &mut suite.checks[0];
        let credential = "Bearer ${env:TOKEN}".to_owned();
        check.headers = vec![("Authorization".to_owned(), credential)];
        check.body = r#"{"password": "${env:PASSWORD}", "note": "$${env:PASSWORD}"}"#.into();
        suite
    }

    #[test]
    fn values_come_from_the_environment() {
        let mut filled = suite();
        fill(&mut filled, &|name| Some(format!("my-{name}"))).unwrap();
        let check = &filled.checks[0];
        assert_eq!(check.headers[0].1, "Bearer my-TOKEN");
        let expect = r#"{"password": "my-PASSWORD", "note": "${env:PASSWORD}"}"#;
        assert_eq!(check.body.as_text(), Some(expect));
    }

    #[test]
    fn names_of_requests_have_no_values() {
        let mut request = RequestSpec {
            method: "GET".to_owned(),
            path: "/?key=${env:KEY}&x=${id}".to_owned(),
            ..RequestSpec::default()
        };
        let mut filling = Filling {
            variable: &|_| Some("my".to_owned()),
            missing: BTreeSet::new(),
        };
        filling.fill_request(&mut request);
        assert_eq!(request.path, "/?key=my&x=${id}");
        assert_eq!(request.label(), "GET /?key=${env:KEY}&x=${id}");
    }

    #[test]
    fn all_variables_that_are_missing_are_named() {
        let error = fill(&mut suite(), &|name| (name == "KEY").then(String::new)).unwrap_err();
        let expect = "variables that requests need are not set: PASSWORD, TOKEN";
        assert_eq!(error.to_string(), expect);
    }
}
