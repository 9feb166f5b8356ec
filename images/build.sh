#!/bin/sh
# build.sh SOURCES OUT: puts what each part of the image needs under OUT, a tree that is laid over the image's root.
# A part is a folder. build.sh in it (called as: sh build.sh OUT) builds it its own way; otherwise its C files become
# one static program /usr/lib/run-claude/<part>, and its JavaScript is copied to /usr/lib/run-claude/<part>/. The
# folder root/ of a part is copied as it is.
set -eu
sources=$1
out=$2
lib=$out/usr/lib/run-claude
mkdir -p "$lib"
for dir in "$sources"/*/; do
  part=$(basename "$dir")
  if [ -f "$dir/build.sh" ]; then
    (cd "$dir" && sh build.sh "$out")
  elif [ -n "$(find "$dir" -maxdepth 1 -name '*.c')" ]; then
    gcc -static -O2 -std=gnu11 -Wall -Wextra -Werror -o "$lib/$part" "$dir"/*.c
    strip "$lib/$part"
  elif [ -n "$(find "$dir" -maxdepth 1 -name '*.mjs' -o -maxdepth 1 -name '*.js')" ]; then
    cp -R "$dir" "$lib/$part"
  fi
  if [ -d "$dir/root" ]; then cp -R "$dir/root/." "$out/"; fi
done
chown -R 0:0 "$out"
chmod -R u=rwX,go=rX "$out"
# A program that its user may not read is not dumpable from its first instruction on, before it could ask for that itself.
# gVisor starts no program that its user may not read: it takes the copies.
mkdir "$lib/readable"
for program in init forwarder; do
  cp "$lib/$program" "$lib/readable/$program"
  chmod go-r "$lib/$program"
done
