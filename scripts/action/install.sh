#!/usr/bin/env bash
# Step of action.yml: finds or builds run-claude. Nothing of the workspace is read: its .npmrc may be a pull request's.
set -euo pipefail
# shellcheck disable=SC1091
. "$(dirname "$0")/common.sh"

case "$RC_MODE" in
  audit | run | propose) ;;
  *) fail 'mode must be audit, run or propose' ;;
esac

command=$RC_COMMAND
if [ -z "$command" ]; then
  cd "$GITHUB_ACTION_PATH"
  if [ ! -f dist/main.js ]; then
    npm ci --ignore-scripts
    npm run build
  fi
  command=$RUNNER_TEMP/run-claude
  printf '#!/bin/sh\nexec node -- "%s/dist/main.js" "$@"\n' "$GITHUB_ACTION_PATH" >"$command"
  chmod 700 "$command"
fi
[ -x "$command" ] || fail 'command is not a program'
printf 'command=%s\n' "$command" >>"$GITHUB_OUTPUT"
