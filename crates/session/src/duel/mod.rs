//! Services of the user's own against each other, without a suite: each is started once and asked,
//! and what they agree in becomes the expectation of a suite that is written for them. What is
//! measured, and how, is then a session like any other.

mod agreement;
mod compose;
mod dry_run;
mod files;
mod order;

use std::path::Path;

use bakeoff_model::conditions::RuntimeKind;

use crate::hint::hinted;

pub(crate) use files::{contender_file, toml_text};
pub use order::{Duel, NAME, Request, Service, ServiceImage, Side};

/// What was found before the measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    /// What the services have in common, as a sentence.
    pub words: String,
    /// What they run on.
    pub runtime: RuntimeKind,
}

/// Starts and asks every side once, and writes the suite for them into a folder.
///
/// # Errors
/// A side does not start or answer, they answer differently though they may not, or the folder
/// holds a suite already.
pub async fn prepare(duel: &Duel, folder: &Path) -> anyhow::Result<Agreement> {
    let runtime = duel.check()?;
    let duel = &compose::looked_up(duel).await?;
    if folder.join("suite.toml").exists() {
        return Err(hinted(
            format_args!("{}: holds a suite already", folder.display()),
            format_args!(
                "run it with `bakeoff run {}`, or name another folder",
                folder.display()
            ),
        ));
    }
    let draft = files::suite(duel, runtime, &agreement::anything());
    let answers = dry_run::answers(duel, runtime, &draft).await?;
    let agreed = agreement::find(duel, &answers)?;
    let suite = files::suite(duel, runtime, &agreed.expect);
    // Found now and not by the session: whoever reads such a mistake has never seen the files.
    files::parsed(&suite, &duel.workdir)?;
    files::write(&suite, folder)?;
    Ok(Agreement {
        words: agreed.words,
        runtime,
    })
}
