//! Suite files in, a checked [`Suite`] or every mistake at once out.
//!
//! Three passes per file: [`source`] makes a tree with places, [`shape`] holds it against the
//! JSON Schema of the types in [`raw`], and the module of each file checks what a schema cannot
//! say. A file that fails a pass is mended with stand-ins, so that the later passes still find
//! the mistakes that are theirs. Reading the files is the caller's business.

mod backend;
mod capacity;
mod check_file;
mod contender_file;
mod dependency;
pub mod files;
mod grpc;
mod metrics;
mod probe;
mod published_file;
pub(crate) mod raw;
pub(crate) mod raw_checks;
pub(crate) mod raw_contender;
mod raw_dependency;
pub(crate) mod raw_published;
mod raw_request;
mod raw_scenario;
mod request;
mod rounds;
mod runs;
mod scenario;
pub(crate) mod shape;
mod source;
mod suite_file;
mod tls;
mod transport;
mod turns;
mod volumes;
mod warm_up;

use bakeoff_base::natural;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::suite::{Contender, Suite};
use crate::text::diagnostic::{Diagnostic, SourceFile};
use source::{KeyPath, Reading};

pub use crate::text::units::{DurationText, SizeText, duration, size_bytes};
pub use shape::is_name;

/// All files of a suite, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteSources {
    /// `suite.toml`.
    pub suite: SourceFile,
    /// The files of `checks/`, in any order; they are read in the order of their paths.
    pub checks: Vec<SourceFile>,
    /// Each `contender.toml` with the name of its folder.
    pub contenders: Vec<(String, SourceFile)>,
    /// `published.toml`, if there is one.
    pub published: Option<SourceFile>,
}

impl SuiteSources {
    /// Returns all files, the suite's own first.
    #[must_use]
    pub fn files(&self) -> Vec<&SourceFile> {
        std::iter::once(&self.suite)
            .chain(&self.checks)
            .chain(self.contenders.iter().map(|(_, file)| file))
            .chain(&self.published)
            .collect()
    }

    fn sorted_checks(&self) -> Vec<&SourceFile> {
        let mut checks: Vec<&SourceFile> = self.checks.iter().collect();
        checks.sort_by(|left, right| left.path.cmp(&right.path));
        checks
    }

    /// SHA-256 over `suite.toml` and the checks, each with its file name and length, so that moving
    /// a suite keeps its digest and moving text between files does not. Contenders are left out:
    /// their artifacts have separate digests, and a new contender must not part old results from
    /// new.
    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for source in std::iter::once(&self.suite).chain(self.sorted_checks()) {
            let name = source.path.rsplit(['/', '\\']).next().unwrap_or_default();
            add(&mut hash, name, source.text.as_bytes());
        }
        hexadecimal(hash)
    }
}

/// Reads a suite.
///
/// # Errors
/// Every mistake in every file: `suite.toml` first, then checks, contenders and `published.toml`,
/// each in the order of its lines.
pub fn suite(sources: &SuiteSources) -> Result<Suite, Vec<Diagnostic>> {
    let checks = sources.sorted_checks();
    let published: Vec<&SourceFile> = sources.published.iter().collect();
    let files = Files {
        suite: read(&[&sources.suite]).remove(0),
        checks: read(&checks),
        contenders: read_contenders(&sources.contenders),
        published: read(&published).pop(),
    };
    files.suite(sources.digest())
}

/// Reads contenders without their suite, each with the name of its folder: those that it had.
///
/// # Errors
/// Every mistake in every file.
pub fn contenders_alone(
    sources: &[(String, SourceFile)],
) -> Result<Vec<Contender>, Vec<Diagnostic>> {
    let (readings, contenders) = contenders(read_contenders(sources));
    let diagnostics: Vec<Diagnostic> = readings.into_iter().flat_map(Reading::finish).collect();
    match diagnostics.is_empty() {
        true => Ok(contenders),
        false => Err(diagnostics),
    }
}

/// A file whose shape was checked; `None` stands for one too broken to be mended.
type Checked<'a, T> = (Reading<'a>, Option<T>);

/// All files of a suite, of which only the shape was checked.
struct Files<'a> {
    suite: Checked<'a, raw::SuiteFile>,
    checks: Vec<Checked<'a, raw_checks::ChecksFile>>,
    /// Contenders with the names of their folders.
    contenders: Vec<(&'a str, Checked<'a, raw_contender::ContenderFile>)>,
    published: Option<Checked<'a, raw_published::PublishedFile>>,
}

impl Files<'_> {
    /// The suite of this digest, or every mistake.
    fn suite(self, digest: String) -> Result<Suite, Vec<Diagnostic>> {
        let (mut contender_readings, contenders) = contenders(self.contenders);
        let (mut suite_reading, file) = self.suite;
        // Patterns of rounds are held against the contenders only when all of those are known.
        let known = contender_readings
            .iter()
            .all(|reading| reading.is_whole(&KeyPath::root()));
        let known = known.then_some(contenders.as_slice());
        let suite = file.map(|file| suite_file::suite(&mut suite_reading, file, known));
        let (mut check_readings, files): (Vec<_>, Vec<_>) = self.checks.into_iter().unzip();
        let mut checks = check_file::checks(&mut check_readings, files);
        if suite.as_ref().is_some_and(|suite| suite.grpc.is_some()) {
            for check in &mut checks {
                crate::request::grpc::POST.clone_into(&mut check.method);
            }
        }
        let benchmarks = suite.as_ref().map_or(&[][..], |suite| &suite.benchmarks);
        let rounds = suite.as_ref().map(|suite| suite.rounds.as_slice());
        let (mut published, mut published_reading) = (None, None);
        if let Some((mut reading, file)) = self.published {
            let read = |file| published_file::published(&mut reading, file, benchmarks, rounds);
            published = file.map(read);
            published_reading = Some(reading);
        }
        let mut readings = vec![suite_reading];
        readings.append(&mut check_readings);
        readings.append(&mut contender_readings);
        readings.extend(published_reading);
        let diagnostics: Vec<Diagnostic> = readings.into_iter().flat_map(Reading::finish).collect();
        match suite {
            Some(suite) if diagnostics.is_empty() => Ok(Suite {
                checks,
                contenders,
                published,
                digest,
                ..suite
            }),
            _ => Err(diagnostics),
        }
    }
}

/// Reads files of one kind.
fn read<'a, T>(sources: &[&'a SourceFile]) -> Vec<Checked<'a, T>>
where
    T: DeserializeOwned + JsonSchema,
{
    let schema = shape::schema::<T>();
    let read_one = |source: &&'a SourceFile| {
        let mut reading = Reading::new(source);
        let syntax_errors = reading.complaints();
        let mended = shape::check(&schema, &mut reading);
        reading.forget_echoes(syntax_errors);
        let file = serde_json::from_value(mended);
        if let (Err(error), true) = (&file, reading.complaints() == 0) {
            reading.complain(&KeyPath::root(), &format!("cannot be read: {error}"), None);
        }
        (reading, file.ok())
    };
    sources.iter().map(read_one).collect()
}

fn read_contenders(
    sources: &[(String, SourceFile)],
) -> Vec<(&str, Checked<'_, raw_contender::ContenderFile>)> {
    let files: Vec<&SourceFile> = sources.iter().map(|(_, source)| source).collect();
    let folders = sources.iter().map(|(folder, _)| folder.as_str());
    folders.zip(read(&files)).collect()
}

/// All contenders in natural order, with the readings of their files.
fn contenders<'a>(
    mut files: Vec<(&str, Checked<'a, raw_contender::ContenderFile>)>,
) -> (Vec<Reading<'a>>, Vec<Contender>) {
    let mut contenders = Vec::new();
    for (folder, (reading, file)) in &mut files {
        if let Some(file) = file {
            contenders.extend(contender_file::contenders(reading, folder, file));
        }
    }
    contenders.sort_by(|left, right| natural::compare(&left.name, &right.name));
    // As patterns of rounds, baselines are held against the contenders when all are known.
    let mut all = files.iter();
    if all.all(|(_, (reading, _))| reading.is_whole(&KeyPath::root())) {
        let known: Vec<&str> = contenders.iter().map(|one| one.name.as_str()).collect();
        for (_, (reading, file)) in &mut files {
            if let Some(file) = file {
                contender_file::check_baselines(reading, file, &known);
            }
        }
    }
    let readings = files.into_iter().map(|(_, (reading, _))| reading);
    (readings.collect(), contenders)
}

/// The digest of a suite of this digest whose workloads depend on one more file, as seen from the
/// suite's folder.
#[must_use]
pub fn digest_with(digest: &str, file: &str, content: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(digest);
    add(&mut hash, file, content);
    hexadecimal(hash)
}

fn add(hash: &mut Sha256, name: &str, content: &[u8]) {
    hash.update(format!("{name}\0{}\0", content.len()));
    hash.update(content);
}

fn hexadecimal(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
