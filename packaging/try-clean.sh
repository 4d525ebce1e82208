#!/usr/bin/env bash
# Tries the packages of a folder in containers that have nothing of this host and no network:
# try-clean.sh FOLDER. Each is installed as its users do, and makes a duel of two services there.
# Only images that the Docker engine has are used; what is not tried for lack of one is said.
set -euo pipefail
folder=$(cd "$1" && pwd)
arch=$(uname -m)
version=$(basename "$folder"/bakeoff-*-"$arch"-*.tar.gz | sed "s/bakeoff-\(.*\)-$arch-.*/\1/")
case $arch in
x86_64) debian=amd64 cpu=x64 ;;
*) debian=arm64 cpu=arm64 ;;
esac

# Installs a package by a command in the first image with such a name, and measures the time from
# there to the verdict.
try() {
    local door=$1 names=$2 file=$3 install=$4 image start
    if ! compgen -G "$folder/$file" >/dev/null; then
        echo "NOT TRIED: $door: there is no $file"
        return
    fi
    image=$(docker images --format '{{.Repository}}:{{.Tag}}' | grep --extended-regexp \
        --max-count 1 "^($names):" || true)
    if [[ -z $image ]]; then
        echo "NOT TRIED: $door: the engine has no image named $names"
        return
    fi
    start=$(date +%s%N)
    docker run --rm --network none --volume "$folder:/packages:ro" --env "INSTALL=$install" \
        --workdir /tmp "$image" sh -euc '
            eval "$INSTALL" >/tmp/install.log 2>&1 || { cat /tmp/install.log; exit 1; }
            bakeoff --version
            service="bakeoff null-server --listen 127.0.0.1:18190"
            bakeoff duel "one=$service" "two=$service" --get / --port 18190 --runs 1 \
                --duration 1s --warm-up none --out results --differ --quiet'
    start=$((($(date +%s%N) - start) / 1000000))
    echo "ok: $door in $image: installed, and a verdict, after $start ms"
}

if ! docker info >/dev/null 2>&1; then
    echo "NOT TRIED: clean containers: no Docker engine responds"
    exit
fi
archive=bakeoff-$version-$arch-unknown-linux-musl.tar.gz
try "archive" "bakeoff-base/debian|debian" "$archive" \
    "tar -xzf /packages/$archive -C /usr/local/bin bakeoff"
deb=bakeoff_${version}_$debian.deb
try "Debian package" "bakeoff-base/debian|debian" "$deb" "dpkg -i /packages/$deb"
try "wheel" "python" "bakeoff-$version-py3-none-*_$arch*.whl" \
    "pip install --no-index --find-links /packages bakeoff"
try "npm package" "node" "bakeoff-linux-$cpu-$version.tgz" "npm install --global --offline \
    --omit=optional /packages/bakeoff-linux-$cpu-$version.tgz /packages/bakeoff-$version.tgz"
