#!/usr/bin/env bash
# Tries the packages of a folder: try.sh FOLDER. Each that is for this machine is installed into a
# place that is removed at the end, and makes a duel there. The Debian package is unpacked and not
# installed. Archives for other machines are tried under qemu. What is not tried is said.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What runs the program, if the kernel cannot.
under=()

# Prints how long a program takes to its version, and to the verdict of a short duel.
try() {
    local door=$1 bakeoff=("${under[@]}" "$2") start=$SECONDS
    "${bakeoff[@]}" --version
    (cd "$work" && "${bakeoff[@]}" init suite --port 18190 >/dev/null &&
        "${bakeoff[@]}" duel 'one=python3 suite/contenders/threads/server.py threads' \
            'two=python3 suite/contenders/asyncio/server.py asyncio' --get /hello --port 18190 \
            --runs 1 --duration 1s --warm-up none --out results --differ --quiet)
    rm -rf "$work/suite" "$work/results"
    echo "ok: $door: a verdict after $((SECONDS - start)) s"
}

# Tries an archive for another architecture, as far as qemu can.
try_foreign() {
    local archive=$1 foreign=$2
    local door="archive for $foreign under qemu" program=$work/$foreign/bakeoff
    if ! command -v "qemu-$foreign-static" >/dev/null; then
        echo "NOT TRIED: $door: qemu-$foreign-static is missing"
        return
    fi
    mkdir "$work/$foreign"
    tar -xzf "$archive" -C "$work/$foreign"
    "qemu-$foreign-static" "$program" --version
    printf '%s\n' side,value old,10.2 new,9.7 new,9.9 old,10.4 old,10.3 new,9.6 new,9.8 old,10.1 \
        old,10.2 new,9.9 >"$work/values.csv"
    "qemu-$foreign-static" "$program" judge --lower-is-better "$work/values.csv"
    echo "ok: $door: a verdict on a table"
    if "$here/emulated.sh" "$foreign" true 2>/dev/null; then
        under=("$here/emulated.sh" "$foreign")
        try "$door" "$program"
        under=()
    else
        echo "NOT TRIED: $door: a duel: no namespaces here in which the kernel knows qemu"
    fi
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

for archive in "$folder"/bakeoff-"$version"-*-unknown-linux-musl.tar.gz; do
    foreign=$(basename "$archive" -unknown-linux-musl.tar.gz)
    foreign=${foreign#"bakeoff-$version-"}
    if [[ $foreign != "$arch" ]]; then
        try_foreign "$archive" "$foreign"
        echo "NOT TRIED: Debian package, wheel, npm package and image for $foreign: this is $arch"
    fi
done
