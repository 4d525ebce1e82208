#!/bin/bash
# Ends what up.sh started, by the process numbers that it noted, and removes what held it.
set -uo pipefail
home=${CLUSTER_HOME:?}
run=$home/run
[ -d "$run" ] || exit 0
export PATH=$PATH:/usr/sbin:/sbin

end() { # end SIGNAL FILE...
    local file
    for file in "${@:2}"; do
        [ -e "$file" ] && kill "-$1" "$(cat "$file")" 2>/dev/null
    done
}

# Kubelets first: they would start again what is ended.
end TERM "$run"/kubelet-*.pid "$run"/proxy-*.pid
sleep 1
for socket in "$run"/n*/containerd.sock; do
    [ -S "$socket" ] || continue
    mine=(ctr --address "$socket" --namespace k8s.io)
    for task in $("${mine[@]}" tasks ls -q 2>/dev/null); do
        "${mine[@]}" tasks kill --signal KILL "$task"
        "${mine[@]}" tasks rm --force "$task"
        "${mine[@]}" containers rm "$task"
    done >/dev/null 2>&1
done
end TERM "$run"/*.pid
sleep 2
end KILL "$run"/*.pid
# Shims outlive their containerd; each names its socket.
for shim in /proc/[0-9]*; do
    [ "$(cat "$shim/comm" 2>/dev/null)" = containerd-shim ] || continue
    tr '\0' ' ' <"$shim/cmdline" | grep -q -- "-address $run/" && kill -KILL "${shim#/proc/}"
done
sleep 0.5
awk -v run="$run/" 'index($2, run) == 1 { print $2 }' /proc/mounts | sort -r |
    while read -r mount; do umount --lazy "$mount"; done
for name in $(ip netns list | awk '$1 ~ /^bko-(cp|n[0-9]+)$/ { print $1 }'); do
    ip netns delete "$name"
done
find /sys/fs/cgroup -depth -type d -path '*/bko-cluster*' -exec rmdir {} \; 2>/dev/null
# The kubelet changes settings of the kernel.
if [ -e "$run/settings" ]; then
    while IFS='=' read -r file value; do echo "$value" >"/proc/sys/$file"; done <"$run/settings"
fi
rm -rf --one-file-system "$run"
