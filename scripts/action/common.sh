# shellcheck shell=bash
# Shared by the steps of action.yml.

umask 077

# Ends the step with a message that has no text from elsewhere.
fail() {
  printf '::error::%s\n' "$1"
  exit 1
}

# Runs a command whose output may have text of a session: the runner must not take a line of it for a command.
# Both streams become one: two would not keep their order next to the lines that stop commands.
quietly() {
  local token status=0
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$token"
  "$@" 2>&1 || status=$?
  printf '\n::%s::\n' "$token"
  return "$status"
}

# A severity for --fail-on.
require_level() {
  case "$1" in
    note | suspect | blocked) ;;
    *) fail 'fail-on must be note, suspect or blocked' ;;
  esac
}

# An audit without its output: the report has the same. Messages stay.
audit_only() {
  "$RC" audit "$@" >/dev/null
}

# A report on the page of the run. The page takes 1 MiB.
summarise() {
  head -c 900000 "$1" >>"$GITHUB_STEP_SUMMARY"
}
