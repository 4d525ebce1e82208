#!/usr/bin/env bash
# Fetches the static binary of a release, checks it against the release's checksums, and puts it on the
# PATH of the steps that follow. VERSION is a tag (v1.2.0), REPOSITORY is OWNER/NAME. DOWNLOADS names
# another place of the files than the release.
set -euo pipefail
case $(uname -sm) in
"Linux x86_64") target=x86_64-unknown-linux-musl ;;
"Linux aarch64") target=aarch64-unknown-linux-musl ;;
*)
    echo "::error::bakeoff runs on Linux, x86_64 or aarch64; this runner is $(uname -sm)"
    exit 1
    ;;
esac
if [[ ! ${VERSION:-} =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
    echo "::error::no release is called '${VERSION:-}': use the action at a tag such as v1.2.0, or set \`version\`"
    exit 1
fi
downloads=${DOWNLOADS:-https://github.com/$REPOSITORY/releases/download/$VERSION}
archive=bakeoff-${VERSION#v}-$target.tar.gz
folder=${RUNNER_TEMP:?}/bakeoff
mkdir -p "$folder"
cd "$folder"
for file in "$archive" SHA256SUMS; do
    curl --fail --silent --show-error --location --retry 3 --output "$file" "$downloads/$file" || {
        echo "::error::$downloads/$file cannot be fetched: is there a release $VERSION?"
        exit 1
    }
done
grep --fixed-strings -- "  $archive" SHA256SUMS | sha256sum --check --quiet - || {
    echo "::error::$archive is not what the release's SHA256SUMS says"
    exit 1
}
tar -xzf "$archive" bakeoff
echo "$folder" >>"${GITHUB_PATH:?}"
./bakeoff --version
