// What runs on the node besides containers: two scripts of POSIX shell, the same for every session and without secrets.
// The scheduler keeps the first one in its spool, where others may read it.
//
// A session has a directory below the shared one:
//   kept/PLACE        a volume that is saved at the job's end     saved.tar   the volumes that the last job saved
//   run-N/            one for each job: started, ready, failed, alive, end, ending, saved, bundles/NAME, node.sh
// and its job has a directory of the node: volumes/PLACE, state (of the runtime), runtime (its name), ending,
// bundles/NAME (of the containers that run).

/** Names of files that both sides know. */
export const RUN_FILES = {
  ready: 'ready',
  failed: 'failed',
  alive: 'alive',
  end: 'end',
  ending: 'ending',
  saved: 'saved',
  job: 'job.sh',
  node: 'node.sh',
  bundles: 'bundles',
} as const;

/** The bundles that the job's own script runs. */
export const SAVE_BUNDLE = 'save';
export const RESTORE_BUNDLE = 'restore';

/** In the job's error output, the exit status of the program comes after it. */
export const EXIT_MARK = '\u001erun-claude-exit ';

/**
 * crun sets a container's limit of processes before it makes the user namespace, where every process of the user on the
 * node counts (seen with 1.8 and 1.21). In its own user namespace, with the same user, it counts the container's alone.
 */
const COMMON = `PATH=\${PATH:-/usr/bin:/bin}:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin
call() {
  case $runtime:$1 in
  crun:run) unshare --user --map-current-user -- "$runtime" --cgroup-manager=disabled --root "$work/state" "$@" ;;
  crun:*) "$runtime" --cgroup-manager=disabled --root "$work/state" "$@" ;;
  *) "$runtime" --root "$work/state" "$@" ;;
  esac
}
`;

/**
 * The job: makes the node's directory, unpacks what an earlier job saved, and waits. It ends when it is asked to, when it
 * gets SIGTERM, or when the command that started it has not changed \`alive\` for a while. Then it says why in \`ending\`,
 * ends every container and saves the volumes that are to be kept: the whole archive, or none of it. Arguments: the session's directory, the run's,
 * the node's, and how many seconds \`alive\` may stay the same.
 */
export const JOB_SCRIPT = `#!/bin/sh
set -u
umask 077
session=$1 run=$2 work=$3 patience=$4
${COMMON}
put() { printf '%s\\n' "$2" >"$run/$1.part" && mv "$run/$1.part" "$run/$1"; }
fail() { put failed "$1"; exit 1; }
# A job that the scheduler starts again would run on what the first one left.
mkdir "$run/started" 2>/dev/null || fail 'it was requeued, and a job does not run twice'
[ "$(id -u)" != 0 ] || fail 'the job runs as root: run-claude needs the job of an ordinary user'
runtime=
for one in runc crun; do
  if command -v "$one" >/dev/null; then runtime=$one; break; fi
done
[ -n "$runtime" ] || fail 'the node has neither runc nor crun'
mkdir "$work" 2>/dev/null || fail "the directory $work cannot be made on the node"
remove() { chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"; }
trap remove EXIT
over=
trap 'over=1' TERM INT HUP
mkdir "$work/volumes" "$work/state"
printf %s "$runtime" >"$work/runtime"

# The least of a limit in the control groups above this process: the job's own is among them.
least() {
  path=$1 found=
  while :; do
    value=$(cat "$2$path/$3" 2>/dev/null || true)
    case $value in
    '' | *[!0-9]*) ;;
    *) if [ -z "$found" ] || [ "$value" -lt "$found" ]; then found=$value; fi ;;
    esac
    case $path in '' | /) break ;; esac
    path=\${path%/*}
  done
  printf %s "\${found:-none}"
}
unified=$(sed -n 's/^0:://p' /proc/self/cgroup)
memory=$(least "$unified" /sys/fs/cgroup memory.max)
swap=$(least "$unified" /sys/fs/cgroup memory.swap.max)

if [ -e "$session/saved.tar" ]; then
  call run --bundle "$run/bundles/restore" "restore-$$" <"$session/saved.tar" || fail 'what the last job saved cannot be unpacked'
fi
put ready "$(hostname) $runtime $memory $swap"

last= same=0 why=
while [ -z "$over" ] && [ ! -e "$run/end" ]; do
  sleep 1 &
  wait $!
  now=$(cat "$run/alive" 2>/dev/null || true)
  if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0 last=$now; fi
  if [ "$same" -ge "$patience" ]; then why=alone; break; fi
done
if [ -e "$run/end" ]; then why=asked; elif [ -z "$why" ]; then why=signal; fi
# The scheduler repeats its signal while this saves.
trap '' TERM INT HUP
# From here on no container ends by itself: its status is not the program's.
: >"$work/ending"
put ending "$why"
for one in $(call list -q); do call delete --force "$one"; done
if [ -n "$(ls "$session/kept" 2>/dev/null)" ]; then
  if call run --bundle "$run/bundles/save" "save-$$" </dev/null >"$session/saved.part"; then
    sync "$session/saved.part" && mv "$session/saved.part" "$session/saved.tar" && put saved "$(hostname)"
  else
    put failed 'what the agent wrote could not be saved'
  fi
else
  rm -f "$session/saved.tar"
  put saved "$(hostname)"
fi
put over "$(hostname)"
`;

/**
 * Next to the job, for one container: \`run\` makes its volumes and runs its bundle with the streams of this script, then
 * tells its status; \`kill\` sends a signal. The bundle comes over the input, and is on the node's own disk while the
 * container runs: arguments and variables of the agent are never in the shared directory. Arguments: the action, the
 * node's directory, the name of the container, the signal.
 */
export const NODE_SCRIPT = `#!/bin/sh
set -u
umask 022
action=$1 work=$2 name=$3 signal=\${4:-}
bundle=$work/bundles/$name
${COMMON}
runtime=$(cat "$work/runtime")
case $action in
kill) call kill "$name" "$signal" ;;
run)
  # The input begins with config.json in one line, then the volumes, then an empty line. \`read\` takes no byte of what follows.
  IFS= read -r config || exit 1
  (umask 077 && mkdir -p "$bundle" && printf '%s\\n' "$config" >"$bundle/config.json") || exit 1
  config=
  # A volume is made when a container first mounts it, with what the image has at that place.
  while read -r place fill && [ -n "$place" ]; do
    [ ! -e "$work/volumes/$place" ] || continue
    if [ "$fill" = - ]; then mkdir "$work/volumes/$place.$$"; else cp -a "$fill" "$work/volumes/$place.$$"; fi
    mv -T "$work/volumes/$place.$$" "$work/volumes/$place" 2>/dev/null || rm -rf "$work/volumes/$place.$$"
  done
  # The scheduler's streams are terminals: the container gets pipes.
  {
    {
      call run --bundle "$bundle" "$name"
      status=$?
      [ -e "$work/ending" ] || printf '\\036run-claude-exit %s\\n' $status >&2
    } 2>&1 >&4 4>&- | cat >&2
  } 4>&1 | cat
  rm -rf "$bundle"
  ;;
esac
`;

/** In the container that saves, with the volumes at /mnt: those that /media names, with what an overlay stores about its directories. */
export const SAVE_PROGRAM = `cd /mnt && set -- && for one in /media/*; do
  one=\${one##*/}
  if [ -d "$one" ]; then set -- "$@" "$one"; fi
done
[ $# -gt 0 ] || set -- --files-from=/dev/null
exec tar -c --numeric-owner --xattrs --xattrs-include='user.*' --sparse -f - "$@"`;

/** In the container that restores, with the volumes at /mnt. */
export const RESTORE_PROGRAM = `cd /mnt && exec tar -x -p --numeric-owner --same-owner --xattrs --xattrs-include='user.*' --delay-directory-restore -f -`;
