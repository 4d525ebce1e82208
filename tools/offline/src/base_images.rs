//! Base images made on this host, without a registry: a small Debian from the apt sources of this
//! host, and on it a Java runtime linked from each JDK that is found.
//!
//! With access to a registry, `contender.toml` may name its images instead.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use bakeoff_build::{Toolchain, cache_dir, toolchain};
use bakeoff_places::docker::{Context, Engine, base_reference, java_in_image};
use sha2::{Digest as _, Sha256};

use crate::docker_engine::{block_on, found};
use crate::host::{install, program, say};

/// Label with the digest of what an image was made of.
const LABEL: &str = "bakeoff.recipe";

/// JDKs whose runtime becomes an image.
const JDKS: [u32; 2] = [17, 25];

/// The one that runs Elasticsearch.
const ELASTICSEARCH_JDK: u32 = 17;

/// Packages that contenders need besides Debian's essential ones: TLS with its roots of trust, the
/// C++ library that Debian's JDK links to, time zones. `usr-is-merged` spares us Perl.
const PACKAGES: &str = "ca-certificates,libssl3,libstdc++6,tzdata,usr-is-merged,zlib1g";

/// The package that the backend PostgreSQL needs besides: the newest server of the release.
const POSTGRESQL: &str = "postgresql";

/// Excluded files: documentation, translations, conversions of old character sets.
const EXCLUDED: [&str; 5] = [
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/info/*",
    "/usr/share/locale/*",
    "/usr/lib/*/gconv/*",
];

/// Where mmdebstrap keeps the hook for today's layout of folders.
const MERGED: &str = "/usr/share/mmdebstrap/hooks/merged-usr";

/// Modules of the linked Java runtimes: what servers, their clients and their meters use.
const MODULES: [&str; 16] = [
    "java.base",
    "java.desktop",
    "java.instrument",
    "java.logging",
    "java.management",
    "java.naming",
    "java.net.http",
    "java.security.jgss",
    "java.security.sasl",
    "java.sql",
    "java.xml",
    "jdk.crypto.ec",
    "jdk.httpserver",
    "jdk.management",
    "jdk.unsupported",
    "jdk.zipfs",
];

/// Makes the base images that are missing or out of date. What cannot be made is named, with what
/// would make it possible.
pub(crate) fn base_images() -> anyhow::Result<()> {
    block_on(async {
        let engine = found(&cache_dir()).await?;
        let works = "test -e /etc/ssl/certs/ca-certificates.crt";
        let made = debian(&engine, "debian", PACKAGES, works).await;
        made.context("bakeoff-base/debian")?;
        let mut failures = Vec::new();
        let packages = format!("{PACKAGES},{POSTGRESQL}");
        let answers = "/usr/lib/postgresql/*/bin/postgres --version";
        if let Err(error) = debian(&engine, "postgresql", &packages, answers).await {
            failures.push(format!("bakeoff-base/postgresql: {error:#}"));
        }
        for major in JDKS {
            match toolchain(&format!("jdk-{major}")) {
                // Contenders on this base will be skipped, with this very line.
                Err(missing) => {
                    say(&format!(
                        "NOT MADE: bakeoff-base/jre-{major}: {missing}: {}",
                        missing.how
                    ));
                }
                Ok(jdk) => {
                    for (name, modules) in runtimes(major) {
                        if let Err(error) = jre(&engine, &name, &modules, &jdk).await {
                            failures.push(format!("bakeoff-base/{name}: {error:#}"));
                        }
                    }
                }
            }
        }
        ensure!(failures.is_empty(), "{}", failures.join("\n"));
        Ok(())
    })
}

/// The runtimes that are linked from a JDK: that of contenders, and for the one that runs
/// Elasticsearch as a Pod one with the languages that it splits words of.
fn runtimes(major: u32) -> Vec<(String, String)> {
    let modules = MODULES.join(",");
    let mut all = vec![(format!("jre-{major}"), modules.clone())];
    if major == ELASTICSEARCH_JDK {
        let with_locales = format!("{modules},jdk.localedata");
        all.push((format!("jre-{major}-locales"), with_locales));
    }
    all
}

/// A small Debian with packages, in which a line of shell then works.
async fn debian(engine: &Engine, name: &str, packages: &str, works: &str) -> anyhow::Result<()> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let codename = value(&release, "VERSION_CODENAME").unwrap_or_else(|| "bookworm".to_owned());
    let recipe = digest(&[&codename, packages, &EXCLUDED.join(" ")]);
    let reference = base_reference(name);
    if up_to_date(engine, &reference, &recipe).await? {
        return Ok(());
    }
    if program("mmdebstrap").is_none() {
        install(&["mmdebstrap"])?;
    }
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    say(&format!("making {reference}, one to two minutes"));
    let content = bootstrap(&codename, packages, folder.path())?;
    let context = Context::of_archive(&content).context("cannot pack what mmdebstrap made")?;
    make(engine, &reference, context, recipe).await?;
    verify(engine, &reference, &["/bin/sh", "-c", works]).await
}

/// A small Debian as a tar archive.
fn bootstrap(codename: &str, packages: &str, folder: &Path) -> anyhow::Result<Vec<u8>> {
    let archive = folder.join("root.tar");
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--quiet", "--variant=essential"])
        .arg("--aptopt=APT::Install-Recommends \"false\"")
        .args(proxies().iter().map(|line| format!("--aptopt={line}")))
        .args(EXCLUDED.map(|path| format!("--dpkgopt=path-exclude={path}")))
        .arg(format!("--hook-dir={MERGED}"))
        .arg(r#"--customize-hook=rm -rf "$1"/var/cache/* "$1"/var/lib/apt/* "$1"/var/log/*"#)
        .arg(format!("--include={packages}"))
        .args([codename.as_ref(), archive.as_os_str()])
        .args(sources(codename, folder)?);
    run(&mut command)?;
    fs::read(&archive).context("cannot read what mmdebstrap made")
}

/// The apt sources of this host that belong to its release, as files for mmdebstrap; none means
/// Debian's own. Sources of others are left out: their packages are not wanted.
fn sources(codename: &str, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    for entry in fs::read_dir("/etc/apt/sources.list.d")
        .into_iter()
        .flatten()
        .flatten()
    {
        files.push(entry.path());
    }
    files.sort();
    let (mut stanzas, mut lines) = (String::new(), String::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => stanzas.push_str(&stanzas_of(&text, codename)),
            Some("list") => lines.push_str(&lines_of(&text, codename)),
            _ => {}
        }
    }
    let mut chosen = Vec::new();
    for (name, text) in [("debian.sources", stanzas), ("debian.list", lines)] {
        if !text.is_empty() {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            chosen.push(path);
        }
    }
    Ok(chosen)
}

/// `bookworm`, `bookworm-updates`, `bookworm-security`.
fn is_of(suite: &str, codename: &str) -> bool {
    suite == codename
        || suite
            .strip_prefix(codename)
            .is_some_and(|rest| rest.starts_with('-'))
}

/// Stanzas of a `.sources` file that belong to a release.
fn stanzas_of(text: &str, codename: &str) -> String {
    let ours = |stanza: &&str| {
        let suites = stanza.lines().find_map(|line| line.strip_prefix("Suites:"));
        suites.is_some_and(|suites| {
            suites
                .split_whitespace()
                .any(|suite| is_of(suite, codename))
        })
    };
    let chosen = text.split("\n\n").filter(ours);
    chosen
        .map(|stanza| format!("{}\n\n", stanza.trim()))
        .collect()
}

/// Lines of a `.list` file that belong to a release: `deb [options] URI SUITE COMPONENTS`.
fn lines_of(text: &str, codename: &str) -> String {
    let ours = |line: &&str| {
        line.starts_with("deb ") && line.split_whitespace().any(|word| is_of(word, codename))
    };
    text.lines()
        .filter(ours)
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Settings of apt without which it would not reach its sources.
fn proxies() -> Vec<String> {
    let output = Command::new("apt-config")
        .args(["dump", "Acquire"])
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let proxy = |line: &&str| line.contains("::Proxy") && !line.contains("\"\"");
    text.lines().filter(proxy).map(str::to_owned).collect()
}

async fn jre(engine: &Engine, name: &str, modules: &str, jdk: &Toolchain) -> anyhow::Result<()> {
    let jlink = jdk.path.join("bin/jlink");
    ensure!(
        jlink.is_file(),
        "{} has no jlink: install the whole JDK",
        jdk.path.display()
    );
    let base = base_reference("debian");
    let below = engine.image(&base).await.map_err(anyhow::Error::msg)?;
    let below = below.with_context(|| format!("{base} is missing"))?;
    let release = fs::read_to_string(jdk.path.join("release")).unwrap_or_default();
    let recipe = digest(&[&below.id, &release, &modules.replace(',', " ")]);
    let reference = base_reference(name);
    if up_to_date(engine, &reference, &recipe).await? {
        return Ok(());
    }
    let version = jdk.version.as_deref().unwrap_or_default();
    say(&format!("making {reference} of {version}"));
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let runtime = folder.path().join("jre");
    // Without the archive of classes each start would be slower than on a whole JDK.
    let mut command = Command::new(&jlink);
    command
        .arg("--add-modules")
        .arg(modules)
        .args([
            "--strip-debug",
            "--no-header-files",
            "--no-man-pages",
            "--generate-cds-archive",
        ])
        .arg("--output")
        .arg(&runtime);
    run(&mut command)?;
    let context = Context::of_files(&base, &[(runtime, "/opt/jre".to_owned())])
        .context("cannot pack what jlink made")?;
    make(engine, &reference, context, recipe).await?;
    verify(
        engine,
        &reference,
        &[&java_in_image(), "-Xshare:on", "-version"],
    )
    .await
}

async fn up_to_date(engine: &Engine, reference: &str, recipe: &str) -> anyhow::Result<bool> {
    let image = engine.image(reference).await.map_err(anyhow::Error::msg)?;
    let same = image.filter(|image| image.labels.get(LABEL).is_some_and(|have| have == recipe));
    if let Some(image) = &same {
        say(&format!(
            "{reference} is up to date, {} MiB",
            image.bytes >> 20
        ));
    }
    Ok(same.is_some())
}

async fn make(
    engine: &Engine,
    reference: &str,
    context: Context,
    recipe: String,
) -> anyhow::Result<()> {
    let labels = HashMap::from([(LABEL.to_owned(), recipe)]);
    let image = engine
        .build(reference, context, labels)
        .await
        .map_err(anyhow::Error::msg)?;
    say(&format!("{reference} is made, {} MiB", image.bytes >> 20));
    Ok(())
}

/// Runs a command in an image: an image that cannot run anything is found out here, not in the
/// middle of a session.
async fn verify(engine: &Engine, reference: &str, command: &[&str]) -> anyhow::Result<()> {
    let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let output = engine
        .output(reference, &command)
        .await
        .map_err(anyhow::Error::msg)?;
    if let Some(line) = output.lines().next() {
        say(&format!("{reference} says: {line}"));
    }
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines: Vec<&str> = errors.trim().lines().collect();
        let last = lines[lines.len().saturating_sub(12)..].join("\n");
        bail!("{name}: {}\n{last}", output.status);
    }
    Ok(())
}

/// SHA-256 of the parts in hexadecimal.
fn digest(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.as_bytes());
        digest.update([0]);
    }
    digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// `KEY=value` or `KEY="value"`.
fn value(text: &str, key: &str) -> Option<String> {
    let mut pairs = text.lines().filter_map(|line| line.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == key)?;
    Some(value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::{lines_of, stanzas_of, value};

    #[test]
    fn only_sources_of_the_release_are_taken() {
        let text = "Types: deb\nURIs: http://a\nSuites: bookworm bookworm-updates\n\n\
                    Types: deb\nURIs: http://b\nSuites: nodistro\n";
        let expect = "Types: deb\nURIs: http://a\nSuites: bookworm bookworm-updates\n\n";
        assert_eq!(stanzas_of(text, "bookworm"), expect);
        let text = "deb http://a cloud-bookworm main\n# deb http://a bookworm main\n\
                    deb [signed-by=/k] http://a bookworm-security main\n";
        let expect = "deb [signed-by=/k] http://a bookworm-security main\n";
        assert_eq!(lines_of(text, "bookworm"), expect);
        assert_eq!(value("A=\"b\"\n", "A").as_deref(), Some("b"));
    }
}
