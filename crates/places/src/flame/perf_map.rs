//! The map of a JVM's compiled methods, by which `perf` knows their names: written by the JVM
//! itself (JDK 17 and later). `perf` finds their callers if the JVM keeps frame pointers.

use std::ffi::OsStr;
use std::path::Path;

use bakeoff_base::problem::Problem;

use crate::flame::program::{said, tool, without_number};

/// The command of a JVM that writes the map.
const WRITE: &str = "Compiler.perfmap";

/// Whether a JVM keeps frame pointers and can write its map.
pub(super) async fn can_be_written(java: &Path, process: u32) -> bool {
    let flags = asked(java, process, &["VM.flags"]).await;
    let help = asked(java, process, &["help", WRITE]).await;
    let keeps = |flags: String| flags.contains("+PreserveFramePointer");
    let knows = |help: String| help.contains("perf tool");
    flags.is_ok_and(keeps) && help.is_ok_and(knows)
}

/// Has a JVM write the map of the methods that are compiled now.
pub(super) async fn write(java: &Path, process: u32) -> Result<(), Problem> {
    asked(java, process, &[WRITE]).await.map(drop)
}

async fn asked(java: &Path, process: u32, words: &[&str]) -> Result<String, Problem> {
    let process = process.to_string();
    let args: Vec<&OsStr> = std::iter::once(process.as_str())
        .chain(words.iter().copied())
        .map(OsStr::new)
        .collect();
    said(&tool(java, "jcmd")?, &args, None).await
}

/// The methods of folded stacks as those of other samplers: `a.B.sum` for `int a.B.sum`, whose
/// arguments folding has taken off.
pub(super) fn without_results(folded: &str) -> String {
    let name = |frame: &str| match frame.rsplit_once(' ') {
        Some((_, method)) if method.contains('.') => without_number(method),
        _ => frame.to_owned(),
    };
    let line = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').unwrap_or((line, ""));
        let frames: Vec<String> = stack.split(';').map(name).collect();
        format!("{} {count}\n", frames.join(";"))
    };
    folded.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::without_results;

    #[test]
    fn methods_have_their_plain_names() {
        let folded = "Thread-1;Interpreter;long a.B.sum;a.B$$Lambda$92/0x00f8.apply 3\n\
                      Thread-1;void a.B.serve;long a.B$$Lambda$92/0x00f8.apply;write_[k] 1\n";
        let expected = "Thread-1;Interpreter;a.B.sum;a.B$$Lambda$92/0x00f8.apply 3\n\
                        Thread-1;a.B.serve;a.B$$Lambda.apply;write_[k] 1\n";
        assert_eq!(without_results(folded), expected);
    }
}
