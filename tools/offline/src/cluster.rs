//! A Kubernetes cluster for trying and for tests: one of kind or k3d if they work, else two nodes
//! on this machine, which `cluster/cluster.sh` builds and starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use bakeoff_build::cache_dir;

use crate::host::{install, program, say};

/// The name of the cluster, also for kind and k3d.
const NAME: &str = "bakeoff";

/// The parts of our own cluster besides Kubernetes: packages of Debian, each with a program or file
/// of it.
const PACKAGES: [(&str, &str); 9] = [
    ("etcd-server", "etcd"),
    ("containerd", "containerd"),
    ("runc", "runc"),
    ("containernetworking-plugins", "/usr/lib/cni/bridge"),
    ("iptables", "iptables"),
    ("iproute2", "ip"),
    ("socat", "socat"),
    ("openssl", "openssl"),
    ("procps", "sysctl"),
];

/// The nodes of a cluster of kind.
const KIND_CONFIG: &str = "\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes: [{role: control-plane}, {role: worker}, {role: worker}]
";

/// An action on the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Action {
    /// Say what `start` would install, build and start.
    Plan,
    /// Install and build what is missing.
    Build,
    /// Build it if need be, start it, and print the variables by which it is used.
    Start,
    /// Stop the cluster that `start` started.
    Stop,
    /// List its nodes.
    Status,
}

/// The program that makes the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Maker {
    Kind,
    K3d,
    Own,
}

impl Maker {
    const ALL: [Self; 3] = [Self::Kind, Self::K3d, Self::Own];

    fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::K3d => "k3d",
            Self::Own => "own",
        }
    }

    /// The one that works on this host.
    fn of_host() -> Self {
        let works = |maker: &Self| match maker {
            Self::Own => true,
            other => program(other.name()).is_some() && works("docker", &["info"]),
        };
        Self::ALL.into_iter().find(works).unwrap_or(Self::Own)
    }
}

/// Starts, stops or shows the cluster.
pub(crate) fn cluster(action: Action) -> anyhow::Result<()> {
    let home = Cluster::new();
    match action {
        Action::Plan => {
            say(&plan());
            Ok(())
        }
        Action::Build => home.prepare(),
        Action::Start => {
            for (name, value) in home.start()? {
                say(&format!("export {name}='{value}'"));
            }
            Ok(())
        }
        Action::Stop => home.stop(),
        Action::Status => home.status(),
    }
}

/// Everything of the cluster is below this folder.
struct Cluster {
    dir: PathBuf,
}

impl Cluster {
    fn new() -> Self {
        Self {
            dir: cache_dir().join("cluster"),
        }
    }

    /// Installs and builds what is missing.
    fn prepare(&self) -> anyhow::Result<()> {
        if Maker::of_host() != Maker::Own {
            return Ok(());
        }
        let instead = "or have kind or k3d on the PATH, with a Docker engine";
        ensure!(
            rustix::process::geteuid().is_root(),
            "starting nodes takes root; {instead}"
        );
        ensure!(
            works("go", &["version"]),
            "building Kubernetes takes Go 1.24 or newer on the PATH; {instead}"
        );
        let missing = missing_packages();
        if !missing.is_empty() {
            install(&missing)?;
        }
        self.script("build")
    }

    /// Prepares and starts it; the variables by which it is used.
    fn start(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        self.prepare()?;
        fs::create_dir_all(&self.dir).with_context(|| self.dir.display().to_string())?;
        let maker = Maker::of_host();
        fs::write(self.dir.join("maker"), maker.name())?;
        match maker {
            Maker::Kind => self.start_kind()?,
            Maker::K3d => self.start_k3d()?,
            Maker::Own => self.script("start")?,
        }
        let kubeconfig = self.kubeconfig(maker).display().to_string();
        let mut variables = vec![("KUBECONFIG", kubeconfig)];
        if maker == Maker::Own {
            let (script, dir) = (script(), self.dir.display());
            let loader = format!("{} load {dir} {{}}", script.display());
            variables.push(("BAKEOFF_IMAGE_LOADER", loader));
            variables.push(("KUBECTL", format!("{dir}/bin/kubectl")));
        }
        Ok(variables)
    }

    fn start_kind(&self) -> anyhow::Result<()> {
        let config = self.dir.join("kind.yaml");
        fs::write(&config, KIND_CONFIG)?;
        let mut command = Command::new("kind");
        command.args(["create", "cluster", "--name", NAME, "--config"]);
        command.arg(&config);
        command
            .arg("--kubeconfig")
            .arg(self.kubeconfig(Maker::Kind));
        run(&mut command)
    }

    fn start_k3d(&self) -> anyhow::Result<()> {
        let mut command = Command::new("k3d");
        command.args(["cluster", "create", NAME, "--agents", "1", "--no-lb"]);
        command.arg("--kubeconfig-update-default=false");
        run(&mut command)?;
        let mut command = Command::new("k3d");
        command.args(["kubeconfig", "write", NAME, "--output"]);
        run(command.arg(self.kubeconfig(Maker::K3d)))
    }

    /// Ends the cluster that was started, or its remains.
    fn stop(&self) -> anyhow::Result<()> {
        let maker = fs::read_to_string(self.dir.join("maker")).unwrap_or_default();
        let maker = Maker::ALL.into_iter().find(|one| one.name() == maker);
        match maker {
            None => Ok(()),
            Some(Maker::Own) => self.script("stop"),
            Some(Maker::Kind) => {
                run(Command::new("kind").args(["delete", "cluster", "--name", NAME]))
            }
            Some(Maker::K3d) => run(Command::new("k3d").args(["cluster", "delete", NAME])),
        }
    }

    fn status(&self) -> anyhow::Result<()> {
        let maker = fs::read_to_string(self.dir.join("maker")).unwrap_or_default();
        match maker.as_str() {
            "own" => self
                .script("status")
                .context("no cluster runs; `cargo offline cluster start` starts one"),
            "kind" => run(Command::new("kind").args(["get", "nodes", "--name", NAME])),
            "k3d" => run(Command::new("k3d").args(["node", "list"])),
            _ => bail!("no cluster was started; `cargo offline cluster start` starts one"),
        }
    }

    fn kubeconfig(&self, maker: Maker) -> PathBuf {
        match maker {
            Maker::Own => self.dir.join("run/kubeconfig"),
            Maker::Kind | Maker::K3d => self.dir.join("kubeconfig"),
        }
    }

    fn script(&self, command: &str) -> anyhow::Result<()> {
        run(Command::new(script()).arg(command).arg(&self.dir))
    }
}

/// Returns what preparing and starting take on this host.
fn plan() -> String {
    match Maker::of_host() {
        Maker::Own => {
            let missing = missing_packages().join(" ");
            let install = match missing.is_empty() {
                true => String::new(),
                false => format!("install {missing}, "),
            };
            format!("{install}build Kubernetes by Go, start two nodes of it, and stop them")
        }
        other => format!("start a cluster by {}, and delete it", other.name()),
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cluster/cluster.sh")
}

fn missing_packages() -> Vec<&'static str> {
    let is_missing = |file: &str| match file.starts_with('/') {
        true => !Path::new(file).exists(),
        false => program(file).is_none(),
    };
    let missing = PACKAGES.into_iter().filter(|(_, file)| is_missing(file));
    missing.map(|(package, _)| package).collect()
}

/// Whether a command runs and succeeds; what it prints is thrown away.
fn works(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().display().to_string();
    let status = command
        .status()
        .with_context(|| format!("cannot run {name}"))?;
    ensure!(status.success(), "{name}: {status}");
    Ok(())
}
