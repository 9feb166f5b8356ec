/** Guests: what is installed. A guest is built once for its recipe; cells that differ only in settings share it. */

/**
 * @typedef {object} Guest
 * @property {'amd64' | 'arm64'} arch Debian's name of the architecture
 * @property {string} suite Debian's release
 * @property {string} kernel the package that depends on the kernel, or `uml`
 * @property {readonly string[]} packages next to what every guest has (systemd, ssh, git)
 * @property {string} setup runs inside the tree, as root, before its first start
 */

/** Loading the profiles of 140 programs that are not installed takes minutes under emulation. */
const NO_PROFILES = 'find /etc/apparmor.d -maxdepth 1 -type f -delete';
const DOCKER_GROUP = 'usermod -aG docker dev';
/** The kernel of User Mode Linux has no tables of nf_tables for IPv4. */
const LEGACY_IPTABLES = `update-alternatives --set iptables /usr/sbin/iptables-legacy
update-alternatives --set ip6tables /usr/sbin/ip6tables-legacy`;
const NO_ENGINE = 'systemctl disable docker.service docker.socket containerd.service';

/** @type {Readonly<Record<string, Guest>>} */
export const GUESTS = {
  // No engine starts by itself: each cell starts the one it is about.
  sid: {
    arch: 'amd64',
    suite: 'sid',
    kernel: 'uml',
    packages: [
      ...['docker.io', 'docker-cli', 'apparmor', 'slirp4netns', 'rootlesskit', 'btrfs-progs'],
      ...['podman', 'crun', 'netavark', 'aardvark-dns', 'passt', 'catatonit', 'uidmap', 'fuse-overlayfs'],
    ],
    setup: `${NO_PROFILES}
${DOCKER_GROUP}
${LEGACY_IPTABLES}
${NO_ENGINE}
mkdir -p /var/lib/systemd/linger && : >/var/lib/systemd/linger/dev`,
  },
  trixie: {
    arch: 'amd64',
    suite: 'trixie',
    kernel: 'uml',
    packages: ['docker.io', 'docker-cli', 'apparmor'],
    setup: `${NO_PROFILES}
${DOCKER_GROUP}
${LEGACY_IPTABLES}
${NO_ENGINE}
printf 'kernel.unprivileged_userns_clone = 0\\n' >/etc/sysctl.d/90-lab.conf`,
  },
  // The login node and the nodes of a Slurm cluster: they differ in their settings. Its own kernel, under emulation.
  slurm: {
    arch: 'amd64',
    suite: 'trixie',
    kernel: 'linux-image-cloud-amd64',
    packages: [
      ...['slurmctld', 'slurmd', 'slurm-client', 'munge', 'runc', 'crun', 'uidmap'],
      ...['nfs-common', 'nfs-ganesha', 'nfs-ganesha-vfs'],
    ],
    setup: `systemctl disable slurmctld slurmd munge nfs-ganesha nfs-client.target rpcbind.socket rpcbind.service || true
systemctl mask rpcbind.service rpcbind.socket
rm /etc/systemd/network/10-lab.network
for node in 1 2; do
  printf '[Match]\\nMACAddress=52:54:00:12:34:0%s\\n[Network]\\nAddress=10.0.2.1%s/24\\n' $node $node \\
    >/etc/systemd/network/10-node$node.network
done
printf '127.0.0.1 localhost\\n10.0.2.2 login\\n10.0.2.11 node1\\n10.0.2.12 node2\\n' >/etc/hosts`,
  },
  'bookworm-arm64': {
    arch: 'arm64',
    suite: 'bookworm',
    kernel: 'linux-image-arm64',
    packages: ['docker.io'],
    setup: `${DOCKER_GROUP}
mkdir -p /etc/systemd/system/docker.service.d
printf '[Service]\\nExecStart=\\nExecStart=/usr/sbin/dockerd -H unix:///run/docker.sock -H tcp://0.0.0.0:2375 --tls=false\\n' \\
  >/etc/systemd/system/docker.service.d/tcp.conf`,
  },
};
