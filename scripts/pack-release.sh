#!/bin/sh
# Everything that a release has, in a new directory:  sh scripts/pack-release.sh DIR
# The package, its bill of materials, the changes, and the SHA-256 of the first two.
set -eu
[ $# -eq 1 ] || { echo 'usage: sh scripts/pack-release.sh DIR' >&2; exit 2; }
cd "$(dirname "$0")/.."
mkdir "$1"
dir=$(cd "$1" && pwd)
# prepack builds dist/ anew: nothing of an earlier build is in the package.
npm pack --silent --pack-destination "$dir" >/dev/null
version=$(node -p 'require("./package.json").version')
cp dist/sbom.cdx.json "$dir"
node scripts/release.mjs notes >"$dir/notes.md"
cd "$dir"
sha256sum "run-claude-$version.tgz" sbom.cdx.json >SHA256SUMS
