//! How a user names a Deployment of a cluster.

use std::fmt;
use std::str::FromStr;

use bakeoff_base::problem::Problem;

/// The name of a Deployment and its container: `NAMESPACE/NAME[/CONTAINER]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploymentName {
    /// The namespace.
    pub namespace: String,
    /// The name in it.
    pub name: String,
    /// The container [default: the only one].
    pub container: Option<String>,
}

impl FromStr for DeploymentName {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split('/').collect();
        let (namespace, name, container) = match *parts.as_slice() {
            [namespace, name] => (namespace, name, None),
            [namespace, name, container] => (namespace, name, Some(container.to_owned())),
            _ => ("", "", None),
        };
        let is_empty = |part: &&str| part.is_empty();
        if namespace.is_empty() || parts.iter().any(is_empty) {
            return Err(format!(
                "{text:?} names no Deployment; write NAMESPACE/NAME, or NAMESPACE/NAME/CONTAINER"
            )
            .into());
        }
        Ok(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            container,
        })
    }
}

impl fmt::Display for DeploymentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)?;
        match &self.container {
            Some(container) => write!(f, "/{container}"),
            None => Ok(()),
        }
    }
}
