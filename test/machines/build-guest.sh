#!/bin/sh
# Builds one guest of the lab from Debian packages, as root on Debian:
#   build-guest.sh DIR ARCH SUITE KERNEL SETUP PACKAGE…
# Leaves DIR/root (the tree of the root file system), DIR/vmlinuz and DIR/initramfs.gz. KERNEL is a package, or `uml` for
# User Mode Linux, which is a program of the host. SETUP is a shell script that runs inside the tree. ARCH is Debian's
# name; a tree of another architecture needs a binfmt entry for it, registered before.
set -eu
dir=$1 arch=$2 suite=$3 kernel=$4 setup=$5
shift 5
here=$(cd "$(dirname "$0")" && pwd)
root=$dir/root
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
mirror=${mirror:-http://deb.debian.org/debian}

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

if [ ! -e "$dir/bootstrapped" ]; then
  rm -rf "$root"
  debootstrap --arch="$arch" --variant=minbase "$suite" "$root" "$mirror" >"$dir/debootstrap.log" 2>&1
  : >"$dir/bootstrapped"
fi

# No service starts in the tree while packages are installed.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# A mirror may be a copy that is some weeks old.
printf 'Acquire::Check-Valid-Until "false";\n' >"$root/etc/apt/apt.conf.d/90lab"
{
  inside apt-get update -qq
  inside apt-get install -y -qq --no-install-recommends busybox-static kmod udev systemd-sysv dbus dbus-user-session \
    libpam-systemd openssh-server ca-certificates iproute2 iptables procps git "$@"
  # The kernel is unpacked, not installed: update-initramfs hangs where the tree is emulated.
  if [ "$kernel" = uml ]; then
    mkdir -p "$root/usr/lib/modules"
    cp -a /usr/lib/uml/modules/. "$root/usr/lib/modules/"
    inside depmod -a "$(ls "$root/usr/lib/modules")"
  elif [ ! -e "$root/boot/unpacked" ]; then
    inside apt-get clean
    inside apt-get install -y -qq --no-install-recommends --download-only "$kernel"
    for package in "$root"/var/cache/apt/archives/linux-*.deb; do dpkg-deb -x "$package" "$root/tmp/kernel"; done
    # Older packages put modules below /lib, newer ones below /usr/lib.
    kernel_modules=$(find "$root/tmp/kernel" -type d -path '*/lib/modules')
    [ -d "$kernel_modules" ] || { echo "$kernel has no modules" >&2; exit 1; }
    mkdir -p "$root/usr/lib/modules"
    cp -a "$kernel_modules/." "$root/usr/lib/modules/"
    find "$root/tmp/kernel" -name "vmlinuz*" -type f -exec cp {} "$root/boot/vmlinuz" \;
    rm -rf "$root/tmp/kernel"
    inside depmod -a "$(ls "$root/usr/lib/modules")"
    : >"$root/boot/unpacked"
  fi
  inside apt-get clean
} >"$dir/packages.log" 2>&1
rm -f "$root/usr/sbin/policy-rc.d"

# One user, reached over ssh; root too, for what an administrator does.
inside id dev >/dev/null 2>&1 || inside useradd --create-home --shell /bin/bash dev
for home in root home/dev; do
  install -d -m 700 "$root/$home/.ssh"
  install -m 600 "$dir/key.pub" "$root/$home/.ssh/authorized_keys"
done
inside chown -R dev:dev /home/dev/.ssh
inside ssh-keygen -A >/dev/null
printf 'guest\n' >"$root/etc/hostname"
printf '127.0.0.1 localhost guest\n' >"$root/etc/hosts"
printf 'nameserver 10.0.2.3\n' >"$root/etc/resolv.conf"
disk=/dev/vda
[ "$kernel" != uml ] || disk=/dev/ubda
printf '%s / ext4 defaults,noatime 0 0\n' "$disk" >"$root/etc/fstab"
# The first start does not make caches again, which takes minutes.
: >"$root/etc/.updated"
: >"$root/var/.updated"
mkdir -p "$root/etc/systemd/network" "$root/etc/systemd/journald.conf.d"
printf '[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n' >"$root/etc/systemd/network/10-lab.network"
inside systemctl enable systemd-networkd ssh >/dev/null 2>&1
inside systemctl mask systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer \
  getty@tty1.service >/dev/null 2>&1
cp "$setup" "$root/lab-setup"
inside sh -eu /lab-setup >"$dir/setup.log" 2>&1
rm "$root/lab-setup"

[ "$kernel" != uml ] || exit 0

# A small initramfs: busybox, and the modules between the kernel and its root file system.
modules=$(ls "$root/usr/lib/modules")
init=$dir/initramfs
rm -rf "$init"
mkdir -p "$init/bin" "$init/mods" "$init/mnt"
cp "$(find "$root/usr/bin/busybox" "$root/bin/busybox" -type f 2>/dev/null | head -n 1)" "$init/bin/busybox"
for module in virtio_pci virtio_blk crc32c_generic crc32c-cryptoapi ext4; do
  modprobe -d "$root" -S "$modules" --show-depends "$module" 2>/dev/null | awk '/^insmod/ { print $2 }' || true
done | awk '!seen[$0]++' | while read -r file; do
  name=$(basename "$file")
  case $name in
  *.xz) xz -dc "$file" >"$init/mods/${name%.xz}" && name=${name%.xz} ;;
  *) cp "$file" "$init/mods/$name" ;;
  esac
  printf '%s\n' "$name" >>"$init/mods/order"
done
install -m 755 "$here/guest-init.sh" "$init/init"
(cd "$init" && find . | cpio -o -H newc 2>/dev/null | gzip) >"$dir/initramfs.gz"
cp "$root/boot/vmlinuz" "$dir/vmlinuz"
