#!/usr/bin/env bash
# Makes the packages of one target: make.sh TARGET FOLDER, such as x86_64-unknown-linux-musl. All
# have the same static program. Needs `musl-tools`; for aarch64 on x86-64 instead
# `gcc-aarch64-linux-gnu`, `libc6-dev-arm64-cross` and `qemu-user-static`. cargo-deb,
# cargo-cyclonedx and maturin are installed if missing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1 folder=$(mkdir -p "$2" && cd "$2" && pwd)
arch=${target%%-*}
case $arch in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) echo "error: no packages are made for $target" >&2 && exit 1 ;;
esac
emulator=()
if [[ $arch != "$(uname -m)" ]]; then
    emulator=("qemu-$arch-static")
    # Rust's own linker and C library. The little C of dependencies takes no more than the types of
    # that compiler's headers.
    triple=${target//-/_}
    export "CARGO_TARGET_${triple^^}_LINKER=rust-lld" "CC_$triple=$arch-linux-gnu-gcc"
fi
BAKEOFF_COMMIT=$(git rev-parse --short HEAD)
CARGO_TARGET_DIR=$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")
export BAKEOFF_COMMIT CARGO_TARGET_DIR
cargo build --profile dist --locked --bin bakeoff --target "$target"
built=$CARGO_TARGET_DIR/$target/dist
if readelf --program-headers "$built/bakeoff" | grep -q INTERP; then
    echo "error: $built/bakeoff needs a dynamic linker" >&2
    exit 1
fi
# Man pages and completions, by the program itself.
program=("${emulator[@]}" "$built/bakeoff")
rm -rf "$built/man" "$built/completions"
mkdir "$built/completions"
"${program[@]}" man --write "$built/man"
for shell in bash elvish fish powershell zsh; do
    "${program[@]}" completions "$shell" >"$built/completions/bakeoff.$shell"
done
version=$(cargo pkgid --package bakeoff | sed 's/.*[#@]//')
cp LICENSE-MIT LICENSE-APACHE README.md "$built/"
tar -czf "$folder/bakeoff-$version-$target.tar.gz" -C "$built" \
    bakeoff LICENSE-MIT LICENSE-APACHE README.md man completions
# What the program is made of. It is written next to the manifest of every crate.
command -v cargo-cyclonedx >/dev/null || cargo install cargo-cyclonedx --locked --debug
parts=bakeoff-$version-$target.cdx
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) cargo cyclonedx --format json --spec-version 1.5 \
    --target "$target" --override-filename "$parts" --quiet
# Without this machine's folders, so that the same sources give the same list.
sed "s|file://$PWD|file:///bakeoff|g" "crates/cli/$parts.json" >"$folder/$parts.json"
find crates tools xtask -name "$parts.json" -delete
command -v cargo-deb >/dev/null || cargo install cargo-deb --locked --debug
cargo deb --package bakeoff --profile dist --no-build --no-strip --target "$target" \
    --output "$folder/bakeoff_${version}_$debian.deb"
maturin=$(command -v maturin || true)
if [[ -z $maturin ]]; then
    venv=$CARGO_TARGET_DIR/maturin
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet 'maturin>=1.7,<2'
    maturin=$venv/bin/maturin
fi
(cd packaging/pypi && "$maturin" build --profile dist --target "$target" --out "$folder" --quiet)
