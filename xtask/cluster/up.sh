#!/bin/bash
# up.sh [NODES]: a cluster on this machine. Its control plane is in the network namespace bko-cp, each
# node in one of its own, bko-n1, bko-n2, ..., with a containerd, a kubelet and a kube-proxy. Outside of
# them only 127.0.0.1:26443 listens, which is the API server. Writes into CLUSTER_HOME alone, and ends
# when its nodes are ready. Needs root; build.sh comes before, down.sh ends it.
set -euo pipefail
home=${CLUSTER_HOME:?}
run=$home/run
keys=$home/keys
bin=$home/bin
count=${1:-2}
port=26443
export PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$run" "$keys"

in_network() { # in_network NAME COMMAND...; `ip netns exec` would hide the control groups
    nsenter --net="/run/netns/bko-$1" -- "${@:2}"
}

start() { # start NAME NETWORK COMMAND...: outlives this script, with a log and its number in a file
    setsid nsenter --net="/run/netns/bko-$2" -- "${@:3}" >"$run/$1.log" 2>&1 </dev/null &
    echo $! >"$run/$1.pid"
}

await() { # await SECONDS COMMAND...
    local end=$((SECONDS + $1))
    until "${@:2}" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "not after $1 s: ${*:2}; see the logs in $run" >&2
            return 1
        fi
        sleep 0.2
    done
}

remember_settings() {
    local file
    for file in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops \
        kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
        echo "$file=$(cat "/proc/sys/$file")" >>"$run/settings"
    done
}

make_networks() {
    local i j
    ip netns add bko-cp
    in_network cp ip link set lo up
    in_network cp ip link add bridge0 type bridge
    in_network cp ip address add 10.243.0.1/24 dev bridge0
    in_network cp ip link set bridge0 up
    for i in $(seq "$count"); do
        ip netns add "bko-n$i"
        in_network cp ip link add "node$i" type veth peer name eth0 netns "bko-n$i"
        in_network cp ip link set "node$i" master bridge0 up
        in_network cp ip route add "10.244.$i.0/24" via "10.243.0.1$i"
        in_network "n$i" ip link set lo up
        in_network "n$i" ip address add "10.243.0.1$i/24" dev eth0
        in_network "n$i" ip link set eth0 up
        in_network "n$i" ip route add default via 10.243.0.1
        in_network "n$i" sysctl -qw net.ipv4.ip_forward=1
    done
    for i in $(seq "$count"); do
        for j in $(seq "$count"); do
            [ "$i" = "$j" ] || in_network "n$i" ip route add "10.244.$j.0/24" via "10.243.0.1$j"
        done
    done
}

make_keys() {
    cd "$keys"
    if [ ! -e ca.crt ]; then
        make_key ca
        openssl req -x509 -new -key ca.key -subj /CN=bakeoff-cluster -days 30 -out ca.crt
        certify apiserver /CN=kube-apiserver \
            "subjectAltName=IP:127.0.0.1,IP:10.243.0.1,IP:10.96.0.1,DNS:kubernetes.default.svc"
        certify admin /O=system:masters/CN=admin
        certify scheduler /CN=system:kube-scheduler
        certify proxy /CN=system:kube-proxy
        local i
        for i in 1 2 3; do certify "n$i" "/O=system:nodes/CN=system:node:n$i"; done
        openssl ecparam -name prime256v1 -genkey -noout -out accounts.key
        openssl ec -in accounts.key -pubout -out accounts.pub 2>/dev/null
    fi
    cd "$run"
}

make_key() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"
}

certify() { # certify NAME SUBJECT [EXTENSION]
    make_key "$1"
    openssl req -new -key "$1.key" -subj "$2" |
        openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$1.crt" \
            -extfile <(echo "${3:-extendedKeyUsage=clientAuth}") 2>/dev/null
    kubeconfig "$1" https://10.243.0.1:6443 >"$1.kubeconfig"
}

kubeconfig() { # kubeconfig NAME SERVER
    cat <<END
apiVersion: v1
kind: Config
clusters: [{name: bakeoff, cluster: {server: "$2", certificate-authority: $keys/ca.crt}}]
users: [{name: user, user: {client-certificate: $keys/$1.crt, client-key: $keys/$1.key}}]
contexts: [{name: bakeoff, context: {cluster: bakeoff, user: user}}]
current-context: bakeoff
END
}

start_api_server() {
    start etcd cp etcd --name bakeoff --data-dir "$run/etcd" --unsafe-no-fsync \
        --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
        --listen-peer-urls http://127.0.0.1:2380 \
        --initial-advertise-peer-urls http://127.0.0.1:2380 \
        --initial-cluster bakeoff=http://127.0.0.1:2380
    cat >"$run/api-server" <<END
#!/bin/bash
# Starts the API server, again where it was ended.
setsid nsenter --net=/run/netns/bko-cp -- "$bin/kube-apiserver" \
    --etcd-servers=http://127.0.0.1:2379 --bind-address=0.0.0.0 --advertise-address=10.243.0.1 \
    --secure-port=6443 --service-cluster-ip-range=10.96.0.0/16 \
    --tls-cert-file="$keys/apiserver.crt" --tls-private-key-file="$keys/apiserver.key" \
    --client-ca-file="$keys/ca.crt" --kubelet-client-certificate="$keys/admin.crt" \
    --kubelet-client-key="$keys/admin.key" --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$keys/accounts.pub" \
    --service-account-signing-key-file="$keys/accounts.key" \
    --authorization-mode=Node,RBAC --allow-privileged=true >>"$run/apiserver.log" 2>&1 </dev/null &
echo \$! >"$run/apiserver.pid"
END
    chmod +x "$run/api-server"
    "$run/api-server"
    cat >"$run/kubectl" <<END
#!/bin/sh
exec "$bin/kubectl" --kubeconfig "$run/kubeconfig" "\$@"
END
    chmod +x "$run/kubectl"
}

open_port() {
    start socket cp socat "UNIX-LISTEN:$run/api.sock,fork,mode=600" TCP:127.0.0.1:6443
    setsid socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$run/api.sock" \
        >"$run/port.log" 2>&1 </dev/null &
    echo $! >"$run/port.pid"
    kubeconfig admin "https://127.0.0.1:$port" >"$run/kubeconfig"
}

pause_image() { # an archive of one layer with the program that holds the networks of Pods
    local work=$run/image digest layer config manifest
    mkdir -p "$work/blobs/sha256"
    tar -C "$bin" --owner=0 --group=0 --mtime=@0 -cf "$work/layer" pause
    layer=$(store "$work/layer")
    printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":%s}' \
        "$(dpkg --print-architecture)" "{\"type\":\"layers\",\"diff_ids\":[\"$layer\"]}" \
        >"$work/config"
    size() { stat -c %s "$work/blobs/sha256/${1#sha256:}"; }
    config=$(store "$work/config")
    local type=application/vnd.oci.image
    printf '{"schemaVersion":2,"mediaType":"%s","config":%s,"layers":[%s]}' \
        "$type.manifest.v1+json" \
        "{\"mediaType\":\"$type.config.v1+json\",\"digest\":\"$config\",\"size\":$(size "$config")}" \
        "{\"mediaType\":\"$type.layer.v1.tar\",\"digest\":\"$layer\",\"size\":$(size "$layer")}" \
        >"$work/manifest"
    manifest=$(store "$work/manifest")
    printf '{"schemaVersion":2,"manifests":[{"mediaType":"%s","digest":"%s","size":%s,%s}]}' \
        "$type.manifest.v1+json" "$manifest" "$(size "$manifest")" \
        '"annotations":{"io.containerd.image.name":"bakeoff.local/pause:1"}' >"$work/index.json"
    echo '{"imageLayoutVersion":"1.0.0"}' >"$work/oci-layout"
    tar -C "$work" -cf "$run/pause.tar" oci-layout index.json blobs
}

store() { # store FILE: as a blob; prints its digest
    local digest
    digest=$(sha256sum "$1" | cut -d' ' -f1)
    mv "$1" "$(dirname "$1")/blobs/sha256/$digest"
    echo "sha256:$digest"
}

configure_node() { # configure_node N
    local at=$run/n$1 controller
    mkdir -p "$at/cni" "$at/kubelet" "$at/addresses"
    cat >"$at/cni/10-bakeoff.conflist" <<END
{"cniVersion": "0.4.0", "name": "bakeoff", "plugins": [
 {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipam": {
   "type": "host-local", "dataDir": "$at/addresses", "ranges": [[{"subnet": "10.244.$1.0/24"}]],
   "routes": [{"dst": "0.0.0.0/0"}]}},
 {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
    cat >"$at/containerd.toml" <<END
version = 2
root = "$at/containerd"
state = "$at/containerd-state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "$at/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "bakeoff.local/pause:1"
  stream_server_address = "127.0.0.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$at/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
        Root = "$at/runc"
END
    cat >"$at/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $keys/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /bko-cluster/n$1
failSwapOn: false
containerRuntimeEndpoint: unix://$at/containerd.sock
resolvConf: $run/resolv.conf
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: "100Mi", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", imagefs.inodesFree: "0%"}
volumePluginDir: $at/plugins
podLogsDir: $at/logs
END
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        mkdir -p "/sys/fs/cgroup/bko-cluster/n$1"
        return
    fi
    for controller in /sys/fs/cgroup/*/; do
        if [ -e "$controller/cgroup.procs" ]; then
            make_groups "$controller" "bko-cluster/n$1"
        fi
    done
}

make_groups() { # make_groups HIERARCHY PATH: without cores a group of version 1 takes no process
    local at=${1%/} part
    for part in ${2//\// }; do
        mkdir -p "$at/$part"
        if [ -e "$at/cpuset.cpus" ]; then
            cat "$at/cpuset.cpus" >"$at/$part/cpuset.cpus"
            cat "$at/cpuset.mems" >"$at/$part/cpuset.mems"
        fi
        at=$at/$part
    done
}

start_node() { # start_node N
    local at=$run/n$1
    start "kubelet-n$1" "n$1" "$bin/kubelet" --config="$at/kubelet.yaml" \
        --kubeconfig="$keys/n$1.kubeconfig" --hostname-override="n$1" --node-ip="10.243.0.1$1" \
        --root-dir="$at/kubelet" --cert-dir="$at/kubelet/pki" --containerd="$at/containerd.sock"
    start "proxy-n$1" "n$1" "$bin/kube-proxy" --kubeconfig="$keys/proxy.kubeconfig" \
        --hostname-override="n$1" --cluster-cidr=10.244.0.0/16 --proxy-mode=iptables \
        --conntrack-max-per-core=0 --conntrack-min=0 --conntrack-tcp-timeout-established=0s \
        --conntrack-tcp-timeout-close-wait=0s
}

are_ready() {
    [ "$("$run/kubectl" get nodes --no-headers | grep -cw Ready)" = "$count" ]
}

remember_settings
make_networks
make_keys
start_api_server
open_port
pause_image
: >"$run/resolv.conf"
for i in $(seq "$count"); do
    configure_node "$i"
    start "containerd-n$i" "n$i" containerd --config "$run/n$i/containerd.toml"
done
for i in $(seq "$count"); do
    socket=$run/n$i/containerd.sock
    await 20 ctr --address "$socket" version
    ctr --address "$socket" --namespace k8s.io images import "$run/pause.tar" >/dev/null
done
await 120 "$run/kubectl" get --raw /readyz
start manager cp "$bin/kube-controller-manager" --kubeconfig="$keys/admin.kubeconfig" \
    --bind-address=127.0.0.1 --leader-elect=false --root-ca-file="$keys/ca.crt" \
    --service-account-private-key-file="$keys/accounts.key" --cluster-signing-cert-file=
start scheduler cp "$bin/kube-scheduler" --kubeconfig="$keys/scheduler.kubeconfig" \
    --bind-address=127.0.0.1 --leader-elect=false
for i in $(seq "$count"); do start_node "$i"; done
await 120 are_ready
await 60 "$run/kubectl" get serviceaccount default
