#!/usr/bin/env bash
# Tries the packages of a folder, as far as they are for this machine: try.sh FOLDER. Each is
# installed into a place that is removed at the end, and makes a duel there. The Debian package is
# unpacked and not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints how long a program takes to its version, and to the verdict of a short duel.
try() {
    local door=$1 program=$2 start=$SECONDS
    "$program" --version
    (cd "$work" && "$program" init suite --port 18190 >/dev/null &&
        "$program" duel 'one=python3 suite/contenders/threads/server.py threads' \
            'two=python3 suite/contenders/asyncio/server.py asyncio' --get /hello --port 18190 \
            --runs 1 --duration 1s --warm-up none --out results --differ --quiet)
    rm -rf "$work/suite" "$work/results"
    echo "ok: $door: a verdict after $((SECONDS - start)) s"
}

arch=$(uname -m)
version=$(basename "$folder"/bakeoff-*-"$arch"-*.tar.gz | sed "s/bakeoff-\(.*\)-$arch-.*/\1/")
mkdir "$work/archive" "$work/deb"
tar -xzf "$folder/bakeoff-$version-$arch-unknown-linux-musl.tar.gz" -C "$work/archive"
try "archive" "$work/archive/bakeoff"

if command -v dpkg-deb >/dev/null; then
    dpkg-deb --extract "$folder/bakeoff_${version}_$(dpkg --print-architecture).deb" "$work/deb"
    try "Debian package" "$work/deb/usr/bin/bakeoff"
else
    echo "NOT TRIED: Debian package: dpkg-deb is missing"
fi

if command -v python3 >/dev/null; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --no-index --find-links "$folder" bakeoff
    try "wheel" "$work/venv/bin/bakeoff"
else
    echo "NOT TRIED: wheel: python3 is missing"
fi

if command -v npm >/dev/null; then
    "$here/npm/make.sh" "$version" "$folder" >/dev/null
    case $arch in
    x86_64) cpu=x64 ;;
    *) cpu=arm64 ;;
    esac
    mkdir "$work/npm"
    # The packages are files here; a registry would give the second one for the first.
    (cd "$work/npm" && npm install --silent --no-audit --no-fund --omit=optional \
        "$folder/bakeoff-linux-$cpu-$version.tgz" "$folder/bakeoff-$version.tgz")
    try "npm package" "$work/npm/node_modules/.bin/bakeoff"
else
    echo "NOT TRIED: npm package: npm is missing"
fi

if docker info >/dev/null 2>&1; then
    docker build --quiet --tag bakeoff-try --build-arg BINARY=bakeoff --file "$here/../Dockerfile" \
        "$work/archive" >/dev/null
    docker run --rm bakeoff-try --version
    docker rmi bakeoff-try >/dev/null
    echo "ok: image"
else
    echo "NOT TRIED: image: no Docker engine responds"
fi
