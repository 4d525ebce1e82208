//! A Kubernetes cluster for the tests: that of the kubeconfig's current context, else one of kind
//! or k3d where these are installed, else one that is built and started on this machine by the
//! scripts in `xtask/cluster`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use bakeoff_runtime::build::cache_dir;
use bakeoff_runtime::kubernetes::{Cluster, ClusterSettings};

use crate::chores::works;
use crate::docker::block_on;
use crate::workspace::say;

/// What clusters of ours are called.
const NAME: &str = "bakeoff";

/// Nodes of a kind cluster: one that takes no Pods, and two that do.
const KIND: &str = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n\
                    - role: control-plane\n- role: worker\n- role: worker\n";

/// What is to be done with the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Action {
    /// Start one if none answers, and print the variables that name it.
    Start,
    /// Remove the one that `start` started.
    Stop,
}

/// How a cluster is reached, and how images come to its nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The kubeconfig; what the environment says when absent.
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The command that loads an image archive into the nodes.
    pub(crate) loader: Option<String>,
    /// What kubectl is called; by that name when absent.
    pub(crate) kubectl: Option<PathBuf>,
}

impl Found {
    /// The same as variables of the environment.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let kubeconfig = self.kubeconfig.as_ref();
        let kubeconfig = kubeconfig.map(|path| ("KUBECONFIG", path.display().to_string()));
        let loader = self.loader.clone();
        let loader = loader.map(|command| ("BAKEOFF_IMAGE_LOADER", command));
        let kubectl = self.kubectl.as_ref();
        let kubectl = kubectl.map(|path| ("KUBECTL", path.display().to_string()));
        kubeconfig
            .into_iter()
            .chain(loader)
            .chain(kubectl)
            .collect()
    }
}

/// Starts or removes the cluster.
pub(crate) fn cluster(root: &Path, action: Action) -> anyhow::Result<()> {
    match action {
        Action::Start => {
            for (name, value) in start(root)?.variables() {
                say(&format!("export {name}='{value}'"));
            }
            Ok(())
        }
        Action::Stop => stop(root),
    }
}

/// The cluster that answers, or a new one.
pub(crate) fn start(root: &Path) -> anyhow::Result<Found> {
    let loader = std::env::var("BAKEOFF_IMAGE_LOADER").ok();
    if let Ok(context) = answering() {
        say(&format!("the cluster of context {context} answers"));
        let known = ClusterSettings::default().loader(&context);
        return Ok(Found {
            kubeconfig: None,
            loader: loader.or(known),
            kubectl: None,
        });
    }
    if works("kind", &["version"]) {
        return of_tool(
            "kind",
            &["create", "cluster", "--name", NAME, "--config", "-"],
            KIND,
        );
    }
    if works("k3d", &["version"]) {
        let arguments = ["cluster", "create", NAME, "--agents", "2", "--wait"];
        return of_tool("k3d", &arguments, "");
    }
    our_own(root)
}

/// Removes the cluster that [`start`] made.
pub(crate) fn stop(root: &Path) -> anyhow::Result<()> {
    if home().join("run").is_dir() {
        return script(root, "down.sh", &[]);
    }
    if works("kind", &["version"]) {
        return run("kind", &["delete", "cluster", "--name", NAME], "");
    }
    if works("k3d", &["version"]) {
        return run("k3d", &["cluster", "delete", NAME], "");
    }
    say("there is no cluster of ours");
    Ok(())
}

/// The context of a cluster that answers.
pub(crate) fn answering() -> anyhow::Result<String> {
    block_on(async {
        let cluster = Cluster::find(None).await?;
        let nodes = cluster.nodes().await?;
        ensure!(!nodes.is_empty(), "no node takes Pods");
        Ok(cluster.context().to_owned())
    })
}

fn of_tool(tool: &str, arguments: &[&str], input: &str) -> anyhow::Result<Found> {
    run(tool, arguments, input)?;
    let context = answering().context("the new cluster does not answer")?;
    Ok(Found {
        kubeconfig: None,
        loader: ClusterSettings::default().loader(&context),
        kubectl: None,
    })
}

fn run(program: &str, arguments: &[&str], input: &str) -> anyhow::Result<()> {
    use std::io::Write as _;

    let mut command = Command::new(program);
    let mut child = command
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let status = child.wait()?;
    ensure!(
        status.success(),
        "{program} {}: {status}",
        arguments.join(" ")
    );
    Ok(())
}

/// Everything of the cluster of our scripts is below this folder.
fn home() -> PathBuf {
    cache_dir().join("cluster")
}

fn our_own(root: &Path) -> anyhow::Result<Found> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "building a cluster takes root; start one of your own (kind, k3d), and set KUBECONFIG"
    );
    if !works("go", &["version"]) {
        bail!("no cluster answers, and building one takes Go, which is missing");
    }
    let run = home().join("run");
    let found = Found {
        kubeconfig: Some(run.join("kubeconfig")),
        kubectl: Some(run.join("kubectl")),
        loader: Some(format!(
            "for socket in {}/n*/containerd.sock; do ctr --address $socket --namespace k8s.io \
             images import {{}} || exit 1; done",
            run.display()
        )),
    };
    if run.is_dir() {
        // One that broke down, or one that is not named in the environment.
        script(root, "down.sh", &[])?;
    }
    script(root, "build.sh", &[])?;
    script(root, "up.sh", &["2"])?;
    Ok(found)
}

fn script(root: &Path, name: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let path = root.join("xtask/cluster").join(name);
    let mut command = Command::new(&path);
    let status = command.args(arguments).env("CLUSTER_HOME", home()).status();
    let status = status.with_context(|| format!("cannot run {}", path.display()))?;
    ensure!(status.success(), "{}: {status}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn a_cluster_is_named_by_variables() {
        let found = Found {
            kubeconfig: Some("/a".into()),
            loader: None,
            kubectl: None,
        };
        assert_eq!(found.variables(), [("KUBECONFIG", "/a".to_owned())]);
    }
}
