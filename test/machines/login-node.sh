#!/bin/sh
# The login node of a cluster: the tree of a guest on this machine's own kernel, in namespaces that end with it.
#   login-node.sh DISK DIR SHARED SUPPLIES SCRIPT
# DISK is the guest's file system, DIR an empty directory, SHARED a directory of this machine that the cluster shares,
# SUPPLIES a directory with files for the tree. SCRIPT runs inside as root; then it prints `ready` and waits. The network
# namespace is the caller's. DISK is not written; images are those of this machine's Docker.
set -eu
if [ "${6:-}" != inside ]; then
  exec unshare --mount --pid --fork --kill-child --ipc --uts "$0" "$1" "$2" "$3" "$4" "$5" inside
fi
disk=$1 dir=$2 shared=$3 supplies=$4 script=$5
mount --make-rprivate /
mount -t tmpfs tmpfs "$dir"
mkdir "$dir/lower" "$dir/root" "$dir/upper"
mount -o loop,ro "$disk" "$dir/lower"
mount -t tmpfs tmpfs "$dir/upper"
mkdir "$dir/upper/u" "$dir/upper/w"
mount -t overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper/u,workdir=$dir/upper/w" guest "$dir/root"
root=$dir/root
mkdir -p "$root/shared" "$root/mnt/supplies"
mount --bind "$shared" "$root/shared"
mount --bind "$supplies" "$root/mnt/supplies"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
: >"$root/run/docker.sock"
mount --bind /var/run/docker.sock "$root/run/docker.sock"
hostname login
cd "$root"
mkdir -p mnt/host
pivot_root . mnt/host
umount -l /mnt/host
exec 2>&1 </dev/null
bash -euc "$script"
echo ready
while :; do
  sleep 1000 &
  wait $!
done
