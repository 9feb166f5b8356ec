#!/bin/sh
# Packs the package, installs the tarball as the README says, without root's global folder, and runs it.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

npm pack --silent --ignore-scripts --pack-destination "$dir" >/dev/null
tarball=$(find "$dir" -name '*.tgz')
for wanted in package/dist/main.js package/Dockerfile package/images/pins.json package/images/init/init.c \
  package/dist/list-worker.cjs package/dist/copy-worker.cjs package/seccomp/profile.json package/README.md \
  package/LICENSE package/dist/licenses.txt; do
  tar -tzf "$tarball" | grep -qx "$wanted" || { echo "the package lacks $wanted" >&2; exit 1; }
done
if tar -tzf "$tarball" | grep -E '^package/(src|test|bench|node_modules)/'; then
  echo 'the package holds what it should not' >&2
  exit 1
fi

cd "$dir"
npm install --silent --ignore-scripts --no-audit --no-fund --prefer-offline --global --prefix "$dir/prefix" \
  "./$(basename "$tarball")"
PATH="$dir/prefix/bin:$PATH"
version=$(run-claude version)
run-claude help >/dev/null
run-claude help doctor >/dev/null
printf 'The installed package runs: %s\n' "$version"
