//! Other hosts, reached by SSH, as a user names them.

use bakeoff_base::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::suite::conditions::RuntimeKind;
use crate::text::ssh_address::SshAddress;

/// Other hosts, reached by SSH, on which parts of a session run. What is not named runs here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FarHosts {
    /// The host of contenders that are processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contender: Option<SshAddress>,
    /// The host of the load generator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<SshAddress>,
}

impl FarHosts {
    /// Whether everything runs here.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses hosts that do not go with a runtime. `engine_is_far` says that containers run on
    /// another host.
    ///
    /// # Errors
    /// Which one, and why.
    pub fn check(&self, runtime: RuntimeKind, engine_is_far: bool) -> Result<(), Problem> {
        if let Some(address) = &self.contender {
            let hint = match runtime {
                RuntimeKind::Process => None,
                RuntimeKind::Docker => Some(format!(
                    "name the host of the Docker engine by DOCKER_HOST={address} instead"
                )),
                RuntimeKind::Kubernetes => Some("the cluster places contenders itself".to_owned()),
                RuntimeKind::External => {
                    Some("services that run already are where they are".into())
                }
            };
            if let Some(hint) = hint {
                let message = format!(
                    "--contender-host {address} requires --runtime process (it is {runtime})"
                );
                return Err(Problem::new(message).with_hint(hint));
            }
        }
        let Some(address) = &self.load else {
            return Ok(());
        };
        let (why, hint) = match runtime {
            RuntimeKind::Process if self.contender.is_none() => (
                "contenders are processes of this host, in networks that only this host reaches",
                "--contender-host ssh://HOST starts them on another host",
            ),
            RuntimeKind::Docker if !engine_is_far => (
                "containers of this host have addresses that only this host reaches",
                "DOCKER_HOST=ssh://HOST starts them on another host",
            ),
            RuntimeKind::Kubernetes => (
                "in a cluster load comes from Pods",
                "--load-pods and --load-nodes say from how many, and where",
            ),
            RuntimeKind::Process | RuntimeKind::Docker | RuntimeKind::External => return Ok(()),
        };
        let message = format!("--load-host {address} cannot send load to them: {why}");
        Err(Problem::new(message).with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::{FarHosts, RuntimeKind};

    #[test]
    fn hosts_go_with_what_they_can_run() {
        let hosts = |contender: bool, load: bool| FarHosts {
            contender: contender.then(|| "ssh://b".parse().unwrap()),
            load: load.then(|| "ssh://c".parse().unwrap()),
        };
        let check = |hosts: &FarHosts, runtime, far, expect: Option<&str>| {
            let found = hosts.check(runtime, far).map_err(|error| error.to_string());
            match expect {
                None => assert_eq!(found, Ok(())),
                Some(text) => assert!(found.as_ref().is_err_and(|e| e.contains(text)), "{found:?}"),
            }
        };
        let (process, docker) = (RuntimeKind::Process, RuntimeKind::Docker);
        for runtime in RuntimeKind::ALL {
            check(&FarHosts::default(), *runtime, false, None);
        }
        check(&hosts(true, true), process, false, None);
        check(
            &hosts(true, false),
            docker,
            true,
            Some("requires --runtime process"),
        );
        check(
            &hosts(false, true),
            process,
            false,
            Some("--load-host ssh://c cannot send"),
        );
        check(
            &hosts(false, true),
            docker,
            false,
            Some("containers of this host"),
        );
        check(&hosts(false, true), docker, true, None);
        check(&hosts(false, true), RuntimeKind::External, false, None);
        check(
            &hosts(false, true),
            RuntimeKind::Kubernetes,
            false,
            Some("load comes from Pods"),
        );
        let text = serde_json::to_string(&hosts(true, true)).unwrap();
        assert_eq!(text, r#"{"contender":"ssh://b","load":"ssh://c"}"#);
    }
}
