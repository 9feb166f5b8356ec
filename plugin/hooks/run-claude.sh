#!/bin/sh
# Starts the run-claude of this plugin's package, or an installed one: never one that an agent may have written.
# shellcheck disable=SC1091,SC2154
set -u
case $0 in /*) hooks=${0%/*} ;; *) hooks=$PWD/${0%/*} ;; esac
. "$hooks/find-outside.sh"
add_projects
if [ -f "$hooks/../../dist/main.js" ] && follow_outside "$hooks/../../dist"; then
  exec /bin/sh "$followed/main.js" "$@"
fi
if ! find_outside run-claude; then
  missing run-claude
  exit 127
fi
exec "$program" "$@"
