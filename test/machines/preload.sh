#!/bin/sh
# Loads the sessions' image with the engine of a guest, on the processor of the host: under emulation it takes half an hour.
#   preload.sh DISK SUPPLIES DATA DIR PRELOAD
# DISK is the guest's file system, SUPPLIES the disk with image.tar, DATA an image with a file system for the engine's
# data, DIR an empty directory. PRELOAD is a shell script that runs on the guest's tree. Everything is mounted and started
# in namespaces of its own, which end with it; DISK is not written.
set -eu
if [ "${6:-}" != inside ]; then
  exec unshare --mount --pid --fork --kill-child --net --ipc --uts "$0" "$1" "$2" "$3" "$4" "$5" inside
fi
disk=$1 supplies=$2 data=$3 dir=$4 preload=$5
mount --make-rprivate /
mount -t tmpfs tmpfs "$dir"
mkdir "$dir/lower" "$dir/root" "$dir/upper"
mount -o loop,ro "$disk" "$dir/lower"
mount -t tmpfs tmpfs "$dir/upper"
mkdir "$dir/upper/u" "$dir/upper/w"
mount -t overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper/u,workdir=$dir/upper/w" guest "$dir/root"
root=$dir/root
mkdir -p "$root/mnt/supplies" "$root/mnt/data"
mount -o loop,ro "$supplies" "$root/mnt/supplies"
mount -o loop "$data" "$root/mnt/data"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
ip link set lo up
cd "$root"
mkdir -p mnt/host
pivot_root . mnt/host
umount -l /mnt/host
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
unset XDG_CACHE_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR TMPDIR DOCKER_HOST
status=0
bash -euc "$preload" || status=$?
cd /
sync
umount /mnt/data 2>/dev/null || umount -l /mnt/data
exit "$status"
