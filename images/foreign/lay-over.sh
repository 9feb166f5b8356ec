#!/bin/sh
# lay-over.sh FINISH: runs once as root in an image that is not ours, after our programs were copied into it. Makes it
# one that an agent may run in, or says why not in a line "run-claude refuses: ..." (src/image/foreign.ts reads it).
set -eu
finish=$1

refuse() {
  echo "run-claude refuses: $*"
  exit 1
}

loader=
for file in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
  if [ -e "$file" ]; then loader=$file; fi
done
if [ -z "$loader" ]; then
  for file in /lib/ld-musl-*; do
    if [ -e "$file" ]; then refuse "its C library is musl, whose loader reads no /etc/ld.so.preload: the guards can't hold"; fi
  done
  refuse "it has no glibc, which the guards and Claude Code need"
fi

# What can't be loaded, the loader names; the program runs on without it.
for library in nodump git-guard rename-tree; do
  said=$(LD_PRELOAD=/usr/lib/run-claude/$library.so /bin/sh -c : 2>&1) || refuse "its glibc is too old for $library"
  if [ -n "$said" ]; then refuse "its glibc is too old for $library: $said"; fi
done
said=$(/opt/claude/package/claude --version 2>&1) || refuse "Claude Code does not start in it: $said"

missing=
for program in bash git useradd update-ca-certificates find; do
  if ! command -v "$program" >/dev/null 2>&1; then missing="$missing $program"; fi
done
if [ -n "$missing" ]; then
  command -v apt-get >/dev/null 2>&1 || refuse "it lacks$missing, and has no apt-get to install them with"
  if ! apt-get update || ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    bash git passwd ca-certificates findutils; then
    refuse "it lacks$missing, and apt-get could not install them"
  fi
fi

sh "$finish"
