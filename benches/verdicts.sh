#!/usr/bin/env bash
# Are the verdicts of sessions right, where it is known what is right? Real sessions of the suite
# benches/verdicts, whose services do a stated amount of work for each request. Prints a line for
# each session, then how many were right.
#
#   difference WAY KIND PERCENT   2 or 5 % more work is found to be slower
#   same WAY KIND         no significant difference between a service and the same one under another
#                         name
#   planned               5 % more work is found with as many runs as the pilot asks for
#   eight                 of eight in turns, six of which differ by 5 % from one to the next and two are
#                         the same, each is ranked in its place and the two do not differ
#
# Found: the interval of the ratio of requests per second, 95 %, does not contain 1.
# WAY: turns (until the pair is decided, two minutes at most, five of JVMs), or blocks (whole runs).
# KIND: native or jvm.
# Takes root; at most two minutes for each session of natives, five of JVMs, and seven of eight.
# BAKEOFF names the program if it is built already. KEEP names a folder in which the results of all
# sessions stay. BESIDE is a command that runs again and again while the sessions last, such as
# 'taskset --cpu-list 1 make -B', with its output discarded.
#
# usage: benches/verdicts.sh QUESTION [WAY KIND [PERCENT]] [SESSIONS]
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
# Ranks have marks that are not ASCII.
export LC_ALL=C.UTF-8
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
usage() {
    sed --quiet '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

question=${1:-} sessions=10 contenders=()
case $question in
difference)
    way=${2:-} kind=${3:-} percent=${4:-} sessions=${5:-$sessions}
    [[ $percent =~ ^(2|5)$ ]] || usage
    ;;&
same)
    way=${2:-} kind=${3:-} sessions=${4:-$sessions}
    ;;&
difference | same)
    [[ $way =~ ^(turns|blocks)$ && $kind =~ ^(native|jvm)$ ]] || usage
    profile=$way-$kind
    case $question-${percent:-} in
    same-) other=$kind/same ;;
    *-2) other=$kind/more ;;
    *-5) other=$kind/step-1 ;;
    esac
    contenders=("$kind" "$other")
    ;;
planned)
    sessions=${2:-$sessions} profile=planned
    contenders=(native native/step-1)
    ;;
eight)
    sessions=${2:-5} profile=eight
    contenders=(native native/same native/step-{1..6})
    ;;
*) usage ;;
esac
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
folder=$(mktemp --directory --tmpdir bakeoff-verdicts-XXXXXX) beside=
trap '[ -z "$beside" ] || kill -- "-$beside"; rm -rf "$folder"' EXIT

# `RANK CONTENDER` of each, as the results have it; a rank ends in `=` or `≈` where it is shared.
ranks() { # RESULTS
    sed --quiet --regexp-extended 's/^\| ([0-9]+[=≈]?) \| (native|jvm)(\/[a-z0-9-]+)? \| .*/\1 \2\3/p' "$1/results.md" |
        LC_ALL=C sort
}

# What a session says of the claim in benches/verdicts/published.toml: reproduced, undecided, ...
claim() { # RESULTS TEXT
    sed --quiet --regexp-extended "s/^\| $2 .*\*\*([a-z ]+)\*\*.*/\1/p" "$1/results.md"
}

right() { # RESULTS: whether it says what is known
    case $question in
    difference) [ "$(claim "$1" "$kind: $percent % more work are slower")" = reproduced ] ;;
    same)
        [ "$(claim "$1" "$kind: the same is slower")" != reproduced ] &&
            [ "$(claim "$1" "$kind: the same is faster")" != reproduced ]
        ;;
    planned) [ "$(ranks "$1")" = $'1 native\n2 native/step-1' ] ;;
    eight)
        # A dot stands for the mark of a shared rank.
        [ "$(ranks "$1" | sed 's/[=≈]/./')" = \
            $'1. native\n1. native/same'"$(printf '\n%s native/step-%s' 3 1 4 2 5 3 6 4 7 5 8 6)" ]
        ;;
    esac
}

# Runs BESIDE in a process group of its own until it is ended by that number.
start_beside() {
    [ -n "${BESIDE:-}" ] || return 0
    setsid bash -c "while :; do $BESIDE; done" >/dev/null 2>&1 &
    beside=$!
}

start_beside
found=0
for session in $(seq "$sessions"); do
    out=${KEEP:-$folder}/$session begun=$SECONDS
    arguments=()
    for contender in "${contenders[@]}"; do
        arguments+=(--contender "$contender")
    done
    "$BAKEOFF" run benches/verdicts --profile "$profile" "${arguments[@]}" --seed "$session" \
        --out "$out" --quiet >"$out.log" 2>&1 || { cat "$out.log" >&2 && exit 1; }
    verdict=wrong
    if right "$out"; then
        verdict=right found=$((found + 1))
    fi
    said=$(sed --quiet 's/^- \(.* serves .*\)/\1/p' "$out/results.md" | head -n 1)
    [ "$question" != eight ] || said=$(ranks "$out" | paste --serial --delimiters ',')
    echo "$session: $verdict after $((SECONDS - begun)) s: $said"
done
echo "$question${way:+ $way $kind}${percent:+ $percent %}: $found of $sessions sessions right"
