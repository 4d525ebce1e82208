#!/usr/bin/env bash
# Does the report name why requests of one service cost more CPU, where the reason is known? Real
# sessions of a service of the suite benches/verdicts and of the same one doing one thing more for
# each request. Prints for each what the report says, and whether the known reason is in it.
#
#   native   5 % more work, a log line, three system calls, a header of 2000 bytes, nothing
#   jvm      5 % more work, a log line, 10 kB of garbage, nothing
#
# Takes root; some 40 s for each of the natives, two minutes for each of the JVMs. BAKEOFF names the
# program if it is built already. KEEP names a folder in which the results of all sessions stay.
#
# usage: benches/reasons.sh native|jvm [SESSIONS [VARIANT...]]
#
# VARIANT is work, log, calls, bytes, garbage or same; all of the kind when absent.
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
kind=${1:-} sessions=${2:-1}
case $kind in
native) variants="work log calls bytes same" ;;
jvm) variants="work log garbage same" ;;
*)
    sed --quiet '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
    ;;
esac
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
folder=$(mktemp --directory --tmpdir bakeoff-reasons-XXXXXX)
trap 'rm -rf "$folder"' EXIT

# What the sentence must have for it to be right; of the same service there must be none.
expected() { # VARIANT
    case $1 in
    work) echo ' in its own code' ;;
    log) echo ' more log lines' ;;
    calls) echo ': [0-9.]* µs in the kernel' ;;
    bytes) echo ' more bytes sent' ;;
    garbage) echo ' collecting garbage' ;;
    esac
}

[ $# -lt 3 ] || variants="${*:3}"
found=0 asked=0
for session in $(seq "$sessions"); do
    for variant in $variants; do
        out=${KEEP:-$folder}/$kind-$variant-$session
        "$BAKEOFF" run benches/verdicts --profile "reasons-$kind" --contender "$kind/little" \
            --contender "$kind/little-$variant" --seed "$session" --out "$out" --quiet >"$out.log" 2>&1 ||
            { cat "$out.log" >&2 && exit 1; }
        said=$(sed --quiet "s/^- \(.* needs .* more CPU per request than .*\)/\1/p" "$out/results.md")
        asked=$((asked + 1)) verdict=wrong
        if [ "$variant" = same ]; then
            [ -n "$said" ] || verdict=right
        elif [[ $said == "$kind/little-$variant needs "* ]] && grep --quiet "$(expected "$variant")" <<<"$said"; then
            verdict=right
        fi
        [ "$verdict" = wrong ] || found=$((found + 1))
        echo "$variant: $verdict: ${said:-no significant difference in CPU per request}"
    done
done
echo "$kind: $found of $asked sessions right"
