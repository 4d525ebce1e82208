#!/usr/bin/env bash
# Does the command of docs/CI.md find a service that does 10 % more work for each request, and does it
# pass a change that changes nothing? A repository with benches/ci is made, with a second commit of
# either kind, and each is compared with the commit before, in turn. Prints a line for each session,
# then how many failed; ends with status 1 unless all of the one kind failed and none of the other.
# A session ends as soon as its condition is decided, after five sets at least, as without a number of
# runs; its line says after how many. Takes root, and up to two minutes and a half for each session
# with its builds. BAKEOFF names the program if it is built already.
#
# usage: benches/ci.sh [UNCHANGED [SLOWER]]     sessions of each kind; as many slower ones if not said
set -euo pipefail
[ -z "${BAKEOFF:-}" ] || BAKEOFF=$(realpath "$BAKEOFF")
cd "$(dirname "$0")/.."
sessions=${1:-10}
slower_sessions=${2:-$sessions}
if [ -z "${BAKEOFF:-}" ]; then
    cargo build --quiet --profile dist --package bakeoff
    BAKEOFF=$PWD/target/dist/bakeoff
fi
folder=$(mktemp --directory --tmpdir bakeoff-ci-XXXXXX)
trap 'rm -rf "$folder"' EXIT
export BAKEOFF_CACHE=$folder/cache

commit() { # MESSAGE
    git add --all
    git -c user.name=bakeoff -c user.email=bakeoff@localhost commit --quiet --message "$1"
}

repository() { # NAME: a repository with the suite, and a change on top
    mkdir "$folder/$1"
    cp -r benches/ci "$folder/$1/bench"
    cd "$folder/$1"
    git init --quiet
    commit "The service as it was"
    case $1 in
    # Without a change of its sources the service would not be measured.
    unchanged) echo "// Nothing that matters." >>bench/contenders/busy/main.rs ;;
    slower) sed -i 's/^const ROUNDS: u32 = 100_000;/const ROUNDS: u32 = 110_000;/' \
        bench/contenders/busy/main.rs ;;
    esac
    commit "The service as it is"
    cd - >/dev/null
}

compare() { # NAME SESSION: prints a line; the session's status is in $status
    local out=$folder/$1-$2 begun=$SECONDS
    status=0
    (cd "$folder/$1" && "$BAKEOFF" run bench --baseline HEAD~1 --fail-if 'slower>5%' \
        --out "$out" --quiet) >"$out.log" 2>&1 || status=$?
    if [ "$status" != 0 ] && [ "$status" != 3 ]; then
        cat "$out.log" >&2
        exit 1
    fi
    local figures sets
    sets=$(grep --extended-regexp --only-matching '^[0-9]+ runs of each contender' "$out.log" || true)
    figures=$(grep --extended-regexp '^  (requests/s|CPU/request)' "$out.log" |
        sed --regexp-extended 's/^ +//; s/ +/ /g' | paste --serial --delimiters ';')
    echo "$1 $2: status $status in $((SECONDS - begun)) s, ${sets%% *} sets; $figures"
}

repository unchanged
repository slower
unchanged=0 slower=0
for session in $(seq "$sessions"); do
    compare unchanged "$session"
    [ "$status" = 0 ] || unchanged=$((unchanged + 1))
    [ "$session" -le "$slower_sessions" ] || continue
    compare slower "$session"
    [ "$status" = 0 ] || slower=$((slower + 1))
done
echo "unchanged: $unchanged of $sessions sessions failed"
echo "10 % more work for each request: $slower of $slower_sessions sessions failed"
[ "$unchanged" = 0 ] && [ "$slower" = "$slower_sessions" ]
