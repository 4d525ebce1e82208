#!/bin/sh
# Builds the service linked statically with musl, which `rustup` brings. OpenSSL is compiled as
# well, with `musl-gcc`: the system's wants the system's C library.
set -eu

target=x86_64-unknown-linux-musl
rustup target add "$target"
exec cargo build --release --locked --target "$target" --features vendored-openssl
