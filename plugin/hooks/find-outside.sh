# shellcheck shell=sh disable=SC2034
# Finds a program outside of every folder that an agent may have written. The build puts this file into the first lines of
# dist/main.js, which sh reads before Node starts, and the plugin's hooks source it: so it has no slash after an asterisk.
# Built-in commands alone, and readlink and id by their paths: a program of PATH may be planted.

unset CDPATH NODE_PATH NODE_COMPILE_CACHE NODE_REPL_EXTERNAL_MODULE
set -f

LINE_END='
'
AGENT_FOLDERS=
MAX_LINKS=40

# Sets `real` to the real path of a folder, line breaks at its end included.
real_folder() {
  case $1 in
    /*) real=$(cd -P -- "$1" 2>/dev/null && pwd -P && printf .) || return 1 ;;
    *) real=$(cd -P -- "./$1" 2>/dev/null && pwd -P && printf .) || return 1 ;;
  esac
  real=${real%"$LINE_END".}
}

# Sets `target` to where a link leads.
read_link() {
  for readlink in /usr/bin/readlink /bin/readlink; do
    if [ -x "$readlink" ]; then
      target=$("$readlink" -- "$1" && printf .) || return 1
      target=${target%"$LINE_END".}
      return 0
    fi
  done
  return 1
}

# Whether a folder without links is one of the folders, under any name.
is_agents() {
  folders=$AGENT_FOLDERS
  while [ -n "$folders" ]; do
    folder=${folders%%"$LINE_END"*}
    folders=${folders#*"$LINE_END"}
    # shellcheck disable=SC3013
    if [ "$1" = "$folder" ] || [ "$1" -ef "$folder" ]; then return 0; fi
  done
  return 1
}

# Follows an absolute path as the kernel does, and sets `followed` to it without links. Fails where a folder or link on
# the way is in one of the folders: an agent could exchange it.
follow_outside() {
  followed=''
  links=0
  way=${1#/}/
  while [ -n "$way" ]; do
    name=${way%%/*}
    way=${way#*"/"}
    case $name in
      '' | .) continue ;;
      ..)
        followed=${followed%/*}
        continue
        ;;
    esac
    if [ -h "$followed/$name" ]; then
      links=$((links + 1))
      if [ "$links" -gt "$MAX_LINKS" ] || ! read_link "$followed/$name"; then return 1; fi
      case $target in
        /*)
          followed=''
          way=${target#/}/$way
          ;;
        *) way=$target/$way ;;
      esac
      continue
    fi
    followed=$followed/$name
    if is_agents "$followed"; then return 1; fi
  done
}

holds_home() {
  case $HOME_FOLDER/ in "${1%/}"/*) return 0 ;; esac
  return 1
}

# A name with a line break cannot be a line of the list: the folder above counts.
add_folder() {
  case $1 in
    *"$LINE_END"*)
      above=${1%%"$LINE_END"*}
      AGENT_FOLDERS=$AGENT_FOLDERS${above%/*}$LINE_END
      ;;
    *) AGENT_FOLDERS=$AGENT_FOLDERS$1$LINE_END ;;
  esac
}

# The project that a session started in a folder may get: the top of the repository, otherwise the folder.
add_project() {
  real_folder "$1" || return 0
  project=$real
  if [ -z "$project" ] || holds_home "$project"; then return 0; fi
  at=$project
  while [ -n "$at" ]; do
    if [ -e "$at/.git" ]; then
      holds_home "$at" || project=$at
      break
    fi
    at=${at%/*}
  done
  add_folder "$project"
}

# The home directory as Node knows it.
find_home() {
  case ${HOME-} in
    /*) home=$HOME ;;
    *)
      home=/
      if [ -x /usr/bin/id ] && user=$(/usr/bin/id -un); then
        case $user in *[!a-zA-Z0-9._-]* | '') ;; *) eval "home=~$user" ;; esac
      fi
      ;;
  esac
  real_folder "$home" && HOME_FOLDER=$real || HOME_FOLDER=/
}

# A relative value does not count, as the specification of these variables says.
own_folder() {
  case $1 in
    /*) own=$1/run-claude ;;
    *) own=$home/$2/run-claude ;;
  esac
}

# The current project, those that words name, run-claude's own directories, which hold homes of agents, and the folders of
# earlier sessions in bind mode. A word that leads through the project is not a name that the user chose.
add_projects() {
  find_home
  add_project .
  if [ -n "${CLAUDE_PROJECT_DIR-}" ]; then add_project "$CLAUDE_PROJECT_DIR"; fi
  real_folder . || real=/
  here=$real
  for word; do
    case $word in
      --) break ;;
      --also=?*) word=${word#--also=} ;;
      -*) continue ;;
    esac
    word=${word%:ro}
    if [ ! -d "$word" ]; then continue; fi
    case $word in /*) ;; *) word=${here%/}/$word ;; esac
    follow_outside "$word" || continue
    # The value of another option may be a folder of the system.
    case $followed/ in /usr/* | /bin/* | /sbin/* | /lib/* | /lib64/* | /etc/* | /opt/*) continue ;; esac
    add_project "$followed/"
  done
  own_folder "${XDG_CACHE_HOME-}" .cache
  add_folder "$own"
  own_folder "${XDG_DATA_HOME-}" .local/share
  add_folder "$own"
  own_folder "${XDG_STATE_HOME-}" .local/state
  add_folder "$own"
  if [ -r "$own/agent-folders" ]; then
    while IFS= read -r folder || [ -n "$folder" ]; do
      case $folder in /*) add_folder "$folder" ;; esac
    done <"$own/agent-folders"
  fi
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
    # The name of the link stays: some programs choose what they are by it.
    if follow_outside "$file" && follow_outside "$dir"; then
      program=$followed/$1
      return 0
    fi
    refused=$file
  done
  return 1
}

# Whether every path of a list is absolute and outside.
is_outside_list() {
  list=$1:
  while [ -n "$list" ]; do
    element=${list%%:*}
    list=${list#*:}
    case $element in /*) follow_outside "$element" || return 1 ;; *) return 1 ;; esac
  done
}

# Node loads what these name before it reads a program.
clean_node_environment() {
  options=
  for word in ${NODE_OPTIONS-}; do
    case $word in --use-*-ca | --max-*=[0-9]* | --no-* | --dns-result-order=* | --tls-*=*) options="$options $word" ;; esac
  done
  if [ -n "${NODE_OPTIONS-}" ]; then export NODE_OPTIONS="${options# }"; fi
  for variable in NODE_EXTRA_CA_CERTS OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES NODE_ICU_DATA \
    LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT DYLD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH; do
    eval "value=\${$variable-}"
    # shellcheck disable=SC2154
    if [ -n "$value" ] && ! is_outside_list "$value"; then unset "$variable"; fi
  done
}

missing() {
  if [ -n "$refused" ]; then
    printf '[sandbox] ERROR: %s is not used, because an agent can write there. Install %s outside of the project.\n' "$refused" "$1" >&2
  else
    printf '[sandbox] ERROR: %s is not in PATH. Install it, then try again.\n' "$1" >&2
  fi
}
