#!/bin/sh
# Runs once while the image is built: links programs into the PATH, adds the agent's user and the certificates, and
# removes programs that the agent must not have.
set -eu

ln -sf /opt/node/package/bin/node /usr/local/bin/node
ln -sf /opt/npm/package/bin/npm-cli.js /usr/local/bin/npm
ln -sf /opt/npm/package/bin/npx-cli.js /usr/local/bin/npx
ln -sf /opt/claude/package/claude /usr/local/bin/claude
if [ -e /usr/bin/fdfind ]; then ln -sf /usr/bin/fdfind /usr/local/bin/fd; fi
if command -v python3 >/dev/null && ! command -v python >/dev/null; then
  ln -s "$(command -v python3)" /usr/local/bin/python
fi
# This file keeps pip from changing packages of apt. It is not needed: the system is read-only, and pip uses the home.
rm -f /usr/lib/python3*/EXTERNALLY-MANAGED /usr/local/lib/python3*/EXTERNALLY-MANAGED
# Only where it is needed: a change of mode stores the whole file again in this layer of the image.
for program in /opt/node/package/bin/node /opt/claude/package/claude /opt/npm/package/bin/*.js; do
  if [ -e "$program" ] && [ ! -x "$program" ]; then chmod 0755 "$program"; fi
done

# An image of a registry may have a user 1000 of its own.
if existing=$(getent passwd 1000); then userdel -r "${existing%%:*}" 2>/dev/null || true; fi
groupadd -o -g 1000 agent
useradd -u 1000 -g 1000 -m -d /home/agent -s /bin/bash agent
mkdir -p /workspace /run/run-claude/gw
# A new volume starts as a copy of the directory that it is mounted over: owned by the gateway, not listable by others.
install -d -o 61000 -g 61000 -m 0711 /run/run-claude/gw/sockets
# The same for the data of a service.
install -d -o 61000 -g 61000 -m 0700 /run/run-claude/data
# What runs next to the agent has this user. Databases look up its name.
if ! getent passwd 61000 >/dev/null; then
  groupadd -o -g 61000 companion
  useradd -o -u 61000 -g 61000 -M -d /tmp -s /bin/sh companion
fi
chown 1000:1000 /workspace

# Any other uid of the agent has a name too, see images/names. The library is next to glibc, where it looks.
libc=$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
if [ -n "$libc" ]; then ln -sf /usr/lib/run-claude/libnss_agent.so.2 "$(dirname "$libc")/libnss_agent.so.2"; fi
for database in passwd group; do
  if ! grep -q "^$database:" /etc/nsswitch.conf 2>/dev/null; then
    echo "$database: files agent" >> /etc/nsswitch.conf
  elif ! grep -q "^$database:.* agent" /etc/nsswitch.conf; then
    sed -i "s/^$database:.*/& agent/" /etc/nsswitch.conf
  fi
done

update-ca-certificates

# None of these works in a container without capabilities. Without the program an attempt fails at once and visibly.
for program in nsenter unshare chroot mount umount su sg newgrp passwd gpasswd chsh chfn chage expiry \
  switch_root pivot_root losetup swapon swapoff fsfreeze setpriv mount.nfs fusermount fusermount3; do
  rm -f "/bin/$program" "/sbin/$program" "/usr/bin/$program" "/usr/sbin/$program"
done
# Files and directories (Debian has a few that are setgid).
find / -xdev -perm /6000 -exec chmod ug-s {} +
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /root/.npm
