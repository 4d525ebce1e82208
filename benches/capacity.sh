#!/usr/bin/env bash
# Does `bakeoff load --capacity` find the limit of servers whose limit is known? Workers that take
# the same time for every request bear WORKERS / SERVICE requests per second. In a trial of TRIAL
# seconds a little more passes: the backlog may grow until 99 % of the requests just meet the bound.
#
# usage: benches/capacity.sh [TRIAL_SECONDS] [TRIES]
set -euo pipefail
cd "$(dirname "$0")/.."
trial=${1:-5} tries=${2:-3} bound_ms=50 port=18311
cargo build --profile dist --quiet --workspace --examples --bins
echo "workers  service us  limit/s  passes in ${trial} s  found/s  low/s  high/s  error  trials"
for case in "1 2000" "4 4000" "2 500" "1 200"; do
    read -r workers service_us <<<"$case"
    target/dist/examples/limited-server 127.0.0.1:$port "$workers" "$service_us" &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    sleep 0.5
    for _ in $(seq "$tries"); do
        target/dist/bakeoff load "http://127.0.0.1:$port/" --json -c 64 -d "${trial}s" \
            --capacity "p99 <= ${bound_ms}ms and errors <= 0.1%" |
            python3 -c '
import json, sys
workers, service_us, trial, bound_ms = map(float, sys.argv[1:])
limit = workers / service_us * 1e6
passes = limit * (1 + (bound_ms / 1e3 - service_us / 1e6) / (0.99 * trial))
found = json.loads(sys.stdin.read().strip().splitlines()[-1])
if "capacity" not in found:
    print(found)
    sys.exit()
r = found["capacity"]
rate, low, high = r["rate_per_s"], r["low_per_s"], r["high_per_s"]
print("%7d %11d %8.0f %14.0f %8.0f %6.0f %7.0f %5.1f%% %7d" % (
    workers, service_us, limit, passes, rate, low, high, (rate / limit - 1) * 100, found["trials"]))
' "$workers" "$service_us" "$trial" "$bound_ms"
    done
    kill $server
    wait $server 2>/dev/null || true
done
