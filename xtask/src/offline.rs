//! The tools for hosts that reach no registry (`tools/offline`), as continuous integration uses
//! them: as a program, so that chores compile without the clients of Docker and Kubernetes.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context as _, bail, ensure};

use crate::chores::Chores;
use crate::workspace::{built, say};

/// Environment variables by which something that was started is used.
pub(crate) type Exported = Vec<(String, String)>;

/// The compiled tools.
pub(crate) struct Offline(PathBuf);

impl Offline {
    /// Compiles the tools.
    pub(crate) fn new(chores: &mut Chores<'_>) -> anyhow::Result<Self> {
        let line = "cargo build --locked --bin offline";
        chores.run("offline tools compiled", line)?;
        built("offline").map(Self)
    }

    /// Returns what a command prints, or `None` if it fails.
    pub(crate) fn says(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new(&self.0).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    }

    /// Runs a command, passes on what it prints, and returns the variables that it exports.
    pub(crate) fn run(&self, arguments: &[&str]) -> anyhow::Result<Exported> {
        say(&format!("+ cargo offline {}", arguments.join(" ")));
        let mut child = Command::new(&self.0)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run the offline tools")?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let errors = thread::spawn(move || passed_on(stderr, std::io::stderr()));
        let printed = passed_on(stdout, std::io::stdout());
        let errors = errors.join().unwrap_or_default();
        let status = child.wait().context("cannot wait for the offline tools")?;
        if let Some((_, error)) = errors.rsplit_once("error: ") {
            ensure!(status.success(), "{}", error.trim_end());
        }
        ensure!(status.success(), "{}: {status}", arguments.join(" "));
        exported(&printed)
    }
}

/// Writes what comes from a command on as it comes, and returns all of it.
fn passed_on(from: Option<impl Read>, mut to: impl Write) -> String {
    let mut all = String::new();
    let lines = from.map(|from| BufReader::new(from).lines());
    for line in lines.into_iter().flatten().map_while(Result::ok) {
        // A terminal that is gone ends nothing.
        let _ = writeln!(to, "{line}");
        all.push_str(&line);
        all.push('\n');
    }
    all
}

/// Reads the lines `export NAME='VALUE'`.
fn exported(printed: &str) -> anyhow::Result<Exported> {
    let lines = printed
        .lines()
        .filter_map(|line| line.strip_prefix("export "));
    lines
        .map(|line| {
            let Some((name, value)) = line.split_once('=') else {
                bail!("no variable: {line}");
            };
            Ok((name.to_owned(), value.trim_matches('\'').to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::exported;

    #[test]
    fn variables_are_read_from_lines_of_a_shell() {
        let printed = "Docker 20 started\nexport A='unix:///x=y'\nexport B='load {}'\n";
        let variables = exported(printed).unwrap();
        let expect = [("A", "unix:///x=y"), ("B", "load {}")];
        assert_eq!(variables, expect.map(|(a, b)| (a.into(), b.into())));
        let error = exported("export A\n").unwrap_err();
        assert_eq!(error.to_string(), "no variable: A");
    }
}
