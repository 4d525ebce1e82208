//! Services of the user's own and requests to them, as they are named for a duel or a first suite.

pub(crate) mod near_paths;
pub(crate) mod tables;

use std::collections::BTreeMap;
use std::path::PathBuf;

use bakeoff_import::Operation;
use bakeoff_model::request::Body;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_model::suite::container::ContainerSettings;
use bakeoff_model::suite::volume::Volume;
use bakeoff_model::text::deployment_name::DeploymentName;
use bakeoff_model::text::service_url::ServiceUrl;

/// One of the services of a duel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuelService {
    /// Name of the service in reports.
    pub name: String,
    /// The service, as the user wrote it.
    pub text: String,
    /// The service.
    pub service: ServiceSource,
    /// Where its command is started, instead of where those of all others are.
    pub workdir: Option<PathBuf>,
}

/// Where a service comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceSource {
    /// A program and its arguments.
    Command(Vec<String>),
    /// An image with an entry point.
    Image(ServiceImage),
    /// A service of a compose file, by its name there.
    Compose(String),
    /// A copy of what a Deployment of a cluster runs.
    Deployment(DeploymentName),
    /// A service that runs already.
    Url(ServiceUrl),
}

/// An image that is a service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceImage {
    /// Name of the image, as engines know it.
    pub reference: String,
    /// Replaces the image's entry point; empty for its own.
    pub entrypoint: Vec<String>,
    /// Replace the arguments of its entry point; empty for its own.
    pub arguments: Vec<String>,
    /// Environment variables of this service alone.
    pub env: BTreeMap<String, String>,
    /// Files and folders of this host that it can read.
    pub volumes: Vec<Volume>,
    /// How a container of it is started besides.
    pub container: Box<ContainerSettings>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuelRequest {
    /// The name in reports and messages: `GET /path`.
    pub name: String,
    /// How often it is sent, relative to the others; at least 1.
    pub weight: u32,
    /// The method, upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers, in order; a name may come several times.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
}

impl From<Operation> for DuelRequest {
    fn from(operation: Operation) -> Self {
        Self {
            name: operation.name,
            weight: operation.weight,
            method: operation.method,
            path: operation.path,
            headers: operation.headers,
            body: operation.body.into(),
        }
    }
}

impl ServiceSource {
    /// The runtime of such a service.
    #[must_use]
    pub fn runtime(&self, in_cluster: bool) -> RuntimeKind {
        match self {
            Self::Command(_) => RuntimeKind::Process,
            Self::Image(_) if in_cluster => RuntimeKind::Kubernetes,
            Self::Image(_) | Self::Compose(_) => RuntimeKind::Docker,
            Self::Deployment(_) => RuntimeKind::Kubernetes,
            Self::Url(_) => RuntimeKind::External,
        }
    }

    /// Such a service in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "a command",
            Self::Image(_) => "an image",
            Self::Compose(_) => "a service of a compose file",
            Self::Deployment(_) => "a Deployment",
            Self::Url(_) => "a URL",
        }
    }
}
