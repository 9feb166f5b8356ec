#!/bin/sh
# build.sh OUT: compiles the two guards and names them in /etc/ld.so.preload.
set -eu
lib=$1/usr/lib/run-claude
mkdir -p "$lib" "$1/etc"
for guard in nodump git-guard; do
  gcc -shared -fPIC -O2 -std=gnu11 -Wall -Wextra -Werror -o "$lib/$guard.so" "$guard.c"
  strip --strip-unneeded "$lib/$guard.so"
done
printf '%s\n' /usr/lib/run-claude/nodump.so /usr/lib/run-claude/git-guard.so > "$1/etc/ld.so.preload"
