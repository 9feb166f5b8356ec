#!/bin/busybox sh
# The first program of a guest: loads the modules that reach the disk, and hands over to systemd there.
/bin/busybox --install -s /bin
export PATH=/bin
mkdir -p /proc /sys /dev
mount -t proc p /proc
mount -t sysfs s /sys
mount -t devtmpfs d /dev
while read -r module; do insmod "/mods/$module"; done </mods/order
for _ in 1 2 3 4 5 6 7 8 9 10; do
  [ -b /dev/vda ] && break
  sleep 1
done
mount -t ext4 /dev/vda /mnt || exec sh
mount --move /dev /mnt/dev
umount /sys /proc
exec switch_root /mnt /sbin/init
