#!/usr/bin/env bash
# What does metering cost the contender? Interleaved pairs of runs of one contender: ten readings a
# second (ten times the usual) against one reading at each end of a step. Prints the contender's
# CPU time per request of each run at 64 connections, and the medians with their ratio.
#
# usage: benches/metering.sh [PAIRS] [CONTENDER]
set -euo pipefail
cd "$(dirname "$0")/.."
pairs=${1:-5}
contender=${2:-actix-4}
cargo build --quiet --profile dist --package bakeoff
folder=$(mktemp --directory --tmpdir bakeoff-metering-XXXXXX)
trap 'rm -rf "$folder"' EXIT

measure() { # NAME SLICE PAIR
    target/dist/bakeoff run suites/locations --profile ladder --contender "$contender" --runs 1 \
        --slice "$2" --out "$folder/$1-$3" --quiet >"$folder/$1-$3.log" 2>&1 || {
        cat "$folder/$1-$3.log" >&2
        exit 1
    }
}
for pair in $(seq "$pairs"); do
    measure metered 100ms "$pair"
    measure bare 1h "$pair"
done
python3 - "$folder" "$pairs" <<'PYTHON'
import csv, statistics, sys

folder, pairs = sys.argv[1], int(sys.argv[2])
found = {}
for name in ("metered", "bare"):
    for pair in range(1, pairs + 1):
        with open(f"{folder}/{name}-{pair}/results.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["connections_asked"] == "64"]
        found.setdefault(name, []).append(float(rows[-1]["cpu_us_per_request"]))
    values = found[name]
    print(f"{name:8} us/request: median {statistics.median(values):.2f}, "
          f"range {min(values):.2f} to {max(values):.2f}, runs {' '.join(f'{v:.2f}' for v in values)}")
ratio = statistics.median(found["metered"]) / statistics.median(found["bare"])
print(f"metered / bare: {ratio:.3f}")
PYTHON
