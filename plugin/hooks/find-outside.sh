# shellcheck shell=sh disable=SC2034
# Finds a program outside of every folder that an agent may have written. The build puts this file into the first lines of
# dist/main.js, which sh reads before Node starts, and the plugin's hooks source it: so it has no slash after an asterisk.
# Built-in commands alone, and readlink by its path: a program of PATH may be planted.

unset CDPATH NODE_PATH NODE_COMPILE_CACHE NODE_REPL_EXTERNAL_MODULE

LINE_END='
'
AGENT_FOLDERS=

real_folder() {
  case $1 in
    /*) cd -P -- "$1" 2>/dev/null && pwd -P ;;
    *) cd -P -- "./$1" 2>/dev/null && pwd -P ;;
  esac
}

holds_home() {
  case $HOME_FOLDER/ in "${1%/}"/*) return 0 ;; esac
  return 1
}

# The project that a session started in a folder may get: the top of the repository, otherwise the folder.
add_project() {
  folder=$(real_folder "$1") || return 0
  [ -n "$folder" ] || return 0
  if holds_home "$folder"; then return 0; fi
  at=$folder
  while [ -n "$at" ]; do
    if [ -e "$at/.git" ]; then
      holds_home "$at" || folder=$at
      break
    fi
    at=${at%/*}
  done
  AGENT_FOLDERS=$AGENT_FOLDERS$folder$LINE_END
}

# Words may name the project of this command, or a folder of --also.
add_projects() {
  HOME_FOLDER=$(real_folder "${HOME:-/}") || HOME_FOLDER=/
  add_project .
  if [ -n "${CLAUDE_PROJECT_DIR-}" ]; then add_project "$CLAUDE_PROJECT_DIR"; fi
  for word; do
    case $word in
      --) break ;;
      --also=?*) word=${word#--also=} ;;
      -*) continue ;;
    esac
    word=${word%:ro}
    if [ -d "$word" ]; then add_project "$word"; fi
  done
  state=${XDG_STATE_HOME:-${HOME-}/.local/state}/run-claude/agent-folders
  if [ -r "$state" ]; then
    while IFS= read -r folder || [ -n "$folder" ]; do
      AGENT_FOLDERS=$AGENT_FOLDERS$folder$LINE_END
    done <"$state"
  fi
}

# Whether a path without links is in one of the folders.
is_agents() {
  folders=$AGENT_FOLDERS
  while [ -n "$folders" ]; do
    folder=${folders%%"$LINE_END"*}
    folders=${folders#*"$LINE_END"}
    case $1/ in "$folder"/*) return 0 ;; esac
  done
  return 1
}

# Whether a file is outside, the end of its links too.
is_outside() {
  where=$(real_folder "${1%/*}/") || return 1
  if is_agents "$where"; then return 1; fi
  if [ ! -h "$1" ]; then return 0; fi
  for readlink in /usr/bin/readlink /bin/readlink; do
    if [ -x "$readlink" ]; then
      end=$("$readlink" -f -- "$1") || return 1
      if is_agents "$end"; then return 1; fi
      return 0
    fi
  done
  return 0
}

# Sets `program` to the first file of this name in PATH that is outside, and `refused` to one that is not.
find_outside() {
  program='' refused='' rest=${PATH-}:
  while [ -n "$rest" ]; do
    dir=${rest%%:*}
    rest=${rest#*:}
    case $dir in /*) ;; *) continue ;; esac
    file=${dir%/}/$1
    if [ ! -f "$file" ] || [ ! -x "$file" ]; then continue; fi
    if is_outside "$file"; then
      program=$(real_folder "$dir")/$1
      return 0
    fi
    refused=$file
  done
  return 1
}

# Node loads what these name before it reads a program.
clean_node_environment() {
  options=
  for word in ${NODE_OPTIONS-}; do
    case $word in --use-*-ca | --max-*=[0-9]* | --no-* | --dns-result-order=* | --tls-*=*) options="$options $word" ;; esac
  done
  if [ -n "${NODE_OPTIONS-}" ]; then export NODE_OPTIONS="${options# }"; fi
  for name in NODE_EXTRA_CA_CERTS OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES NODE_ICU_DATA; do
    eval "file=\${$name-}"
    if where=$(real_folder "${file%/*}/") && is_agents "$where"; then unset "$name"; fi
  done
}

missing() {
  if [ -n "$refused" ]; then
    printf '[sandbox] ERROR: %s is not used, because an agent can write there. Install %s outside of the project.\n' "$refused" "$1" >&2
  else
    printf '[sandbox] ERROR: %s is not in PATH. Install it, then try again.\n' "$1" >&2
  fi
}
