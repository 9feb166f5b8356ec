#!/usr/bin/env bash
# Step of action.yml: audits the commits of a pull request. Its files are never checked out, and its own policy never
# counts: .run-claude.toml and .run-claudeignore are those of the base.
set -euo pipefail
# shellcheck disable=SC1091
. "$(dirname "$0")/common.sh"

# A suspect change needs a review: with `blocked` as the level, the check would be green for a new hook of an agent.
fail_on=${RC_FAIL_ON:-suspect}
require_level "$fail_on"
[ -n "$RC_BASE" ] || fail 'there is no base to compare with: set the input base'

repository() {
  git -C "$GITHUB_WORKSPACE" -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"
}
commit() {
  repository rev-parse --verify --quiet --end-of-options "$1^{commit}"
}

wanted=${RC_HEAD:-HEAD}
if ! commit "$wanted" >/dev/null && [[ $RC_PULL =~ ^[0-9]+$ ]]; then
  repository fetch --quiet --no-tags --no-recurse-submodules origin "refs/pull/$RC_PULL/head"
fi
base=$(commit "$RC_BASE") || fail 'the base is not a commit of this repository (use fetch-depth: 0)'
head=$(commit "$wanted") || fail 'the head is not a commit of this repository'

# A work tree with nothing in it but the policy of the base.
policy=$(mktemp -d "$RUNNER_TEMP/run-claude-policy.XXXXXX")
printf 'gitdir: %s\n' "$(repository rev-parse --absolute-git-dir)" >"$policy/.git"
for name in .run-claude.toml .run-claudeignore; do
  if repository cat-file -e "$base:$name" 2>/dev/null; then
    repository cat-file blob "$base:$name" >"$policy/$name"
  fi
done

sarif=$RUNNER_TEMP/run-claude.sarif
page=$RUNNER_TEMP/run-claude-audit.md
# Findings decide below: a severity that the base's policy names does not.
quietly "$RC" audit "$policy" --base "$base..$head" --report "$sarif" || case $? in 121 | 123) ;; *) exit 125 ;; esac
printf 'sarif=%s\n' "$sarif" >>"$GITHUB_OUTPUT"
status=0
case ${RC_POST:-false} in
  false) quietly audit_only "$policy" --base "$base..$head" --report "$page" --fail-on "$fail_on" || status=$? ;;
  true)
    [[ $RC_PULL =~ ^[0-9]+$ ]] || fail 'post needs a pull request'
    pull=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/pull/$RC_PULL
    # Without a level that was asked for, what needs a person is a neutral check.
    level=()
    [ -z "${RC_FAIL_ON:-}" ] || level=(--fail-on "$fail_on")
    GH_TOKEN=$RC_TOKEN quietly audit_only "$policy" --pr "$pull" --post --report "$page" "${level[@]}" || status=$?
    ;;
  *) fail 'post must be true or false' ;;
esac
[ ! -f "$page" ] || summarise "$page"
[ "$status" -ne 121 ] || fail 'the audit has findings of this severity: see the summary'
# What needs a person: below the level that was asked for. It is on both pages.
if [ "$status" -eq 123 ]; then
  [ "${RC_POST:-false}" = false ] || fail 'these changes need a review, and no check shows it: see the summary'
  status=0
fi
exit "$status"
