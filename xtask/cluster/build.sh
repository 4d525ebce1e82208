#!/bin/bash
# Installs what a cluster on one machine takes from Debian, and compiles Kubernetes and the program
# that holds the networks of Pods. Everything else goes into the folder CLUSTER_HOME. Takes ten
# minutes of CPU time once, and a moment when nothing has changed. Needs root and Go.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${CLUSTER_HOME:?}
version=v1.34.4
mkdir -p "$home/bin"

packages=(etcd-server containerd runc containernetworking-plugins iptables iproute2 socat openssl
    util-linux conntrack kmod ethtool ebtables)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends \
        "${packages[@]}" >/dev/null
fi

sources=$(cat "$here/go.mod" "$here/go.sum" "$here/kubernetes/main.go" "$here/pause/main.go" |
    sha256sum | cut -c1-16)
if [ "$(cat "$home/built" 2>/dev/null)" = "$sources" ]; then
    exit 0
fi
export CGO_ENABLED=0 GOFLAGS=-mod=readonly
base=k8s.io/component-base/version
client=k8s.io/client-go/pkg/version
names="-X $base.gitVersion=$version -X $base.gitMajor=1 -X $base.gitMinor=34"
cd "$here"
go build -trimpath -ldflags "-s -w $names -X $client.gitVersion=$version" \
    -o "$home/bin/kubernetes" ./kubernetes
for part in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do
    ln -sf kubernetes "$home/bin/$part"
done
go build -trimpath -ldflags "-s -w" -o "$home/bin/pause" ./pause
echo "$sources" >"$home/built"
