# shellcheck shell=bash
# Sourced by the benchmarks of this folder. Runs the one that sources it in a private network namespace
# (the rules of a host's firewall cost every packet; needs root), and gives it `bin` with the
# examples of a build with the profile dist, a folder `scratch`, and `server`, a process that ends with it.
set -euo pipefail

if [ -z "${IN_NAMESPACE:-}" ]; then
    exec env IN_NAMESPACE=1 unshare --net -- "$0" "$@"
fi
ip link set lo up

bin="${BIN:-$(cd "$(dirname "$0")/../../.." && pwd)/target/dist/examples}"
server=
scratch=$(mktemp -d)
trap '[ -z "$server" ] || kill "$server"; rm -r "$scratch"' EXIT
