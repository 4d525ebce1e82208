#!/usr/bin/env bash
# Does the ratio of two services depend on the length of their turns? Real sessions of two services
# of the suite benches/verdicts, in turns of each length and in whole runs. Prints for each session
# the ratio of the requests per second of the first service to those of the second, and that of the
# CPU time per request, each with its 95 % interval (Student's t over sets or runs), then what the
# report says.
#
#   native    native to native/step-1, which does 5 % more work for each request
#   mixed     native to jvm, which does the same work
#   jvm       jvm to jvm/step-1, which does 5 % more work for each request
#
# Warm-up lasts until both are steady: from 1 to 10 s for natives, from 5 to 15 s for JVMs. SETS is 5
# for natives, 3 for JVMs; SECONDS is how long each service is measured in a set, 4. With these
# numbers natives take 5 to 8 minutes in all and JVMs 6 to 12. One set has no interval.
#
# Takes root. Whole runs are then reached over loopback, contenders in turns over veth devices, which
# cost each request a little more CPU time: the ratio of two services that do much work for each
# request is the same, their numbers are not.
# LENGTHS is a list of lengths, "20ms 50ms 100ms 500ms whole" unless given. BAKEOFF names the program
# if it is built already. KEEP names a folder in which the results of all sessions stay.
#
# usage: benches/turn-length.sh native|mixed|jvm [SETS [SECONDS]]
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
usage() {
    sed --quiet '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

sets=5 memory=64MiB at_least=1s at_most=10s
case ${1:-} in
native) pair=(native native/step-1) ;;
mixed) pair=(native jvm) ;;
jvm) pair=(jvm jvm/step-1) ;;
*) usage ;;
esac
if [ "$1" != native ]; then
    sets=3 memory=128MiB at_least=5s at_most=15s
fi
sets=${2:-$sets} seconds=${3:-4} lengths=${LENGTHS:-20ms 50ms 100ms 500ms whole}
[[ $sets =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || usage
for length in $lengths; do
    [[ $length =~ ^([1-9][0-9]*ms|whole)$ ]] || usage
done
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
folder=$(mktemp --directory --tmpdir bakeoff-turn-length-XXXXXX)
trap 'rm -rf "$folder"' EXIT

# The suite with a profile for each length.
suite=$folder/verdicts
cp --recursive benches/verdicts "$suite"
for length in $lengths; do
    case $length in
    whole) key='whole-runs = true' ;;
    *) key="turn = \"$length\"" ;;
    esac
    cat >>"$suite/suite.toml" <<TOML

[profile.length-$length]
limits = { cpus = 1.0, memory = "$memory" }
runs = $sets
slice = "500ms"
control = false
latency = false
$key
warm-up = { until = "steady", at-least = "$at_least", at-most = "$at_most" }

[[profile.length-$length.step]]
connections = 8
duration = "10s"
warm-up = true

[[profile.length-$length.step]]
connections = 8
duration = "${seconds}s"
TOML
done

# Ratios of the first service to the second, by set.
ratios() { # RESULTS
    python3 - "$1/results.csv" "${pair[@]}" <<'PYTHON'
import csv, math, statistics, sys

file, *pair = sys.argv[1:]
# Student's t, 97.5 %, of 1 to 9 degrees of freedom; of more that of 9, which is on the safe side.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]

def numbers(column):
    found = {}
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["outcome"] == "completed" and row["warm_up"] == "false" and row[column]:
                found[row["repetition"], row["contender"]] = float(row[column])
    return found

def ratio(column):
    found = numbers(column)
    sets = sorted({repetition for repetition, _ in found})
    logs = [math.log(found[one, pair[0]] / found[one, pair[1]]) for one in sets
            if all((one, contender) in found for contender in pair)]
    if not logs:
        return "not measured"
    text = f"{math.exp(statistics.mean(logs)):.4f}"
    if len(logs) == 1:
        return f"{text} in one set"
    half = T[min(len(logs) - 2, len(T) - 1)] * statistics.stdev(logs) / len(logs) ** 0.5
    low, high = (math.exp(statistics.mean(logs) + side * half) for side in (-1, 1))
    return f"{text} ({low:.4f} to {high:.4f}, {len(logs)} sets)"

print(f"requests/s {ratio('requests_per_s')}, CPU per request {ratio('cpu_us_per_request')}")
PYTHON
}

for length in $lengths; do
    out=${KEEP:-$folder}/$1-$length begun=$SECONDS
    "$BAKEOFF" run "$suite" --profile "length-$length" --contender "${pair[0]}" \
        --contender "${pair[1]}" --seed 1 --out "$out" --quiet >"$folder/log" 2>&1 ||
        { cat "$folder/log" >&2 && exit 1; }
    echo "$length: ${pair[0]} to ${pair[1]}: $(ratios "$out"), after $((SECONDS - begun)) s"
    sed --quiet 's/^- \(.* serves .*\|.* serve .*\)/    \1/p' "$out/results.md" | head -n 1
done
