#!/bin/sh
# From a fresh clone:  sh scripts/test.sh       every check and every test of the gate, in under an hour on two processors
#                      sh scripts/test.sh long  the long suites, some 45 minutes more
# What runs depends on the argument alone: a fast machine and a slow one give the same answer.
set -eu
cd "$(dirname "$0")/.."

case ${1:-gate} in
  gate | long) suites=${1:-gate} ;;
  *) echo 'usage: sh scripts/test.sh [long]' >&2; exit 2 ;;
esac
step() { printf '\n[test] %s (%s)\n' "$1" "$(date -u +%H:%M:%S)"; }

step 'Tools'
sh scripts/install-tools.sh "$suites"
step 'Packages'
if [ ! -d node_modules ] || [ -n "${CI:-}" ]; then npm ci --ignore-scripts --no-audit --no-fund; fi
step 'Build'
npm run --silent build
if [ "$suites" = gate ]; then
  step 'Checks'
  npm run --silent check
fi
step 'Engine and image'
sh scripts/install-engine.sh
node dist/main.js build
if [ "$suites" = gate ]; then
  step 'The package, installed elsewhere'
  sh scripts/check-package.sh
  tests='test'
else
  tests='test:long'
fi
step 'Tests'
report=$(mktemp)
trap 'rm -f "$report"' EXIT INT TERM
status=0
npm run --silent "$tests" -- --reporter=default --reporter=json --outputFile.json="$report" || status=$?
node scripts/attacks.mjs "$report" || status=$?
node scripts/closing-line.mjs "$report"
exit "$status"
