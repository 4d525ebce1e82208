#!/usr/bin/env bash
# Does the report name why requests of one service cost more CPU, where the reason is known? Real
# sessions of a service of the suite benches/reasons and of the same one doing one thing more for
# each request. Prints for each what the report says, and whether the known reason is in it.
#
#   same         nothing more: there must be no sentence
#   log          one log line, or ten of axum and jackson: "more log lines", the first of the counts
#   calls        a file is opened, read and closed: "in the kernel" is the first part
#   garbage      jackson only, 10 kB of garbage: "collecting garbage"
#   backend      the backend is asked twice: "more TCP segments sent" or "more bytes received"
#   work         5 % more CPU in the function price: with stacks, it is the first of the functions
#                that differ
#   json         the response is encoded twice: with stacks, JSON is the first layer that differs
#   allocations  go, node and python only, ten of 1 KiB (python: of 10 KiB): with stacks, "in
#                allocation" is the first part
#
# Stacks take perf, those of python also Python 3.12 as python3 on the PATH, and those of jackson
# asprof of async-profiler: the JDK's Flight Recorder takes too few samples. Without them, work, json
# and allocations are asked only if they are named.
#
# Takes root; three to fourteen minutes for each session. BAKEOFF names the program if it is built
# already. KEEP names a folder in which the results of all sessions stay.
#
# usage: benches/reasons.sh axum|jackson|go|node|python [SESSIONS [VARIANT...]]
#
# All variants of the kind unless some are named.
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
kind=${1:-} sessions=${2:-1}
by_counters="same log calls backend" by_stacks="work json allocations" profile=short without=
command -v perf >/dev/null || without="perf is not on the PATH"
case $kind in
axum) by_stacks="work json" profile=axum ;;
jackson)
    by_counters="same log calls garbage backend" by_stacks="work json" profile=jackson without=
    command -v asprof >/dev/null || without="asprof is not on the PATH"
    ;;
go | node) ;;
python)
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' ||
        without="$(python3 --version) names no functions for perf, which 3.12 does"
    ;;
*)
    sed --quiet '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
variants="$by_counters $by_stacks"
if [ $# -ge 3 ]; then
    variants="${*:3}"
elif [ -n "$without" ]; then
    echo "$by_stacks are left out, because stacks cannot be had: $without" >&2
    variants=$by_counters
fi
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
folder=$(mktemp --directory --tmpdir bakeoff-reasons-XXXXXX)
trap 'rm -rf "$folder"' EXIT

# What the sentence must have for it to be right.
expected() { # VARIANT
    case $1 in
    log) echo 'For each request [^ ]* has [0-9.]* more log lines' ;;
    calls) echo ': [0-9.]* µs in the kernel' ;;
    garbage) echo ' collecting garbage' ;;
    backend) echo ' more TCP segments sent\| more bytes received' ;;
    allocations) echo ': by samples of stacks [0-9.]* µs in allocation' ;;
    esac
}

# The layers and the functions in which the variant differs from the other one, in the order of the
# report: `layer NAME DIFFERENCE` or `function NAME DIFFERENCE`.
differences() { # RESULTS VARIANT
    awk -F ' [|] ' -v pair="$kind/$2 against $kind. " '
        { sub(/^[|] /, ""); sub(/ [|]$/, "") }
        $1 == "CPU µs/request" && $NF == "samples" { for (i = 2; i < NF; i++) layers[$i] = 1 }
        index($0, pair) == 1 { reading = 1; next }
        reading && /^#|against/ { reading = 0 }
        reading && NF == 4 && $NF != "difference" {
            print ($1 in layers ? "layer " : "function ") $1 " " $4
        }' "$1/results.md"
}

# Whether the first of the differences is this one.
first_is() { # KIND NAME DIFFERENCES
    grep "^$1 " <<<"$3" | head -n 1 | grep --quiet "^$1 \(.*[.:]\)\?$2 +"
}

# Says of a session what its report does, and returns whether that is right.
judge() { # RESULTS VARIANT
    local said found
    case $2 in
    work | json)
        found=$(differences "$1" "$2")
        said=$(paste --serial --delimiters ';' <<<"${found:-no significant difference}")
        ;;
    *)
        said=$(sed --quiet '/^### Why CPU per request differs/,/^|/s/^- //p' "$1/results.md")
        ;;
    esac
    echo "${said:-no significant difference in CPU per request}"
    case $2 in
    same) [ -z "$said" ] ;;
    work) first_is function price "$found" ;;
    json) first_is layer JSON "$found" ;;
    *) [[ $said == *"$kind/$2 "@(needs|has)" "* ]] && grep --quiet "$(expected "$2")" <<<"$said" ;;
    esac
}

found=0 asked=0
for session in $(seq "$sessions"); do
    for variant in $variants; do
        out=${KEEP:-$folder}/$kind-$variant-$session begun=$SECONDS
        arguments=(--profile "$profile")
        case $variant in
        work | json | allocations) arguments=(--profile "$profile-stacks" --profile-cpu) ;;
        esac
        "$BAKEOFF" run benches/reasons "${arguments[@]}" --contender "$kind" \
            --contender "$kind/$variant" --seed "$session" --out "$out" --quiet >"$out.log" 2>&1 ||
            { cat "$out.log" >&2 && exit 1; }
        asked=$((asked + 1)) verdict=wrong
        if said=$(judge "$out" "$variant"); then
            verdict=right found=$((found + 1))
        fi
        echo "$variant: $verdict after $((SECONDS - begun)) s: $said"
    done
done
echo "$kind: $found of $asked sessions right"
