//! Whether head and base of a contender are one program. Their numbers would then be compared with
//! themselves, and no change of the service could ever fail a condition. Only what certainly is one
//! program counts: what may differ is measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;
use bakeoff_build::Built;
use bakeoff_model::plan::baseline::base_name;
use bakeoff_model::suite::Contender;
use bakeoff_places::contender::Ready;

use super::Testbed;
use crate::revision::Tree;

const FOLDER_HINT: &str = "give `workdir` relative to the suite, inside the repository";
const FILE_HINT: &str = "give the file in `run` relative to `workdir`";
const IMAGE_HINT: &str = "give the image another tag in each revision, or build an `artifact`";
const UNCHANGED_HINT: &str = "name a revision before the change with --baseline";

/// A built contender.
type Side<'t> = (&'t Contender, &'t Ready);

impl Testbed {
    /// Returns the heads that are the same program as their base, each with the reason as a
    /// fragment that follows its name. `tree` has the files of the base, if that is a revision.
    pub(crate) fn same_programs(&self, tree: Option<&Tree>) -> BTreeMap<String, Problem> {
        let sides = self.options.contenders.iter().filter_map(|name| {
            let (head, base) = (self.side(name)?, self.side(&base_name(name))?);
            Some((name.clone(), same(head, base, tree)?))
        });
        sides.collect()
    }

    fn side(&self, name: &str) -> Option<Side<'_>> {
        let ready = self.ready.get(name)?.as_ref().ok()?;
        Some((self.contender(name)?, ready))
    }
}

fn same(head: Side<'_>, base: Side<'_>, tree: Option<&Tree>) -> Option<Problem> {
    if definition(head.0) != definition(base.0) {
        return None;
    }
    if let (Some(ours), Some(theirs)) = (&head.1.image_digest, &base.1.image_digest) {
        let image = head.1.image.as_deref().unwrap_or_default();
        let why = format!("is the same image on both sides ({image})");
        return (ours == theirs).then(|| Problem::new(why).with_hint(IMAGE_HINT));
    }
    let (ours, theirs) = (&head.1.built, &base.1.built);
    // A build may make something else of the same sources each time.
    if ours.input != theirs.input || digest(ours) != digest(theirs) {
        return None;
    }
    if head.0.workdir.is_none() {
        let why = "has the same sources on both sides";
        let is_copied = ours.input.is_some();
        return is_copied.then(|| Problem::new(why).with_hint(UNCHANGED_HINT));
    }
    let (here, there) = (real(&ours.workdir)?, real(&theirs.workdir)?);
    if here == there {
        let why = format!(
            "starts in the same folder on both sides ({})",
            here.display()
        );
        return Some(Problem::new(why).with_hint(FOLDER_HINT));
    }
    let tree = tree?;
    // A command names its program before files that this reads.
    let mut words = head.0.run.iter();
    let program = words.find(|word| tree.has(&here.join(word)));
    if let Some(file) = program.filter(|word| Path::new(word).is_absolute()) {
        let why = format!("starts the same file on both sides ({file})");
        return Some(Problem::new(why).with_hint(FILE_HINT));
    }
    let why = "starts the same files on both sides: those of the repository have not changed";
    let is_unchanged = tree.is_unchanged();
    is_unchanged.then(|| Problem::new(why).with_hint(UNCHANGED_HINT))
}

/// The contender without what differs in any case, or makes no difference to the program. The
/// folder in which it starts is looked at itself.
fn definition(contender: &Contender) -> Contender {
    Contender {
        name: String::new(),
        describe: String::new(),
        note: None,
        workdir: None,
        is_base: false,
        ..contender.clone()
    }
}

fn digest(built: &Built) -> Option<&str> {
    let artifact = built.artifact.as_ref();
    artifact.map(|artifact| artifact.digest.as_str())
}

fn real(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok()
}
