#!/bin/sh
# build.sh OUT: compiles the libraries that every program loads first, and lists them in /etc/ld.so.preload.
set -eu
lib=$1/usr/lib/run-claude
mkdir -p "$lib" "$1/etc"
: > "$1/etc/ld.so.preload"
for library in nodump git-guard rename-tree; do
  gcc -shared -fPIC -O2 -std=gnu11 -Wall -Wextra -Werror -o "$lib/$library.so" "$library.c"
  strip --strip-unneeded "$lib/$library.so"
  echo "/usr/lib/run-claude/$library.so" >> "$1/etc/ld.so.preload"
done
