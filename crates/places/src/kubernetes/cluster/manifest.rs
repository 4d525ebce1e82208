//! The least rights that a user needs, as a manifest to apply and as queries to the cluster.

use k8s_openapi::api::authorization::v1::SelfSubjectAccessReview;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::kubernetes::cluster::connection::Cluster;
use crate::kubernetes::cluster::error::ClusterError;

/// The permissions on one kind of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rule {
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
}

/// In a session's namespace.
const INSIDE: [Rule; 6] = [
    Rule {
        group: "",
        resource: "pods",
        verbs: &["create", "delete", "deletecollection", "get", "list"],
    },
    Rule {
        group: "",
        resource: "pods/exec",
        verbs: &["create", "get"],
    },
    Rule {
        group: "",
        resource: "pods/log",
        verbs: &["get"],
    },
    Rule {
        group: "",
        resource: "pods/portforward",
        verbs: &["create", "get"],
    },
    Rule {
        group: "",
        resource: "events",
        verbs: &["list"],
    },
    Rule {
        group: "batch",
        resource: "jobs",
        verbs: &["create", "delete", "deletecollection"],
    },
];

/// Of the cluster, always: names of nodes.
const NODES: Rule = Rule {
    group: "",
    resource: "nodes",
    verbs: &["list"],
};

/// Of the cluster, if a session makes its own namespaces.
const NAMESPACES: Rule = Rule {
    group: "",
    resource: "namespaces",
    verbs: &["create", "delete", "get", "list"],
};

/// The manifest: roles for sessions that make their namespaces, or for those that work in one that
/// is there, which is made too. One item a document.
#[must_use]
pub fn manifest(namespace: Option<&str>) -> String {
    match namespace {
        None => whole(),
        Some(name) => within(name),
    }
}

fn whole() -> String {
    let rules: Vec<Rule> = [NAMESPACES, NODES].into_iter().chain(INSIDE).collect();
    format!(
        "\
# What bakeoff needs in a cluster where it makes its own namespaces. Bind it to its user:
#   kubectl create clusterrolebinding bakeoff --clusterrole=bakeoff --user=ann
#
# A session makes two namespaces, bakeoff-... (Pod Security: restricted) and bakeoff-...-meter
# (privileged, because its Pods mount /sys/fs/cgroup of their node, read-only, and see its
# processes, as user nobody), and deletes them in the end. RBAC cannot name namespaces that do not
# exist yet, so the rules on Pods hold everywhere; bakeoff uses them in its own namespaces alone.
# `bakeoff kubernetes manifest --namespace NAME` has rules for two namespaces, and for no other.
{}",
        role("ClusterRole", "bakeoff", None, &rules)
    )
}

fn within(name: &str) -> String {
    let meter = format!("{name}-meter");
    let parts = [
        format!(
            "\
# What bakeoff needs to work in the namespace {name} (--cluster-namespace {name}). Bind it to
# its user:
#   kubectl -n {name} create rolebinding bakeoff --role=bakeoff --user=ann
#   kubectl -n {meter} create rolebinding bakeoff --role=bakeoff --user=ann
#   kubectl create clusterrolebinding bakeoff-nodes --clusterrole=bakeoff-nodes --user=ann
{}",
            namespace_of(name, "restricted")
        ),
        format!(
            "\
# Its meters mount /sys/fs/cgroup of their node, read-only, and see its processes, as user nobody;
# Pod Security calls that privileged.
{}",
            namespace_of(&meter, "privileged")
        ),
        role("Role", "bakeoff", Some(name), &INSIDE),
        role("Role", "bakeoff", Some(&meter), &INSIDE[..2]),
        role("ClusterRole", "bakeoff-nodes", None, &[NODES]),
    ];
    parts.join("---\n")
}

fn namespace_of(name: &str, security: &str) -> String {
    format!(
        "apiVersion: v1
kind: Namespace
metadata:
  name: {name}
  labels:
    pod-security.kubernetes.io/enforce: {security}
"
    )
}

fn role(kind: &str, name: &str, namespace: Option<&str>, rules: &[Rule]) -> String {
    let place = namespace.map(|name| format!("  namespace: {name}\n"));
    let rule = |rule: &Rule| {
        format!(
            "- apiGroups: ['{}']\n  resources: [{}]\n  verbs: [{}]\n",
            rule.group,
            rule.resource,
            rule.verbs.join(", ")
        )
    };
    let rules: String = rules.iter().map(rule).collect();
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{}\
         rules:\n{rules}",
        place.unwrap_or_default()
    )
}

impl Cluster {
    /// Returns the parts of the manifest that are missing or not allowed, a line each: `list
    /// nodes`, `create pods/exec in bakeoff`.
    ///
    /// # Errors
    /// The cluster does not respond.
    pub async fn not_allowed(&self, namespace: Option<&str>) -> Result<Vec<String>, ClusterError> {
        let reviews: Api<SelfSubjectAccessReview> = self.all();
        let mut missing = Vec::new();
        if let Some(meters) = namespace.map(|name| format!("{name}-meter"))
            && matches!(self.namespaces().get_opt(&meters).await, Ok(None))
        {
            missing.push(format!("there is no {meters}"));
        }
        for (place, rule) in asked(namespace) {
            for verb in rule.verbs {
                let review = review(place.as_deref(), rule, verb);
                let made = reviews.create(&PostParams::default(), &review).await;
                let made = made.map_err(|error| ClusterError::of("ask what is allowed", &error))?;
                if made.status.is_none_or(|status| !status.allowed) {
                    let place = place.as_ref().map(|name| format!(" in {name}"));
                    let place = place.unwrap_or_default();
                    missing.push(format!("{verb} {}{place}", rule.resource));
                }
            }
        }
        Ok(missing)
    }
}

/// Every rule with the namespace in which it must hold.
fn asked(namespace: Option<&str>) -> Vec<(Option<String>, Rule)> {
    let inside = |place: Option<String>, rules: &[Rule]| -> Vec<(Option<String>, Rule)> {
        rules.iter().map(|rule| (place.clone(), *rule)).collect()
    };
    let mut all = vec![(None, NODES)];
    match namespace {
        None => {
            all.push((None, NAMESPACES));
            all.extend(inside(None, &INSIDE));
        }
        Some(name) => {
            all.extend(inside(Some(name.to_owned()), &INSIDE));
            all.extend(inside(Some(format!("{name}-meter")), &INSIDE[..2]));
        }
    }
    all
}

fn review(namespace: Option<&str>, rule: Rule, verb: &str) -> SelfSubjectAccessReview {
    let (resource, subresource) = match rule.resource.split_once('/') {
        Some((resource, part)) => (resource, Some(part)),
        None => (rule.resource, None),
    };
    let review: Value = json!({
        "metadata": {},
        "spec": {"resourceAttributes": {
            "namespace": namespace, "verb": verb, "group": rule.group,
            "resource": resource, "subresource": subresource,
        }},
    });
    serde_json::from_value(review).expect("what is written above is a review")
}

#[cfg(test)]
mod tests {
    use super::manifest;

    #[test]
    fn a_namespace_of_ones_own_needs_no_rights_on_pods_elsewhere() {
        let text = manifest(Some("team"));
        let cluster = text
            .split("---\n")
            .filter(|one| one.contains("kind: ClusterRole\n"));
        for document in cluster {
            assert!(!document.contains("resources: [pods"), "{document}");
        }
        assert!(text.contains("kind: Role\n") && text.contains("namespace: team-meter"));
        assert!(manifest(None).contains("resources: [namespaces]"));
    }
}
