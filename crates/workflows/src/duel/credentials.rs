//! Credentials in what the user asked for: the files of the suite hold them, and results are what
//! people give to others.

use std::collections::BTreeSet;
use std::path::Path;

use bakeoff_import::{credential_in_request, is_credential};

use super::definition::Duel;
use super::suite::CHECKS;
use crate::service::{DuelRequest, DuelService, ServiceSource};

/// The file of a suite.
const SUITE: &str = "suite.toml";

/// The apparent credentials of a duel, and where its suite has them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// Names of headers, variables and parameters.
    names: BTreeSet<String>,
    /// Files of the suite.
    files: BTreeSet<String>,
}

impl Credentials {
    /// Finds those of a duel.
    pub(crate) fn of(duel: &Duel) -> Self {
        let mut found = Self::default();
        let checks = format!("checks/{CHECKS}");
        let requests = duel.requests.iter().flat_map(in_request);
        found.add(requests.collect(), &[SUITE, &checks]);
        let dependencies = duel.dependencies.iter().flat_map(|one| &one.env);
        found.add(secret(duel.env.iter().chain(dependencies)), &[SUITE]);
        for DuelService { name, service, .. } in &duel.sides {
            if let ServiceSource::Image(image) = service {
                let file = format!("contenders/{name}/contender.toml");
                found.add(secret(image.env.iter()), &[&file]);
            }
        }
        found
    }

    fn add(&mut self, names: Vec<String>, files: &[&str]) {
        if !names.is_empty() {
            self.names.extend(names);
            self.files
                .extend(files.iter().map(|file| (*file).to_owned()));
        }
    }

    /// The files that only the user may read, by their paths in the suite.
    pub(crate) fn files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Returns a note for the user on the suite in a folder; `None` if there are none.
    pub(crate) fn note(&self, folder: &Path) -> Option<String> {
        let list = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(", ");
        let (names, files) = (list(&self.names), list(&self.files));
        let folder = folder.display();
        (!self.names.is_empty()).then(|| {
            format!(
                "what looks like a credential ({names}) is in these files of {folder}, which only \
                 you can read: {files}; take it out before you give the results to others"
            )
        })
    }
}

fn secret<'a>(variables: impl Iterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    let secret = variables.filter(|(name, value)| is_credential(name, value));
    secret.map(|(name, _)| name.clone()).collect()
}

fn in_request(request: &DuelRequest) -> Vec<String> {
    let mut found = secret(request.headers.iter().map(|(name, value)| (name, value)));
    found.extend(credential_in_request(
        &request.path,
        request.body.as_bytes(),
    ));
    found
}
