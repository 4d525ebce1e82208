//! The least that a user must be allowed.

/// The roles, as YAML to apply: namespaces of the session, Pods in them, names of nodes.
#[must_use]
pub fn manifest() -> &'static str {
    "\
# What bakeoff needs in a cluster. Bind it to whoever runs bakeoff:
#   kubectl create clusterrolebinding bakeoff --clusterrole=bakeoff --user=ann
#
# It makes two namespaces a session, bakeoff-... (Pod Security: restricted) and bakeoff-...-meter
# (privileged, because its Pods mount /sys/fs/cgroup of their node, read-only, as user nobody), and
# deletes them in the end. RBAC cannot name namespaces that do not exist yet, so the rules on Pods
# hold everywhere; bakeoff uses them in its own namespaces alone.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: bakeoff
rules:
- apiGroups: ['']
  resources: [namespaces]
  verbs: [create, delete, get, list]
- apiGroups: ['']
  resources: [nodes]
  verbs: [list]
- apiGroups: ['']
  resources: [pods]
  verbs: [create, delete, deletecollection, get]
- apiGroups: ['']
  resources: [pods/exec]
  verbs: [create, get]
- apiGroups: ['']
  resources: [pods/log]
  verbs: [get]
"
}
