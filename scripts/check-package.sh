#!/bin/sh
# Packs the package, compares its content with the list below, installs the tarball as the README says, without root's
# global folder, and runs it.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

# prepack builds dist/ anew: nothing of an earlier build is in the package.
npm pack --silent --pack-destination "$dir" >/dev/null
tarball=$(find "$dir" -name '*.tgz')

# What may be in: the bundle, what the image is built from, the plugin, and the documents. Nothing else.
{
  git ls-files images seccomp docs deploy examples plugin
  find dist -type f \( -name '*.js' -o -name '*.cjs' -o -path dist/licenses.txt \)
  printf '%s\n' CHANGELOG.md CONTRIBUTING.md Dockerfile LICENSE README.md SECURITY.md package.json
} | sort >"$dir/wanted"
tar -tzf "$tarball" | sed 's#^package/##' | sort >"$dir/packed"
if ! diff "$dir/wanted" "$dir/packed" >"$dir/difference"; then
  echo 'the package is not as wanted (<: missing, >: too much):' >&2
  grep '^[<>]' "$dir/difference" >&2
  exit 1
fi
for needed in dist/main.js dist/list-worker.cjs dist/copy-worker.cjs dist/licenses.txt images/pins.json images/init/init.c seccomp/profile.json; do
  grep -qx "$needed" "$dir/packed" || { echo "the package lacks $needed" >&2; exit 1; }
done

cd "$dir"
npm install --silent --ignore-scripts --no-audit --no-fund --prefer-offline --global --prefix "$dir/prefix" \
  "./$(basename "$tarball")"
PATH="$dir/prefix/bin:$PATH"
version=$(run-claude version)
run-claude help >/dev/null
run-claude help doctor >/dev/null
printf 'NODE_OPTIONS=--require ./ran.cjs\n' >variables
printf 'require("node:fs").writeFileSync("ran", "");\n' >ran.cjs
run-claude help --env-file variables >/dev/null 2>&1 || true
if [ -e ran ]; then
  echo 'Node read a file of variables that was named for the agent' >&2
  exit 1
fi
printf 'The installed package runs: %s\n' "$version"
