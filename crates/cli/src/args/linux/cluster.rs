//! Arguments about a Kubernetes cluster.

use std::path::PathBuf;

use bakeoff_model::suite::cluster_settings::ClusterSettings;
use clap::Args;

/// Heading of these options in the help. Each has it by itself: one for the whole group would also
/// be that of all options declared after it.
pub(crate) const HEADING: &str = "With --runtime kubernetes";

/// Which cluster, how images come to its nodes, and what sends the load.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterArgs {
    /// Context of the kubeconfig [default: the current one].
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "NAME")]
    pub(crate) cluster_context: Option<String>,
    /// Work in this namespace, and for meters in NAME-meter, instead of namespaces of the
    /// session's own; `bakeoff kubernetes manifest --namespace NAME` makes both.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "NAME")]
    pub(crate) cluster_namespace: Option<String>,
    /// Push images to this registry, from which the nodes pull them: `registry.example.org/team`.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "PREFIX")]
    pub(crate) image_registry: Option<String>,
    /// Load images into the nodes by this command, in which `{}` is an archive; known for kind,
    /// k3d and minikube.
    #[arg(
        long, help_heading = HEADING, hide_short_help = true,
        value_name = "COMMAND", env = "BAKEOFF_IMAGE_LOADER"
    )]
    pub(crate) image_loader: Option<String>,
    /// Send the load from this number of Pods, which start together; one core each.
    #[arg(
        long, help_heading = HEADING, hide_short_help = true, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub(crate) load_pods: Option<u32>,
    /// Send the load from these nodes.
    #[arg(
        long, help_heading = HEADING, hide_short_help = true,
        value_name = "NODES", value_delimiter = ','
    )]
    pub(crate) load_nodes: Vec<String>,
    /// The bakeoff for Pods, if nodes have another architecture [default: this program].
    #[arg(
        long, help_heading = HEADING, hide_short_help = true,
        value_name = "FILE", env = "BAKEOFF_POD_PROGRAM"
    )]
    pub(crate) pod_program: Option<PathBuf>,
}

impl ClusterArgs {
    /// Returns the settings in the session's type.
    pub(crate) fn settings(&self) -> ClusterSettings {
        ClusterSettings {
            context: self.cluster_context.clone(),
            namespace: self.cluster_namespace.clone(),
            registry: self.image_registry.clone(),
            loader: self.image_loader.clone(),
            load_pods: self.load_pods,
            load_nodes: self.load_nodes.clone(),
            program: self.pod_program.clone(),
        }
    }
}
