#!/usr/bin/env bash
# Writes the Homebrew formula of a release: homebrew.sh VERSION BASE_URL SHA256SUMS > bakeoff.rb
set -euo pipefail
version=$1 base=$2 sums=$3
sum() { awk -v name="bakeoff-$version-$1.tar.gz" '$2 == name { print $1 }' "$sums"; }
intel=$(sum x86_64-unknown-linux-musl)
arm=$(sum aarch64-unknown-linux-musl)
if [[ -z $intel || -z $arm ]]; then
  echo "error: $sums lacks an archive of $version" >&2
  exit 1
fi
cat <<FORMULA
class Bakeoff < Formula
  desc "Benchmarks web frameworks as services under real limits"
  homepage "$base"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]
  # Limits and meters are those of the Linux kernel.
  depends_on :linux

  on_intel do
    url "$base/releases/download/v$version/bakeoff-$version-x86_64-unknown-linux-musl.tar.gz"
    sha256 "$intel"
  end
  on_arm do
    url "$base/releases/download/v$version/bakeoff-$version-aarch64-unknown-linux-musl.tar.gz"
    sha256 "$arm"
  end

  def install
    bin.install "bakeoff"
    generate_completions_from_executable(bin/"bakeoff", "completions")
  end

  test do
    system bin/"bakeoff", "init", testpath/"demo"
    assert_match "asyncio", shell_output("#{bin}/bakeoff list #{testpath}/demo")
  end
end
FORMULA
