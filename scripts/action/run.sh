#!/usr/bin/env bash
# Step of action.yml: lets Claude work on a copy of the workspace, and exports what it changed. Nothing is applied here.
set -euo pipefail
# shellcheck disable=SC1091
. "$(dirname "$0")/common.sh"

case "$RC_PROMPT" in
  '') fail 'run needs the input prompt' ;;
  -*) fail 'the prompt must not begin with a dash' ;;
esac
# Its own state: the session of this step is the only one.
state=$(mktemp -d "$RUNNER_TEMP/run-claude-state.XXXXXX")
export XDG_STATE_HOME=$state
file=$state/session.tar

status=0
quietly "$RC" --copy-workspace --yes "--timeout=$RC_TIMEOUT" "--max-cost=$RC_MAX_COST" \
  "--report=$state/report.md" "$GITHUB_WORKSPACE" -p "$RC_PROMPT" || status=$?
[ ! -f "$state/report.md" ] || summarise "$state/report.md"
# 120: its changes wait. 121: something of them is held back. 124: a limit ended it, and what it did until then is kept.
case "$status" in
  0 | 120 | 121 | 124) ;;
  *) exit "$status" ;;
esac

quietly "$RC" export "$file"
has_changes=false
if "$RC" sessions "$GITHUB_WORKSPACE" --json | node -e '
  const [session] = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  process.exit(session === undefined || session.files === undefined || session.files.total === 0 ? 1 : 0);
'; then has_changes=true; fi
printf 'file=%s\nhas-changes=%s\n' "$file" "$has_changes" >>"$GITHUB_OUTPUT"
