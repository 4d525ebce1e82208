//! Flame graphs: where processes of this host spend their CPU time, by samples of their stacks.
//! Sampling costs CPU time, so the caller must not measure meanwhile.
//!
//! Native programs are sampled by `perf`. A JVM is sampled by async-profiler if that is on the
//! PATH, otherwise by `perf` if it keeps frame pointers and can write the map of its compiled
//! methods, and otherwise by its own Flight Recorder, which is in every JDK and sees only Java
//! code.

mod draw;
mod jfr;
mod perf_map;
mod program;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use inferno::collapse::Collapse as _;
use inferno::collapse::perf::{Folder, Options};
use program::{found, said, spawned};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;

use crate::sweep::RunFolder;

/// Samples per second of `perf`: not a round number, so that it is not in step with the program's
/// timers, and few enough for stacks of 16 KiB each.
const FREQUENCY: &str = "199";
/// The fields of each sample that are printed: not its period, which folding would take for a
/// count.
const FIELDS: &str = "comm,pid,tid,time,event,ip,sym,dso";
/// Callers are found by frame pointers.
const FRAME_POINTERS: &str = "fp";
/// How long `perf` is given to refuse.
const REFUSAL: Duration = Duration::from_millis(300);
/// How long `perf` may take to end.
const END_LIMIT: Duration = Duration::from_secs(30);
/// As much of a program as Go's own tools read to find its note, bytes.
const GO_NOTE_WITHIN: u64 = 32 << 10;
/// The recording's name in the JVM.
const RECORDING: &str = "name=bakeoff";

/// Why native programs cannot be sampled on this host at all; `None` if `perf` is there.
#[must_use]
pub fn perf_is_missing() -> Option<&'static str> {
    match found("perf", None) {
        Some(_) => None,
        None => Some("perf is not on the PATH (Debian: apt install linux-perf)"),
    }
}

/// Samples that are being taken. Dropping it ends that, without a graph.
#[derive(Debug)]
pub struct Sampling {
    by: Sampler,
    /// The folder of samplers' files; it goes with this value, or with the next session's sweep.
    scratch: RunFolder,
}

#[derive(Debug)]
enum Sampler {
    Perf(Child),
    PerfOfJvm {
        perf: Child,
        java: PathBuf,
        process: u32,
    },
    AsyncProfiler {
        program: PathBuf,
        process: u32,
    },
    FlightRecorder {
        java: PathBuf,
        process: u32,
    },
}

/// Stacks with how often each was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stacks {
    /// A line a stack, the outermost frame first: `main;work;sum 42`.
    pub folded: String,
    /// The program that took the samples.
    pub sampler: &'static str,
    /// How many samples there are.
    pub samples: u64,
}

impl Sampling {
    /// Starts to sample processes.
    ///
    /// # Errors
    /// Why they cannot be sampled, as a sentence.
    pub async fn begin(processes: &[u32]) -> Result<Self, Problem> {
        let scratch = RunFolder::temporary().map_err(Problem::new)?;
        let by = match processes.iter().find_map(|process| jvm(*process)) {
            Some((process, java)) => jvm_sampler(process, java, scratch.path()).await?,
            None if processes.is_empty() => {
                return Err("none of its processes can be seen from this host".into());
            }
            None => Sampler::Perf(perf(processes, graph_of(processes), scratch.path()).await?),
        };
        Ok(Self { by, scratch })
    }

    /// Ends it: what was seen.
    ///
    /// # Errors
    /// Why that is nothing, as a sentence.
    pub async fn end(self) -> Result<Stacks, Problem> {
        let scratch = self.scratch.path();
        let (folded, sampler) = match self.by {
            Sampler::Perf(child) => (perf_stacks(child, scratch).await?, "perf"),
            Sampler::PerfOfJvm {
                perf,
                java,
                process,
            } => {
                perf_map::write(&java, process).await?;
                let folded = perf_stacks(perf, scratch).await?;
                (perf_map::without_results(&folded), "perf")
            }
            Sampler::AsyncProfiler { program, process } => {
                let file = scratch.join("stacks");
                let process = process.to_string();
                let args = ["stop", "-o", "collapsed", "-f"].map(OsStr::new);
                let args = [&args[..], &[file.as_os_str(), process.as_ref()]].concat();
                said(&program, &args, None).await?;
                (read(&file)?, "async-profiler")
            }
            Sampler::FlightRecorder { java, process } => (
                jfr::stop(&java, process, scratch).await?,
                "JFR (Java code alone)",
            ),
        };
        let samples = draw::samples(&folded);
        if samples == 0 {
            return Err(format!("{sampler} saw nothing at work").into());
        }
        Ok(Stacks {
            folded,
            sampler,
            samples,
        })
    }
}

impl Stacks {
    /// Adds what was seen in another set.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self {
            folded: self.folded + &other.folded,
            samples: self.samples + other.samples,
            ..self
        }
    }

    /// Draws the graph of the functions that take more CPU time here than in `from` (red) or less
    /// (blue), both as shares of all samples.
    ///
    /// # Errors
    /// Why it cannot be drawn.
    pub fn svg_of_difference(&self, from: &Self, title: &str) -> Result<Vec<u8>, Problem> {
        draw::svg_of_difference(self, from, title)
    }

    /// The graph, as SVG that a browser can zoom and search.
    ///
    /// # Errors
    /// Why it cannot be drawn.
    pub fn svg(&self, title: &str) -> Result<Vec<u8>, Problem> {
        draw::svg(self, title)
    }
}

/// The JVM that a process is.
fn jvm(process: u32) -> Option<(u32, PathBuf)> {
    let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    (program.file_name() == Some(OsStr::new("java"))).then_some((process, program))
}

async fn jvm_sampler(process: u32, java: PathBuf, scratch: &Path) -> Result<Sampler, Problem> {
    if let Some(program) = found("asprof", None) {
        let process_text = process.to_string();
        let args = ["start", "-e", "cpu", &process_text].map(OsStr::new);
        said(&program, &args, None).await?;
        return Ok(Sampler::AsyncProfiler { program, process });
    }
    // If `perf` is missing or refuses, the JVM records by itself.
    if perf_map::can_be_written(&java, process).await
        && let Ok(perf) = perf(&[process], FRAME_POINTERS, scratch).await
    {
        return Ok(Sampler::PerfOfJvm {
            perf,
            java,
            process,
        });
    }
    jfr::start(&java, process).await?;
    Ok(Sampler::FlightRecorder { java, process })
}

/// Whether a process is a program of Go, Node.js or .NET. Their functions have frame pointers and
/// nothing that `perf` can unwind copies of stacks by: it would see one function of each stack, or
/// those down to the first that was compiled while the program runs. (Python's own have none.)
fn has_frame_pointers(process: u32) -> bool {
    let folder = PathBuf::from(format!("/proc/{process}"));
    let program = fs::read_link(folder.join("exe")).unwrap_or_default();
    let maps = || fs::read_to_string(folder.join("maps")).unwrap_or_default();
    let is_go = || File::open(folder.join("exe")).is_ok_and(is_built_by_go);
    program.file_name() == Some(OsStr::new("node")) || maps().contains("libcoreclr.so") || is_go()
}

/// Whether a program has Go's note of its build, which linkers put into the first pages: the type 4
/// and the name `Go`.
fn is_built_by_go(program: impl Read) -> bool {
    let mut beginning = Vec::new();
    let read = program.take(GO_NOTE_WITHIN).read_to_end(&mut beginning);
    let note = b"\x04\0\0\0Go\0\0";
    read.is_ok() && beginning.windows(note.len()).any(|bytes| bytes == note)
}

/// How `perf` finds the callers of a function.
fn graph_of(processes: &[u32]) -> &'static str {
    match processes.iter().any(|process| has_frame_pointers(*process)) {
        true => FRAME_POINTERS,
        // Programs are mostly built without them, so stacks are unwound from copies of them.
        false => "dwarf,16384",
    }
}

/// Starts `perf` on processes with all that they start.
async fn perf(processes: &[u32], graph: &str, scratch: &Path) -> Result<Child, Problem> {
    if let Some(missing) = perf_is_missing() {
        return Err(missing.to_owned().into());
    }
    let list: Vec<String> = processes.iter().map(u32::to_string).collect();
    let (data, list) = (data_of(scratch), list.join(","));
    let args = [
        "record",
        "-F",
        FREQUENCY,
        "--call-graph",
        graph,
        "-p",
        &list,
        "-o",
    ];
    let builds = builds_of(scratch);
    let args = args.map(OsStr::new);
    let args = [&builds_option(&builds)[..], &args, &[data.as_os_str()]].concat();
    let mut child = spawned(Path::new("perf"), &args, &log_of(scratch))?;
    tokio::time::sleep(REFUSAL).await;
    match child.try_wait() {
        Ok(None) => Ok(child),
        Ok(Some(_)) | Err(_) => Err(format!("perf refuses: {}", log_text(scratch)).into()),
    }
}

async fn perf_stacks(mut child: Child, scratch: &Path) -> Result<String, Problem> {
    let process = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(process) = process.and_then(Pid::from_raw) {
        // It writes its file when it is interrupted; that it has ended already, the wait says.
        let _ = kill_process(process, Signal::INT);
    }
    let ended = tokio::time::timeout(END_LIMIT, child.wait()).await;
    let data = data_of(scratch);
    if ended.is_err() || !data.is_file() {
        return Err(format!("perf did not write its samples: {}", log_text(scratch)).into());
    }
    let text = scratch.join("stacks");
    let args = ["script", "--no-inline", "-F", FIELDS, "-i"].map(OsStr::new);
    let builds = builds_of(scratch);
    let args = [&builds_option(&builds)[..], &args, &[data.as_os_str()]].concat();
    said(Path::new("perf"), &args, Some(&text)).await?;
    let folding = tokio::task::spawn_blocking(move || folded(&text));
    let folded = folding.await.map_err(Problem::new)?;
    folded.map_err(|error| format!("what perf wrote cannot be read: {error}").into())
}

/// Folds the output of `perf script`.
fn folded(text: &Path) -> io::Result<String> {
    let mut folded = Vec::new();
    let text = BufReader::new(File::open(text)?);
    let mut options = Options::default();
    // So that a reader, and the rules of layers, know the kernel's functions.
    options.annotate_kernel = true;
    Folder::from(options).collapse(text, &mut folded)?;
    Ok(String::from_utf8_lossy(&folded).into_owned())
}

fn data_of(scratch: &Path) -> PathBuf {
    scratch.join("perf.data")
}

/// The folder in which `perf` keeps copies of the programs that it sampled, to find their functions
/// when they have ended.
fn builds_of(scratch: &Path) -> PathBuf {
    scratch.join("builds")
}

/// Has `perf` use that folder instead of `~/.debug`, where each session would leave its copies.
fn builds_option(folder: &Path) -> [&OsStr; 2] {
    [OsStr::new("--buildid-dir"), folder.as_os_str()]
}

fn log_of(scratch: &Path) -> PathBuf {
    scratch.join("perf.log")
}

/// Returns the log of `perf` in one line.
fn log_text(scratch: &Path) -> String {
    let text = fs::read_to_string(log_of(scratch)).unwrap_or_default();
    program::one_line(&text)
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::is_built_by_go;

    #[test]
    fn a_program_of_go_is_known_by_its_note() {
        let note = b"\x04\0\0\0\x53\0\0\0\x04\0\0\0Go\0\0abc/def";
        let program = [b"\x7fELF".as_slice(), &[0; 4000], note].concat();
        assert!(is_built_by_go(program.as_slice()));
        let gnu = b"\x7fELF\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
        assert!(!is_built_by_go(gnu.as_slice()));
        let late = [vec![0; 40_000], note.to_vec()].concat();
        assert!(!is_built_by_go(late.as_slice()));
    }
}
