#!/bin/bash
# CPU time per request of the engine and of wrk, interleaved, against the same null server.
#
# Runs in a private network namespace (the rules of a host's firewall cost every packet), with the
# server on core 0 and the generator on core 1. Needs root for the namespace, wrk and python3.
#
#   CONNECTIONS="1 8 64 512" SECONDS_EACH=5 ROUNDS=5 REACTORS="epoll uring" benches/loader-vs-wrk.sh
set -euo pipefail

if [ -z "${IN_NAMESPACE:-}" ]; then
    exec env IN_NAMESPACE=1 unshare --net -- "$0" "$@"
fi
ip link set lo up

root=$(cd "$(dirname "$0")/../../.." && pwd)
bin="${BIN:-$root/target/release/examples}"
connections="${CONNECTIONS:-64}"
each="${SECONDS_EACH:-5}"
rounds="${ROUNDS:-5}"
reactors="${REACTORS:-epoll uring}"
body="${BODY_BYTES:-13}"
address=127.0.0.1:8080
server=
trap '[ -z "$server" ] || kill "$server"' EXIT
ulimit -n "$(ulimit -Hn)"

taskset -c 0 "$bin/null-server" "$address" "$body" &
server=$!
sleep 0.3

cat <<TEXT
generator on core 1, server on core 0, $each s each, $rounds rounds interleaved, body $body bytes
TEXT
python3 - "$bin" "$address" "$each" "$rounds" "$connections" "$reactors" <<'PYTHON'
import json, os, resource, statistics, subprocess, sys

bin, address, each, rounds, connections, reactors = sys.argv[1:]
each, rounds = float(each), int(rounds)

def pinned():
    os.sched_setaffinity(0, {1})

def cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, usage.ru_utime

def wrk(count):
    command = ["wrk", "-t1", f"-c{count}", f"-d{each:g}s", f"http://{address}/"]
    text = subprocess.run(command, preexec_fn=pinned, capture_output=True, text=True, check=True)
    lines = text.stdout.splitlines()
    assert not any("errors" in line for line in lines), text.stdout
    return int(next(line.split()[0] for line in lines if " requests in " in line))

def ours(count, reactor):
    order = {
        "target": {"address": address}, "requests": [{"method": "GET", "path": "/"}],
        "steps": [{"connections": count, "duration_ns": int(each * 1e9)}], "threads": 1,
        "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9,
        "slice_ns": 10**9, "reactor": reactor,
    }
    text = subprocess.run([f"{bin}/drive"], input=json.dumps(order), preexec_fn=pinned,
                          capture_output=True, text=True, check=True).stdout
    slices = [event for event in map(json.loads, text.splitlines())
              if event["event"] == "interval"]
    assert not any(slice["errors"] for slice in slices), slices
    return sum(slice["requests"] for slice in slices)

print(f"{'connections':>11} {'tool':>6} {'us/request':>10} {'user us':>8} {'of wrk':>7} {'req/s':>8}")
for count in map(int, connections.split()):
    runs = {}
    for _ in range(rounds):
        for tool in ["wrk", *reactors.split()]:
            before = cpu()
            requests = wrk(count) if tool == "wrk" else ours(count, tool)
            after = cpu()
            runs.setdefault(tool, []).append((
                (after[0] - before[0]) / requests * 1e6,
                (after[1] - before[1]) / requests * 1e6,
                requests / each,
            ))
    base = [run[0] for run in runs["wrk"]]
    for tool, values in runs.items():
        total, user, rate = (statistics.median(column) for column in zip(*values))
        ratio = statistics.median(value[0] / other for value, other in zip(values, base))
        print(f"{count:>11} {tool:>6} {total:>10.2f} {user:>8.2f} {ratio:>7.3f} {rate:>8.0f}")
PYTHON
