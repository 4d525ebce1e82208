//! A real PostgreSQL: a separate cluster in the session's folder, a database for each contender.
//!
//! Settings are those that PostgreSQL ships with, `fsync` included, but for what makes it live in
//! one folder and lets drivers of 2016 log in. It refuses to run as root and so gets another user
//! then. A server that is killed leaves 56 bytes of System V shared memory until the host starts
//! again: PostgreSQL's own lock, which only a start in the same folder would remove.

use std::ffi::OsStr;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::MissingToolchain;
use bakeoff_model::text::database_url::DatabaseUrl;

use crate::local::ProcessRuntime;
use crate::services::databases::{Databases, ROLE, Socket};
use crate::services::options::BackendOptions;
use crate::services::psql::{NAME, as_administrator, failed, output};
use crate::services::running::{Backend, address, spec, started};
use crate::services::server::Server;

/// How long it may take until it responds: 1 s on an idle host.
pub(crate) const READY: Duration = Duration::from_secs(60);

/// How its folder of data is made. Drivers of 2016 know no other kind of password.
const INITDB: [&str; 5] = [
    "--username=postgres",
    "--encoding=UTF8",
    "--no-locale",
    "--auth-local=trust",
    "--auth-host=md5",
];

/// The differences from the settings that it ships with: passwords as above, and shared memory in
/// the folder of data, so that it goes with it.
const SETTINGS: [&str; 2] = ["password_encryption=md5", "dynamic_shared_memory_type=mmap"];

/// Where programs of Debian's packages are in an image, as a shell finds them.
const PROGRAMS_IN_IMAGE: &str = "/usr/lib/postgresql/*/bin";

/// The folder of the data and the socket in a container.
const FOLDER_IN_IMAGE: &str = "/tmp";

pub(super) async fn start(
    runtime: &ProcessRuntime,
    options: &BackendOptions,
) -> Result<Backend, Problem> {
    let programs = Programs::find()?;
    let address = address(options, NAME)?;
    let folder = runtime.folder().join(format!("{NAME}-{}", address.port()));
    let owner = owner();
    make_folder(&folder, runtime.folder(), owner)
        .map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    initialise(&programs.initdb, &folder, owner).await?;
    let command = command(&programs.postgres, &folder, address, owner);
    let mut spec = spec(NAME, options, address, command);
    spec.workdir.clone_from(&folder);
    let instance = started(runtime, &spec).await?;
    let databases = Databases::ours(Socket {
        psql: programs.psql,
        folder: folder.clone(),
        port: address.port(),
    });
    let mut backend = Backend::of(NAME, address, instance).with_scratch(folder);
    let answers = async |_| databases.answer().await;
    backend.await_ready(READY, answers).await?;
    databases.fill_template(&options.data).await?;
    Ok(backend.with_databases(databases))
}

/// Makes a server that runs already the backend of this session.
pub(super) async fn use_server(
    options: &BackendOptions,
    url: &DatabaseUrl,
) -> Result<Backend, Problem> {
    let psql = on_path("psql").ok_or_else(|| missing("psql", "postgresql-client"))?;
    let password = url.password().map(str::to_owned);
    let password = password.or_else(|| std::env::var("PGPASSWORD").ok());
    let url = url.clone().with_password(password);
    let found = tokio::net::lookup_host((url.host(), url.port())).await;
    let found = found.map_err(|error| failed(format!("{} has no address: {error}", url.host())))?;
    // Contenders of today know IPv6, those of 2016 may not.
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    let Some(address) = addresses.first().copied() else {
        return Err(failed(format!("{} has no address", url.host())));
    };
    let databases = Databases::theirs(Server::claim(psql, url).await?);
    databases.fill_template(&options.data).await?;
    Ok(Backend::elsewhere(NAME, address).with_databases(databases))
}

fn missing(program: &str, package: &str) -> Problem {
    failed(MissingToolchain {
        name: program.to_owned(),
        how: format!("install it (Debian: apt install {package}), or put it on the PATH"),
    })
}

/// Where PostgreSQL's programs may be: the PATH, then where Debian puts them, the newest first.
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let versions = installed.flatten().map(|entry| entry.path());
    path.into_iter().chain(newest_first(versions))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let mut found = folders().map(|folder| folder.join(program));
    found.find(|path| path.is_file())
}

/// PostgreSQL's programs, of one version.
struct Programs {
    initdb: PathBuf,
    postgres: PathBuf,
    psql: PathBuf,
}

impl Programs {
    /// Finds the programs on the PATH, else the newest where Debian puts them.
    fn find() -> Result<Self, Problem> {
        Self::find_in(folders()).ok_or_else(|| {
            failed(MissingToolchain {
                name: "postgresql".to_owned(),
                how: "install PostgreSQL's server, version 13 or later (Debian: apt install \
                      postgresql), or put its `initdb`, `postgres` and `psql` on the PATH"
                    .to_owned(),
            })
        })
    }

    fn find_in(folders: impl Iterator<Item = PathBuf>) -> Option<Self> {
        folders.into_iter().find_map(|folder| {
            let program = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
            Some(Self {
                initdb: program("initdb")?,
                postgres: program("postgres")?,
                psql: program("psql")?,
            })
        })
    }
}

/// `/usr/lib/postgresql/VERSION` to its folder of programs, the highest version first.
fn newest_first(versions: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let number = |path: &Path| -> u32 {
        let name = path.file_name().and_then(OsStr::to_str);
        name.and_then(|name| name.parse().ok()).unwrap_or(0)
    };
    let mut versions: Vec<PathBuf> = versions.collect();
    versions.sort_by_key(|path| std::cmp::Reverse(number(path)));
    versions.iter().map(|path| path.join("bin")).collect()
}

/// A user and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    user: u32,
    group: u32,
}

/// The user that the server runs as when we are root; `None` when we are not.
fn owner() -> Option<Owner> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    Some(owner_of(&users))
}

/// Debian's user for PostgreSQL, else the one that owns nothing.
fn owner_of(passwd: &str) -> Owner {
    const NOBODY: Owner = Owner {
        user: 65_534,
        group: 65_534,
    };
    let find = |name: &str| {
        let mut fields = passwd
            .lines()
            .map(|line| line.split(':'))
            .find_map(|mut fields| (fields.next() == Some(name)).then_some(fields))?;
        Some(Owner {
            user: fields.nth(1)?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    };
    find("postgres")
        .or_else(|| find("nobody"))
        .unwrap_or(NOBODY)
}

/// Only the server may go through this folder to its socket, which asks no password. The one of the
/// session around it is passed by the server's user, who cannot list it.
fn make_folder(folder: &Path, around: &Path, owner: Option<Owner>) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    let Some(owner) = owner else {
        return Ok(());
    };
    fs::set_permissions(around, fs::Permissions::from_mode(0o711))?;
    chown(folder, Some(owner.user), Some(owner.group))
}

async fn initialise(initdb: &Path, folder: &Path, owner: Option<Owner>) -> Result<(), Problem> {
    let mut command = Command::new(initdb);
    command
        .args(INITDB)
        .arg("--pgdata")
        .arg(folder.join("data"))
        .current_dir(folder);
    if let Some(owner) = owner {
        command.uid(owner.user).gid(owner.group);
    }
    output(command, "initdb").await?;
    let rule = format!("{}\n", rule());
    let path = folder.join("data/pg_hba.conf");
    let rules = fs::read_to_string(&path).and_then(|rules| fs::write(&path, rules + &rule));
    rules.map_err(|error| failed(format!("{}: {error}", path.display())))
}

/// Lets contenders in: those in containers come from another network.
fn rule() -> String {
    format!("host all {ROLE} 0.0.0.0/0 md5")
}

/// The command by which a container makes its data and becomes the server, on this port of all its
/// addresses.
pub(crate) fn command_in_image(port: u16) -> Vec<String> {
    let (folder, rule, initdb) = (FOLDER_IN_IMAGE, rule(), INITDB.join(" "));
    let settings = SETTINGS.map(|setting| format!("-c {setting}")).join(" ");
    let script = format!(
        "set -e; cd {PROGRAMS_IN_IMAGE}; ./initdb {initdb} --pgdata {folder}/data; \
         echo '{rule}' >> {folder}/data/pg_hba.conf; \
         exec ./postgres -D {folder}/data -k {folder} -h 0.0.0.0 -p {port} {settings}"
    );
    ["/bin/sh", "-c", &script].map(str::to_owned).into()
}

/// The command that runs statements in that container.
pub(crate) fn psql_in_image(port: u16, database: &str, statements: &str) -> Vec<String> {
    // The shell finds the program, and passes what follows as it is.
    let script = format!("exec {PROGRAMS_IN_IMAGE}/psql \"$@\"");
    let mut command: Vec<String> = ["/bin/sh", "-c", &script, "psql"].map(str::to_owned).into();
    command.extend(as_administrator(
        FOLDER_IN_IMAGE,
        port,
        database,
        statements,
    ));
    command
}

fn command(
    postgres: &Path,
    folder: &Path,
    address: SocketAddr,
    owner: Option<Owner>,
) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut command = Vec::new();
    if let Some(Owner { user, group }) = owner {
        command.extend([
            "setpriv".to_owned(),
            format!("--reuid={user}"),
            format!("--regid={group}"),
            "--clear-groups".to_owned(),
        ]);
    }
    command.extend([
        text(postgres),
        "-D".to_owned(),
        text(&folder.join("data")),
        "-k".to_owned(),
        text(folder),
        "-h".to_owned(),
        address.ip().to_string(),
        "-p".to_owned(),
        address.port().to_string(),
    ]);
    for setting in SETTINGS {
        command.extend(["-c".to_owned(), setting.to_owned()]);
    }
    command
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Owner, Programs, newest_first, owner_of};

    #[test]
    fn who_owns_the_server() {
        let both = "root:x:0:0::/root:/bin/sh\nnobody:x:65:66::/:\npostgres:x:101:104::/:\n";
        for (passwd, user, group) in [
            (both, 101, 104),
            ("nobody:x:65:66::/:", 65, 66),
            ("postgres:x", 65_534, 65_534),
            ("", 65_534, 65_534),
        ] {
            assert_eq!(owner_of(passwd), Owner { user, group }, "{passwd:?}");
        }
    }

    #[test]
    fn the_newest_version_that_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        for program in [
            "9/bin/psql",
            "15/bin/initdb",
            "15/bin/postgres",
            "15/bin/psql",
        ] {
            let path = folder.path().join(program);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let versions = ["9", "15", "16"].map(|version| folder.path().join(version));
        let folders = newest_first(versions.into_iter());
        let expect = ["16", "15", "9"].map(|version| folder.path().join(version).join("bin"));
        assert_eq!(folders, expect);
        let found = Programs::find_in(folders.into_iter()).unwrap();
        assert_eq!(found.postgres, expect[1].join("postgres"));
        assert!(Programs::find_in([PathBuf::from("/nowhere")].into_iter()).is_none());
    }
}
