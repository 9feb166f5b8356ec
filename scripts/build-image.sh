#!/bin/sh
# Builds the image if it is not there, without the command line, and prints its tag. Options: --rebuild, --toolchain.
set -eu
cd "$(dirname "$0")/.."
npm run --silent build >&2
exec node scripts/build-image.mjs "$@"
