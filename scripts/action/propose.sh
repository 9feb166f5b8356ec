#!/usr/bin/env bash
# Step of action.yml: imports a session that another job exported, audits it anew, and opens a pull request with what is
# clean. The file is as hostile as the agent that made it. No agent, container or key of a model is in this job.
set -euo pipefail
# shellcheck disable=SC1091
. "$(dirname "$0")/common.sh"

# Suspect changes are left out of the pull request, and named on the page of the run.
fail_on=${RC_FAIL_ON:-blocked}
require_level "$fail_on"
file=$RUNNER_TEMP/run-claude-session/session.tar
if [ ! -f "$file" ] || [ -L "$file" ]; then fail 'the artifact has no session.tar'; fi
state=$(mktemp -d "$RUNNER_TEMP/run-claude-state.XXXXXX")
export XDG_STATE_HOME=$state
cd "$GITHUB_WORKSPACE"

id=$("$RC" import "$file" "$GITHUB_WORKSPACE" --commit "$GITHUB_SHA" 2>"$state/messages") || {
  quietly cat "$state/messages"
  fail 'the session was not imported'
}
quietly cat "$state/messages"
status=0
quietly audit_only "$id" "--report=$state/audit.md" "--fail-on=$fail_on" || status=$?
[ ! -f "$state/audit.md" ] || summarise "$state/audit.md"
[ "$status" -ne 121 ] || fail 'the audit has findings of this severity: see the summary'
# 123: what needs a person is left out of the pull request.
case "$status" in 0 | 123) status=0 ;; *) exit "$status" ;; esac

if [ -z "$(git config user.email || true)" ]; then
  export GIT_AUTHOR_NAME='github-actions[bot]' GIT_COMMITTER_NAME='github-actions[bot]'
  export GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
  export GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
fi
options=("--branch=$RC_BRANCH" --push=origin --pr)
[ -z "$RC_PR_BASE" ] || options[2]="--pr=$RC_PR_BASE"
[ -z "$RC_TITLE" ] || options+=("--title=$RC_TITLE")
quietly "$RC" apply "$id" --yes "${options[@]}" || status=$?
case "$status" in
  121) printf '::warning::%s\n' 'suspect or blocked changes are not in the pull request: see the summary' ;;
  122) printf '::warning::%s\n' 'changes that do not merge are not in the pull request: see the summary' ;;
  *) exit "$status" ;;
esac
