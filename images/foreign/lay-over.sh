#!/bin/sh
# lay-over.sh FINISH: runs once as root in a custom image, after run-claude's programs were copied into it. Prepares the
# image for an agent, or prints the reason why it cannot in a line "run-claude refuses: ..." (read by
# src/environment/image/foreign.ts).
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

# The loader names a library that it can't load, and starts the program without it.
for library in nodump git-guard rename-tree; do
  output=$(LD_PRELOAD=/usr/lib/run-claude/$library.so /bin/sh -c : 2>&1) || refuse "its glibc is too old for $library"
  if [ -n "$output" ]; then refuse "its glibc is too old for $library: $output"; fi
done
output=$(/opt/claude/package/claude --version 2>&1) || refuse "Claude Code does not start in it: $output"

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

if ! command -v git-lfs >/dev/null 2>&1; then
  # Contents and pointers pass as they are. An import of commits reports an LFS path with raw content.
  printf '\n[filter "lfs"]\n\tclean = cat\n\tsmudge = cat\n\tprocess =\n' >>/etc/gitconfig
fi

# finish.sh adds the users agent (1000) and companion (61000) with a group each. Accounts of the image that have such a
# name keep their ids, under another name.
rename() {
  if grep -q "^$2:" "/etc/$1"; then "$3" "$4" "image-$2" "$2" || refuse "its $2 in /etc/$1 could not be renamed"; fi
}
sed -n 's/^\([^:]*\):[^:]*:1000:.*/\1/p' /etc/passwd | while read -r user; do
  userdel -r "$user" 2>/dev/null || true
done
added=agent
if ! getent passwd 61000 >/dev/null; then added="agent companion"; fi
for name in $added; do
  rename passwd "$name" usermod -l
  rename group "$name" groupmod -n
done

output=$(sh "$finish" 2>&1) || refuse "its accounts and programs could not be prepared: $(echo "$output" | tail -n 1)"
