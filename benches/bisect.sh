#!/usr/bin/env bash
# Does `bakeoff bisect` name the commit that made a service slower, where it is known which one it is?
# Makes a repository of 33 commits of the native service of benches/verdicts, each of which changes
# its code and thereby its layout; one of them, another one in each search, has it do PERCENT more work
# for each request; with 0 none does. Prints a line for each search, then how many were right.
#
# Takes root; seven to twelve minutes for each search with 5 %, two to eight with 0. BAKEOFF names the
# program if it is built already. KEEP names a folder in which the results of all searches stay.
#
# usage: benches/bisect.sh PERCENT [SEARCHES]
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    KEEP=$(realpath "$KEEP")
fi
cd "$(dirname "$0")/.."
percent=${1:-} searches=${2:-1}
if [[ ! $percent =~ ^[0-9]+$ ]]; then
    sed --quiet '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
fi
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
service=$PWD/benches/verdicts/contenders/native/main.rs
folder=$(mktemp --directory --tmpdir bakeoff-bisect-XXXXXX)
trap 'rm -rf "$folder"' EXIT
# As much work as in the suite, so that the rest of a request is a twentieth of it.
COMMITS=32 ROUNDS=100000

# A repository whose commit of this number is the one that does more work.
repository() { # FOLDER SLOW
    mkdir "$1"
    git -C "$1" init --quiet
    cp "$service" "$1/main.rs"
    for commit in $(seq 0 $COMMITS); do
        # Nothing calls it, and the compiler must keep it.
        printf '\n#[no_mangle]\npub extern "C" fn unused_%s(x: u64) -> u64 {\n    x.wrapping_mul(%s) ^ x >> 7\n}\n' \
            "$commit" "$((2 * commit + 1))" >>"$1/main.rs"
        rounds=$ROUNDS
        [ "$percent" = 0 ] || [ "$commit" -lt "$2" ] || rounds=$((ROUNDS * (100 + percent) / 100))
        printf '#!/bin/sh\nROUNDS=%s exec ./busy\n' "$rounds" >"$1/service.sh"
        git -C "$1" add --all
        git -C "$1" -c user.name=bench -c user.email=bench@localhost commit --quiet --message "Change $commit"
    done
}

right=0
for search in $(seq "$searches"); do
    slow=$((1 + (search * 11) % COMMITS))
    shop=$folder/shop-$search
    repository "$shop" "$slow"
    out=${KEEP:-$folder}/$percent-$search
    (cd "$shop" && "$BAKEOFF" bisect "HEAD~$COMMITS..HEAD" --out "$out" --seed "$search" --connections 8 \
        --command 'sh service.sh' --get /work --build 'rustc --edition 2021 -O main.rs -o busy' \
        --fail-if 'cpu>2%' >"$out.log" 2>&1) || { cat "$out.log" >&2 && exit 1; }
    said=$(tr '\n' ' ' <"$out.log" | grep --only-matching 'bad takes .*' || true)
    verdict=wrong
    if [ "$percent" = 0 ]; then
        [[ $said != *"significantly not cpu>2%"* ]] || verdict=right
    elif [[ $said == *"\"Change $slow\" with a probability of"* ]]; then
        verdict=right
    fi
    [ "$verdict" = wrong ] || right=$((right + 1))
    echo "change $slow: $verdict: $said"
done
echo "$percent %: $right of $searches searches right"
