#!/bin/bash
# Cross-check: closed-loop throughput, p50 and p99 of the engine against wrk's, interleaved, on a
# server that is the bottleneck: each answer burns WORK_US of its one core. Exits with status 1
# when a median over rounds differs by more than the noise of both tools (and more than 3 %).
#
# Runs in a private network namespace, the server on core 0, the generator on core 1. Needs root
# for the namespace, wrk and python3.
#
#   CONNECTIONS="1 16 64" SECONDS_EACH=4 ROUNDS=5 WORK_US=200 benches/closed-vs-wrk.sh
set -euo pipefail

if [ -z "${IN_NAMESPACE:-}" ]; then
    exec env IN_NAMESPACE=1 unshare --net -- "$0" "$@"
fi
ip link set lo up

root=$(cd "$(dirname "$0")/../../.." && pwd)
bin="${BIN:-$root/target/release/examples}"
address=127.0.0.1:8080
server=
trap '[ -z "$server" ] || kill "$server"' EXIT

taskset -c 0 "$bin/null-server" "$address" 13 "${WORK_US:-200}" &
server=$!
sleep 0.3

python3 - "$bin" "$address" "${SECONDS_EACH:-4}" "${ROUNDS:-5}" "${CONNECTIONS:-1 16 64}" <<'PYTHON'
import json, os, re, statistics, subprocess, sys

bin, address, each, rounds, connections = sys.argv[1:]
each, rounds = float(each), int(rounds)
# Differences below this are no disagreement, however quiet the machine is.
FLOOR = 0.03
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}

def pinned():
    os.sched_setaffinity(0, {1})

def wrk(count):
    command = ["wrk", "-t1", f"-c{count}", f"-d{each:g}s", "--latency", f"http://{address}/"]
    text = subprocess.run(command, preexec_fn=pinned, capture_output=True, text=True, check=True)
    def quantile(name):
        value, unit = re.search(rf"{name}\s+([0-9.]+)(us|ms|s)", text.stdout).groups()
        return float(value) * UNITS[unit]
    rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", text.stdout).group(1))
    return rate, quantile("50%"), quantile("99%")

def ours(count):
    order = {
        "target": {"address": address}, "requests": [{"method": "GET", "path": "/"}],
        "steps": [{"connections": count, "duration_ns": int(each * 1e9)}], "threads": 1,
        "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9,
        # One slice, so that its quantiles are those of the whole.
        "slice_ns": 0,
    }
    text = subprocess.run([f"{bin}/drive", "quantiles"], input=json.dumps(order),
                          preexec_fn=pinned, capture_output=True, text=True, check=True).stdout
    return tuple(map(float, text.split()))

good = True
print(f"{'connections':>11} {'figure':>8} {'ours':>10} {'wrk':>10} {'ratio':>7} {'noise':>7}")
for count in map(int, connections.split()):
    runs = {"wrk": [], "ours": []}
    for _ in range(rounds):
        runs["wrk"].append(wrk(count))
        runs["ours"].append(ours(count))
    for index, figure in enumerate(["req/s", "p50 us", "p99 us"]):
        own = [run[index] for run in runs["ours"]]
        other = [run[index] for run in runs["wrk"]]
        def spread(values):
            middle = statistics.median(values)
            return (max(values) - min(values)) / middle
        ratio = statistics.median(own) / statistics.median(other)
        noise = max(FLOOR, spread(own), spread(other))
        holds = abs(ratio - 1) <= noise
        good &= holds
        print(f"{count:>11} {figure:>8} {statistics.median(own):>10.1f} "
              f"{statistics.median(other):>10.1f} {ratio:>7.3f} {noise:>7.3f}"
              f"{'' if holds else '  DISAGREE'}")
sys.exit(0 if good else 1)
PYTHON
