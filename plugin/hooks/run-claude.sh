#!/bin/sh
# Starts the run-claude of this plugin's package, or an installed one: never one that an agent may have written.
set -u
here=${0%/*}
# shellcheck disable=SC1091,SC2154
. "$here/find-outside.sh"
add_projects
main=$here/../../dist/main.js
if [ -f "$main" ] && is_outside "$main"; then exec /bin/sh "$main" "$@"; fi
if ! find_outside run-claude; then
  missing run-claude
  exit 127
fi
# shellcheck disable=SC2154
exec "$program" "$@"
