#!/bin/sh
# Runs every check and every test, with an engine, from a fresh clone:  sh scripts/test.sh
set -eu
cd "$(dirname "$0")/.."

# The long suites take some 45 minutes on two processors: they are part of the run only where the rest was so fast that it
# stays under an hour.
FAST_MINUTES=12

started=$(date +%s)
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
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT INT TERM
status=0
npm test -- --reporter=default --reporter=json --outputFile.json="$results/tests.json" || status=$?
if [ $(($(date +%s) - started)) -lt $((FAST_MINUTES * 60)) ]; then
  step 'Long tests'
  npm run --silent test:long -- --reporter=default --reporter=json --outputFile.json="$results/long.json" || status=$?
else
  printf '\n[test] More than %s minutes: the long suites are left to npm run test:long\n' "$FAST_MINUTES"
fi
node scripts/attacks.mjs "$results"/*.json || status=$?
node scripts/closing-line.mjs "$results"/*.json
exit "$status"
