#!/bin/sh
# Passes every check and every test, engine included, from a fresh clone:  sh scripts/test.sh
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n[test] %s (%s)\n' "$1" "$(date -u +%H:%M:%S)"; }

step 'Tools'
sh scripts/install-tools.sh
step 'Packages'
if [ ! -d node_modules ] || [ -n "${CI:-}" ]; then npm ci --ignore-scripts --no-audit --no-fund; fi
step 'Build'
npm run --silent build
step 'Checks'
npm run --silent check
step 'Engine and image'
sh scripts/install-engine.sh
node dist/main.js build
step 'The package, installed elsewhere'
sh scripts/check-package.sh
step 'Tests'
results=$(mktemp)
trap 'rm -f "$results"' EXIT INT TERM
status=0
npm test -- --reporter=default --reporter=json --outputFile.json="$results" || status=$?
node scripts/closing-line.mjs "$results"
exit "$status"
