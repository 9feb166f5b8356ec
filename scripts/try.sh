#!/bin/sh
# The main job for a newcomer, from a fresh clone:  sh scripts/try.sh
# Installs the npm packages, finds a container engine (or installs one on Debian as root, after saying so), builds the
# image, and runs a real session of Claude Code on a sample project. The model is a script, so it costs nothing and
# needs no account; the review at the end is yours.
set -eu
cd "$(dirname "$0")/.."

say() { printf '[try] %s\n' "$1" >&2; }

if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)'; then
  say "Node 20.19 or newer is needed; this is $(node --version)."
  exit 1
fi
if [ ! -d node_modules ]; then
  say 'Installing npm packages...'
  npm ci --silent --ignore-scripts --no-audit --no-fund
fi
say 'Compiling...'
npm run --silent build
sh scripts/install-engine.sh
node dist/main.js build >/dev/null
exec node scripts/try.mjs
