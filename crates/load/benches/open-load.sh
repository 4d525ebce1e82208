#!/bin/bash
# Open load at a Poisson rate on one core, against the null server on another: offered
# requests, responses, and how late requests were sent. Exits with status 1 when a run of any reactor
# does not respond within 0.5 % of what was offered, or its send lag has a p99 above 200 us.
#
# Runs in a private network namespace. Needs root for it, two cores, python3 and a build with the profile dist.
#
#   RATE=20000 CONNECTIONS=64 SECONDS_EACH=20 ROUNDS=3 benches/open-load.sh
. "$(dirname "$0")/namespace.sh"

address=127.0.0.1:8080
taskset -c 0 "$bin/null-server" "$address" &
server=$!
sleep 0.5

python3 - "$bin" "$address" "${RATE:-20000}" "${CONNECTIONS:-64}" "${SECONDS_EACH:-20}" \
    "${ROUNDS:-3}" <<'PYTHON'
import json, re, subprocess, sys

bin, address, rate, connections, each, rounds = sys.argv[1:]
rate, each = float(rate), float(each)
print(f"{'reactor':>19} {'offered/s':>10} {'responded':>9} {'lag p50':>8} {'p99':>8} {'p99.9':>8}")
good = True
for seed in range(int(rounds)):
    for reactor in ("uring-rx-timestamps", "epoll-rx-timestamps", "uring", "epoll"):
        spec = {
            "target": {"address": address}, "requests": [{"method": "GET", "path": "/"}],
            "steps": [{"connections": int(connections), "duration_ns": int(each * 1e9),
                       "pace": {"model": "poisson", "rate_per_s": rate}}],
            "threads": 1, "cores": [1], "seed": seed, "reactor": reactor,
            "timeout_connect_ns": 5 * 10**9, "timeout_answer_ns": 15 * 10**9, "slice_ns": 10**9,
        }
        line = subprocess.run([f"{bin}/drive", "summary"], input=json.dumps(spec),
                              capture_output=True, text=True, check=True).stdout
        requests, offered = (int(re.search(rf"(\d+) {word}", line)[1])
                             for word in ("requests", "offered"))
        lag = [float(part) for part in
               re.search(r"send lag p50 (\S+) p99 (\S+) p99.9 (\S+) us", line).groups()]
        holds = abs(requests / offered - 1) <= 0.005 and lag[1] <= 200
        good &= holds
        print(f"{reactor:>19} {offered / each:>10.0f} {requests / offered:>9.4%} {lag[0]:>5.0f} us "
              f"{lag[1]:>5.0f} us {lag[2]:>5.0f} us  {'ok' if holds else 'OUT OF BOUNDS'}", flush=True)
sys.exit(not good)
PYTHON
