#!/bin/sh
# Tools that the checks and tests need besides Node: a C compiler, jansson, shellcheck, git, gh, tmux, busybox, debootstrap. Installs what is
# missing on Debian and Ubuntu as root; elsewhere it lists them. With `long`: also the tools of the long suites.
set -eu

# Most tools below belong to suites that need a Linux kernel. A Mac runs the checks and the unit tests.
if [ "$(uname -s)" = Darwin ]; then
  missing=
  for tool in shellcheck git tmux; do
    command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
  done
  if [ -z "$missing" ]; then exit 0; fi
  printf '[setup] The tests also need: brew install%s\n' "$missing" >&2
  exit 1
fi

missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need gcc gcc
need shellcheck shellcheck
need git git
need git-lfs git-lfs
need gh gh
need tmux tmux
need rsync rsync
need script bsdutils
need kubectl kubernetes-client
need python3 python3
need debootstrap debootstrap
need setfacl acl
need setfattr attr
need ip iproute2
need nsenter util-linux
# Two unit tests have their own kernel, for a file system that knows no letter case.
need linux.uml user-mode-linux
need modprobe kmod
need mkfs.jfs jfsutils
need busybox busybox-static
need ssh-keygen openssh-client
[ -x /usr/sbin/sshd ] || missing="$missing openssh-server"
[ -e /usr/include/jansson.h ] || missing="$missing libjansson-dev"
echo 'int main(void) { return 0; }' | gcc -static -x c -o /dev/null - 2>/dev/null || missing="$missing libc6-dev"
if [ "${1:-}" = long ]; then
  need podman podman
  need crun crun
  need docker-registry docker-registry
  need containerd containerd
  need iptables iptables
  [ -x /usr/lib/cni/bridge ] || missing="$missing containernetworking-plugins"
  need openssl openssl
  need zsh zsh
  need fish fish
  need runsc runsc
  need slurmctld slurm-wlm
  need munged munge
  need rootlesskit rootlesskit
  need newuidmap uidmap
  need exportfs nfs-kernel-server
  need mount.nfs4 nfs-common
  need setquota quota
  need mkfs.vfat dosfstools
  need mkfs.xfs xfsprogs
  need mkfs.btrfs btrfs-progs
  [ -x /usr/lib/podman/netavark ] || missing="$missing netavark"
fi
if [ -z "$missing" ]; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  printf '[setup] Installing for the tests:%s\n' "$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086
  apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
  printf '[setup] The tests also need:%s\n' "$missing" >&2
  exit 1
fi
