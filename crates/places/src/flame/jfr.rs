//! The JVM's own Flight Recorder: started and stopped by `jcmd`, printed by `jfr`, folded here.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use bakeoff_base::problem::Problem;

use crate::flame::RECORDING;
use crate::flame::program::{said, tool, without_number};

/// Innermost frames of a stack that are kept and printed. The recorder's own 64 are fewer than
/// services have whose filters wrap each other.
const DEPTH: &str = "512";
/// The event that is printed: threads that were in Java code at the moment of a sample.
const EVENT: &str = "jdk.ExecutionSample";

/// Starts a recording. The settings `profile` take samples every 10 ms.
pub(super) async fn start(java: &Path, process: u32) -> Result<(), Problem> {
    let process = process.to_string();
    let jcmd = tool(java, "jcmd")?;
    let depth = format!("stackdepth={DEPTH}");
    let args = [process.as_str(), "JFR.configure", &depth].map(OsStr::new);
    // A JVM that records something already keeps to the depth of that.
    let _ = said(&jcmd, &args, None).await;
    let args = [process.as_str(), "JFR.start", RECORDING, "settings=profile"].map(OsStr::new);
    let answer = said(&jcmd, &args, None).await?;
    match answer.contains("Started recording") {
        true => Ok(()),
        false => Err(format!(
            "its JVM records nothing: {}",
            crate::flame::program::one_line(&answer)
        )
        .into()),
    }
}

/// Ends the recording, and returns its stacks.
pub(super) async fn stop(java: &Path, process: u32, scratch: &Path) -> Result<String, Problem> {
    let process = process.to_string();
    let (recording, text) = (scratch.join("recording.jfr"), scratch.join("stacks"));
    let file = format!("filename={}", recording.display());
    let args = [process.as_str(), "JFR.stop", RECORDING, &file].map(OsStr::new);
    said(&tool(java, "jcmd")?, &args, None).await?;
    let args = ["print", "--events", EVENT, "--stack-depth", DEPTH].map(OsStr::new);
    let args = [&args[..], &[recording.as_os_str()]].concat();
    said(&tool(java, "jfr")?, &args, Some(&text)).await?;
    let folding = tokio::task::spawn_blocking(move || fold(BufReader::new(File::open(text)?)));
    let folded = folding.await.map_err(Problem::new)?;
    folded.map_err(|error| format!("what jfr printed cannot be read: {error}").into())
}

/// Stacks out of what `jfr print` writes: blocks `stackTrace = [` with a frame a line, the
/// innermost first, until `]`.
fn fold(text: impl BufRead) -> io::Result<String> {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    let mut frames: Option<Vec<String>> = None;
    for line in text.lines() {
        let line = line?;
        let line = line.trim();
        match &mut frames {
            None if line == "stackTrace = [" => frames = Some(Vec::new()),
            None => {}
            Some(list) if line == "]" => {
                list.reverse();
                if !list.is_empty() {
                    *stacks.entry(list.join(";")).or_default() += 1;
                }
                frames = None;
            }
            Some(list) => list.extend(frame(line)),
        }
    }
    let lines = stacks
        .iter()
        .map(|(stack, count)| format!("{stack} {count}\n"));
    Ok(lines.collect())
}

/// `a.b.C.method` of `a.b.C.method(int, Object) line: 12`.
fn frame(line: &str) -> Option<String> {
    let (name, _) = line.split_once('(')?;
    let name = without_number(name.trim());
    (!name.is_empty()).then(|| name.replace(';', ":").replace(' ', "_"))
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn printed_stacks_are_turned_around_and_counted() {
        let sample = |frames: &str| {
            format!(
                "jdk.ExecutionSample {{\n  startTime = 12:00:00.123 (2026-01-01)\n  \
                 sampledThread = \"worker\" (javaThreadId = 21)\n  state = \"STATE_RUNNABLE\"\n  \
                 stackTrace = [\n{frames}  ]\n}}\n\n"
            )
        };
        let work = "    a.B.sum(int[], List) line: 12\n    a.B$1.run() line: 3\n";
        let lambda = "    a.B$$Lambda$14+0x00007f0c/0x1.apply(Object)\n    a.B.main(String[])\n";
        let other = "    a.B$$Lambda.0x00007f0d.apply(Object)\n    a.B.main(String[])\n    ...\n";
        let text = [work, lambda, work, other, ""].map(sample).concat();
        assert_eq!(
            fold(text.as_bytes()).unwrap(),
            "a.B$1.run;a.B.sum 2\na.B.main;a.B$$Lambda.apply 2\n"
        );
        assert_eq!(fold("".as_bytes()).unwrap(), "");
    }
}
