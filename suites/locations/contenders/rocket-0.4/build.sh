#!/bin/sh
# Builds the service: Rocket 0.4 wants a nightly compiler of its own time, which `rustup` installs.
# With PATCH_HYPER=1, the connections of its hyper can be used more than once.
set -eu

# A nightly of Rust 1.63, a month after Rocket 0.4.11.
toolchain=nightly-2022-06-23

# Cargo takes a fetched package that was changed only when nothing is known of its files.
forget_files() {
    sed -i 's/"files":{[^}]*}/"files":{}/' "$1/.cargo-checksum.json"
}

if ! rustup run "$toolchain" rustc --version; then
    rustup toolchain install "$toolchain" --profile minimal --no-self-update
fi

# The Cargo of that time would fetch the whole index of the registry; today's takes what is locked.
rm -rf vendor
mkdir -p .cargo
cargo vendor --locked --versioned-dirs vendor >.cargo/config.toml

# The client tests its README with a feature of nightly compilers that was gone by then.
client=vendor/elasticsearch-7.8.0-alpha.1
sed -i '/RUSTC_IS_NIGHTLY, feature(external_doc)/,/_DoctestReadme/d' "$client/src/lib.rs"
forget_files "$client"

if [ "${PATCH_HYPER:-}" = 1 ]; then
    patch --strip=1 --directory=vendor/hyper-0.10.16 <hyper-keep-alive.patch
    forget_files vendor/hyper-0.10.16
    # A package of the same version is taken for unchanged since the last build.
    rustup run "$toolchain" cargo clean --release --offline --package hyper:0.10.16
fi

rustup run "$toolchain" cargo build --release --locked --offline
# The next build fetches it again anyhow; until then it would only fill the cache.
rm -rf vendor
