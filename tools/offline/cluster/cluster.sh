#!/usr/bin/env bash
# A real Kubernetes of two nodes on this machine, for tests: `cargo offline cluster` calls this
# where there is neither kind nor k3d. The control plane and each node are in a network namespace of
# their own (bakeoff-cp, bakeoff-n1, bakeoff-n2), each node with its own containerd and kubelet,
# joined by a bridge. In the machine's own namespace 127.0.0.1:16444 alone listens. There is no DNS
# in the cluster, and nothing in it reaches beyond it.
#
# Whatever it starts carries BAKEOFF_CLUSTER=FOLDER/run in its environment, by which `stop` finds it,
# also after a crash.
#
# usage: cluster.sh build FOLDER           builds Kubernetes and the pause image into FOLDER
#        cluster.sh start|stop|status FOLDER
#        cluster.sh load FOLDER ARCHIVE    loads an image archive into the nodes
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
nodes=(1 2)
version=v1.34.4
port=16444
export PATH=$PATH:/usr/sbin:/sbin

command=${1:?"usage: cluster.sh build|start|stop|status|load FOLDER [ARCHIVE]"}
home=${2:?"the folder of the cluster is missing"}
bin=$home/bin run=$home/run keys=$home/run/keys
pause=bakeoff.local/pause:1
cgroup=bakeoff-cluster

inside() { # NAMESPACE COMMAND...: not by `ip netns exec`, which hides the cgroups
    nsenter --net="/run/netns/$1" -- "${@:2}"
}

spawn() { # NAME NAMESPACE COMMAND...: in the background, with a log
    BAKEOFF_CLUSTER=$run setsid nsenter --net="/run/netns/$2" -- "${@:3}" \
        >"$run/$1.log" 2>&1 </dev/null &
}

await() { # SECONDS COMMAND...: until it succeeds
    local until=$((SECONDS + $1))
    while ! "${@:2}" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$until" ]; then
            echo "error: no success within $1 s: ${*:2}; logs are in $run" >&2
            return 1
        fi
        sleep 0.2
    done
}

kubectl() {
    inside bakeoff-cp "$bin/kubectl" --kubeconfig "$keys/admin.kubeconfig" "$@"
}

# Builds what is missing or of other sources than these.

sources() {
    cat "$here"/go.* "$here"/*/main.go "$here/cluster.sh" | sha256sum
}

image() { # ARCHIVE NAME PROGRAM: an OCI archive of one file
    local folder blobs layer config manifest tag=${2##*:}
    folder=$(mktemp --directory)
    blobs=$folder/blobs/sha256
    mkdir -p "$blobs"
    blob() { # FILE MEDIA: moves it to its place and prints its descriptor
        local digest size
        digest=$(sha256sum "$1" | cut -c1-64)
        size=$(stat --format %s "$1")
        mv "$1" "$blobs/$digest"
        echo "{\"mediaType\":\"application/vnd.oci.image.$2\",\"digest\":\"sha256:$digest\",\"size\":$size}"
    }
    tar --create --file "$folder/layer" --directory "$(dirname "$3")" --owner 0 --group 0 \
        --mtime @0 "$(basename "$3")"
    config="{\"architecture\":\"$(go env GOARCH)\",\"os\":\"linux\",\"config\":{\"Entrypoint\":
        [\"/$(basename "$3")\"]},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":
        [\"sha256:$(sha256sum "$folder/layer" | cut -c1-64)\"]}}"
    layer=$(blob "$folder/layer" layer.v1.tar)
    echo "$config" >"$folder/config"
    config=$(blob "$folder/config" config.v1+json)
    echo "{\"schemaVersion\":2,\"config\":$config,\"layers\":[$layer]}" >"$folder/manifest"
    manifest=$(blob "$folder/manifest" manifest.v1+json)
    echo "{\"schemaVersion\":2,\"manifests\":[${manifest%\}},\"annotations\":{
        \"io.containerd.image.name\":\"$2\",\"org.opencontainers.image.ref.name\":\"$tag\"}}]}" \
        >"$folder/index.json"
    echo '{"imageLayoutVersion":"1.0.0"}' >"$folder/oci-layout"
    tar --create --file "$1" --directory "$folder" oci-layout index.json blobs
    rm -rf "$folder"
}

build() {
    if [ "$(cat "$home/sources" 2>/dev/null)" = "$(sources)" ]; then return; fi
    mkdir -p "$bin"
    cd "$here"
    local base=k8s.io/component-base/version client=k8s.io/client-go/pkg/version
    export CGO_ENABLED=0 GOFLAGS=-mod=readonly
    go build -trimpath -o "$bin/kubernetes" -ldflags "-s -w -X $base.gitVersion=$version
        -X $base.gitMajor=1 -X $base.gitMinor=34 -X $client.gitVersion=$version" ./parts
    for part in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do
        ln -sf kubernetes "$bin/$part"
    done
    go build -trimpath -ldflags "-s -w" -o "$bin/pause" ./pause
    image "$home/pause.tar" "$pause" "$bin/pause"
    sources >"$home/sources"
}

# Starts the cluster, step by step.

save_settings() { # what the kubelet changes in the kernel, for `stop`
    local name
    for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops \
        kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
        echo "$name $(cat "/proc/sys/$name")"
    done >"$run/settings"
}

make_network() {
    local n other
    ip netns add bakeoff-cp
    inside bakeoff-cp ip link set lo up
    inside bakeoff-cp ip link add nodes type bridge
    inside bakeoff-cp ip addr add 10.243.0.1/24 dev nodes
    inside bakeoff-cp ip link set nodes up
    for n in "${nodes[@]}"; do
        ip netns add "bakeoff-n$n"
        inside bakeoff-cp ip link add "node$n" type veth peer name eth0 netns "bakeoff-n$n"
        inside bakeoff-cp ip link set "node$n" master nodes up
        inside "bakeoff-n$n" ip link set lo up
        inside "bakeoff-n$n" ip addr add "10.243.0.1$n/24" dev eth0
        inside "bakeoff-n$n" ip link set eth0 up
        inside "bakeoff-n$n" ip route add default via 10.243.0.1
        inside "bakeoff-n$n" sysctl --quiet --write net.ipv4.ip_forward=1
        inside bakeoff-cp ip route add "10.244.$n.0/24" via "10.243.0.1$n"
        for other in "${nodes[@]}"; do
            [ "$n" = "$other" ] ||
                inside "bakeoff-n$n" ip route add "10.244.$other.0/24" via "10.243.0.1$other"
        done
    done
}

key() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$keys/$1.key"
}

certificate() { # NAME SUBJECT EXTENSION
    key "$1"
    openssl req -new -key "$keys/$1.key" -subj "$2" |
        openssl x509 -req -CA "$keys/ca.crt" -CAkey "$keys/ca.key" -CAcreateserial -days 30 \
            -extfile <(echo "$3") -out "$keys/$1.crt" 2>/dev/null
}

kubeconfig() { # NAME
    cat >"$keys/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: bakeoff, cluster: {server: "https://10.243.0.1:6443", certificate-authority: $keys/ca.crt}}]
users: [{name: $1, user: {client-certificate: $keys/$1.crt, client-key: $keys/$1.key}}]
contexts: [{name: bakeoff, context: {cluster: bakeoff, user: $1}}]
current-context: bakeoff
END
}

make_keys() {
    local n user client=extendedKeyUsage=clientAuth names
    mkdir -m 700 "$keys"
    key ca
    openssl req -x509 -new -key "$keys/ca.key" -subj /CN=bakeoff -days 30 -out "$keys/ca.crt"
    names=IP:127.0.0.1,IP:10.243.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc
    certificate apiserver /CN=kube-apiserver "subjectAltName=$names"
    certificate admin /O=system:masters/CN=admin $client
    certificate scheduler /CN=system:kube-scheduler $client
    certificate proxy /CN=system:kube-proxy $client
    for n in "${nodes[@]}"; do certificate "n$n" "/O=system:nodes/CN=system:node:n$n" $client; done
    key accounts
    for user in admin scheduler proxy n1 n2; do kubeconfig $user; done
}

start_control_plane() {
    spawn etcd bakeoff-cp etcd --data-dir "$run/etcd" --unsafe-no-fsync \
        --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
        --listen-peer-urls http://127.0.0.1:2380
    spawn apiserver bakeoff-cp "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
        --bind-address=0.0.0.0 --advertise-address=10.243.0.1 --secure-port=6443 \
        --service-cluster-ip-range=10.96.0.0/16 --allow-privileged=true \
        --tls-cert-file="$keys/apiserver.crt" --tls-private-key-file="$keys/apiserver.key" \
        --client-ca-file="$keys/ca.crt" --authorization-mode=Node,RBAC \
        --kubelet-client-certificate="$keys/admin.crt" --kubelet-client-key="$keys/admin.key" \
        --kubelet-preferred-address-types=InternalIP \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$keys/accounts.key" \
        --service-account-signing-key-file="$keys/accounts.key"
}

start_controllers() {
    spawn controllers bakeoff-cp "$bin/kube-controller-manager" --leader-elect=false \
        --kubeconfig="$keys/admin.kubeconfig" --bind-address=127.0.0.1 \
        --service-account-private-key-file="$keys/accounts.key" --root-ca-file="$keys/ca.crt"
    spawn scheduler bakeoff-cp "$bin/kube-scheduler" --leader-elect=false \
        --kubeconfig="$keys/scheduler.kubeconfig" --bind-address=127.0.0.1
}

make_cgroups() { # NODE
    local root level
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        mkdir -p "/sys/fs/cgroup/$cgroup/n$1"
        for level in /sys/fs/cgroup "/sys/fs/cgroup/$cgroup" "/sys/fs/cgroup/$cgroup/n$1"; do
            echo "+cpuset +cpu +io +memory +pids" >"$level/cgroup.subtree_control"
        done
        return
    fi
    for root in /sys/fs/cgroup/{cpu,cpuacct,cpuset,memory,devices,freezer,blkio,pids,systemd}; do
        for level in "$root/$cgroup" "$root/$cgroup/n$1"; do
            mkdir -p "$level"
            [ "${root##*/}" != cpuset ] || {
                cat "$root/cpuset.cpus" >"$level/cpuset.cpus"
                cat "$root/cpuset.mems" >"$level/cpuset.mems"
            }
        done
    done
}

start_containerd() { # NODE
    local folder=$run/n$1
    mkdir -p "$folder/cni" "$folder/kubelet"
    cat >"$folder/cni/10-bakeoff.conflist" <<END
{"cniVersion": "0.4.0", "name": "bakeoff", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$folder/ipam",
            "ranges": [[{"subnet": "10.244.$1.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
    cat >"$folder/containerd.toml" <<END
version = 2
root = "$folder/containerd"
state = "$folder/state"
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = "$folder/runc"
END
    spawn "containerd-n$1" "bakeoff-n$1" containerd --config "$folder/containerd.toml"
}

start_kubelet() { # NODE
    local folder=$run/n$1
    cat >"$folder/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, x509: {clientCAFile: $keys/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup/n$1
containerRuntimeEndpoint: unix://$folder/containerd.sock
evictionHard:
  {memory.available: 100Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%, imagefs.inodesFree: 0%}
failSwapOn: false
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
podLogsDir: $folder/logs
resolvConf: $run/resolv.conf
volumePluginDir: $folder/volumes
END
    spawn "kubelet-n$1" "bakeoff-n$1" "$bin/kubelet" --config="$folder/kubelet.yaml" \
        --kubeconfig="$keys/n$1.kubeconfig" --hostname-override="n$1" --node-ip="10.243.0.1$1" \
        --root-dir="$folder/kubelet" --cert-dir="$folder/kubelet/pki"
    spawn "proxy-n$1" "bakeoff-n$1" "$bin/kube-proxy" --kubeconfig="$keys/proxy.kubeconfig" \
        --hostname-override="n$1" --cluster-cidr=10.244.0.0/16 --proxy-mode=iptables \
        --conntrack-max-per-core=0 --conntrack-min=0 \
        --conntrack-tcp-timeout-established=0s --conntrack-tcp-timeout-close-wait=0s
}

open_port() { # the API server for programs of the machine's own namespace
    spawn api-inside bakeoff-cp socat "UNIX-LISTEN:$run/api.sock,fork,mode=600" TCP:127.0.0.1:6443
    BAKEOFF_CLUSTER=$run setsid socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" \
        "UNIX-CONNECT:$run/api.sock" >"$run/api-outside.log" 2>&1 </dev/null &
    sed "s#https://10.243.0.1:6443#https://127.0.0.1:$port#" "$keys/admin.kubeconfig" \
        >"$run/kubeconfig"
}

nodes_ready() { # the taint of one that was not ready goes a moment later
    [ "$(kubectl get nodes --no-headers | grep --count --word-regexp Ready)" = "${#nodes[@]}" ] &&
        [ -z "$(kubectl get nodes --output jsonpath='{.items[*].spec.taints}')" ]
}

start() {
    local n
    if status >/dev/null; then return; fi
    stop
    mkdir -p "$run"
    : >"$run/resolv.conf"
    save_settings
    make_network
    make_keys
    start_control_plane
    for n in "${nodes[@]}"; do
        make_cgroups "$n"
        start_containerd "$n"
    done
    for n in "${nodes[@]}"; do
        await 30 ctr --address "$run/n$n/containerd.sock" version
    done
    load "$home/pause.tar"
    await 120 kubectl get --raw /readyz
    start_controllers
    for n in "${nodes[@]}"; do start_kubelet "$n"; done
    await 120 nodes_ready
    await 60 kubectl get serviceaccount default
    open_port
    await 10 "$bin/kubectl" --kubeconfig "$run/kubeconfig" get --raw /readyz
}

load() { # ARCHIVE
    local n
    for n in "${nodes[@]}"; do
        ctr --address "$run/n$n/containerd.sock" --namespace k8s.io images import "$1" >/dev/null
    done
}

status() {
    [ -e "$run/kubeconfig" ] &&
        timeout 10 "$bin/kubectl" --kubeconfig "$run/kubeconfig" get nodes 2>/dev/null
}

# Ends the cluster, or the remains of one.

ours() { # numbers of the processes that carry the mark
    grep --files-with-matches --fixed-strings --null-data --line-regexp \
        "BAKEOFF_CLUSTER=$run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 || true
}

end_processes() { # SIGNAL FILE...: those whose numbers are in the files
    local process
    cat "${@:2}" 2>/dev/null | while read -r process; do
        kill "-$1" "$process" 2>/dev/null || true
    done
}

pod_namespaces() { # names of the network namespaces of Pods
    cat "$run"/n*/state/io.containerd.runtime.v2.task/k8s.io/*/config.json 2>/dev/null |
        grep --only-matching 'netns/cni-[0-9a-f-]*' | sort --unique | cut -d/ -f2 || true
}

stop() {
    local mount name value groups pods
    pods=$(pod_namespaces)
    end_processes TERM <(ours)
    sleep 1
    end_processes KILL <(ours)
    groups=$(find /sys/fs/cgroup -depth -type d -path "*/$cgroup*" 2>/dev/null || true)
    for name in $groups; do end_processes KILL "$name/cgroup.procs"; done
    sleep 0.3
    awk -v run="$run/" 'index($2, run) == 1 { print $2 }' /proc/mounts | sort --reverse |
        while read -r mount; do umount --lazy "$mount"; done
    for name in bakeoff-cp "${nodes[@]/#/bakeoff-n}" $pods; do
        ! [ -e "/run/netns/$name" ] || ip netns del "$name"
    done
    for name in $groups; do rmdir "$name" 2>/dev/null || true; done
    if [ -e "$run/settings" ]; then
        while read -r name value; do echo "$value" >"/proc/sys/$name"; done <"$run/settings"
    fi
    rm -rf --one-file-system "$run"
}

case $command in
build | start | stop | status) "$command" ;;
load) load "${3:?"the archive is missing"}" ;;
*) echo "error: there is no command $command" >&2 && exit 2 ;;
esac
