#!/usr/bin/env bash
# Writes the npm packages of a release: make.sh VERSION FOLDER, where FOLDER has the archives of the
# static binaries. `bakeoff` depends on the package of the machine's processor, which has the program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$1 folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
optional=
for pair in x86_64:x64 aarch64:arm64; do
    archive=$folder/bakeoff-$version-${pair%:*}-unknown-linux-musl.tar.gz
    cpu=${pair#*:}
    [[ -f $archive ]] || continue
    package=$work/bakeoff-linux-$cpu
    mkdir -p "$package/bin"
    tar -xzf "$archive" -C "$package/bin" bakeoff
    cat >"$package/package.json" <<JSON
{
  "name": "bakeoff-linux-$cpu",
  "version": "$version",
  "description": "The program of bakeoff for Linux on $cpu",
  "license": "MIT OR Apache-2.0",
  "os": ["linux"],
  "cpu": ["$cpu"],
  "files": ["bin"]
}
JSON
    optional="$optional${optional:+, }\"bakeoff-linux-$cpu\": \"$version\""
done
mkdir "$work/bakeoff"
cp "$here/bakeoff.js" "$work/bakeoff"
cat >"$work/bakeoff/package.json" <<JSON
{
  "name": "bakeoff",
  "version": "$version",
  "description": "Benchmarks web frameworks as services under real limits, and says how sure it is",
  "license": "MIT OR Apache-2.0",
  "bin": { "bakeoff": "bakeoff.js" },
  "files": ["bakeoff.js"],
  "optionalDependencies": { $optional }
}
JSON
for package in "$work"/bakeoff*; do
    (cd "$folder" && npm pack --silent "$package")
done
