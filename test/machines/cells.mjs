/** Cells of the lab: each is one machine that stands for machines of users. */
import { mountShare } from './share.mjs';

/**
 * An engine in a guest, started, with the sessions' image.
 * @typedef {object} Engine
 * @property {string} guest key of GUESTS
 * @property {'ext4' | 'btrfs'} [fileSystem] of the disk with the engine's data
 * @property {Readonly<Record<string, string>>} folders directory of that disk → where the guest has it
 * @property {string} [loader] key of GUESTS: on its tree `preload` runs, where programs of `guest` do not run here
 * @property {string} preload runs on the guest's tree as root, before the guest starts: loads the image
 * @property {readonly string[]} [kernelWords] of the guest's kernel command line
 * @property {string} [asRoot] runs in the guest as root
 * @property {string} [asUser] runs in the guest as the user, after `asRoot`. Lines `NAME=value` that it prints are
 *   variables of run-claude
 */

/**
 * @typedef {object} Cell
 * @property {string} represents which users' machines are like it
 * @property {string} title what is special about it
 * @property {string} engine key of ENGINES, or `cluster`: other guests, and other checks
 * @property {string} [disk] command that makes the file system of one more disk (/dev/ubdd), whose path follows it
 * @property {string} [asRoot] runs in the guest as root, before the checks
 * @property {string} project directory of the project
 * @property {'inside' | 'tcp'} command where run-claude itself runs
 * @property {string} [notSeen] why there is no result
 */

/** Of a cell that is a cluster. */
export const CLUSTER = 'cluster';
const IMAGE = '/mnt/supplies/image.tar';
const PROJECT = '/home/dev/project';
/** The uids of a container of the user's own. */
const SUBORDINATE_IDS =
  'grep -q ^dev: /etc/subuid || usermod --add-subuids 100000-165535 --add-subgids 100000-165535 dev';
const DOCKER_FOLDERS = { docker: '/var/lib/docker', containerd: '/var/lib/containerd' };
const CONTAINERD_STORE = `mkdir -p /etc/docker
printf '{"features": {"containerd-snapshotter": true}}\\n' >/etc/docker/daemon.json`;

/** A user's engine can't load them. Those of nf_tables are missing in the kernel of User Mode Linux. */
const MODULES = `modprobe -a overlay fuse tun veth bridge br_netfilter xt_conntrack xt_MASQUERADE xt_addrtype xt_comment \\
  xt_mark xt_multiport iptable_nat iptable_filter ip6table_nat ip6table_filter`;
/**
 * With its default, Podman ends after five seconds without a request, and starts again for the next one. What it tells
 * about itself has the package of each of its programs: dpkg needs half a minute for them under User Mode Linux, and
 * run-claude waits no longer for an engine.
 */
const PODMAN_SETTINGS = `mkdir -p /etc/containers
printf '[network]\\nfirewall_driver = "iptables"\\n[engine]\\nservice_timeout = 0\\n' >/etc/containers/containers.conf
chmod a-x /usr/bin/dpkg`;

/** Waits until an engine answers. @param {string} command */
const waitFor = (command) =>
  `for _ in $(seq 200); do ${command} >/dev/null 2>&1 && break; sleep 3; done; ${command} >/dev/null`;

/** Starts Docker without a network, loads the image, and ends it. */
const DOCKER_PRELOAD = `containerd >/tmp/containerd.log 2>&1 & containerd=$!
${waitFor('test -S /run/containerd/containerd.sock')}
dockerd --containerd=/run/containerd/containerd.sock --iptables=false --ip6tables=false --bridge=none >/tmp/dockerd.log 2>&1 & dockerd=$!
${waitFor('docker version')}
docker load -q -i ${IMAGE}
kill $dockerd; wait $dockerd || true; kill $containerd; wait $containerd || true`;

/** Runs a script as the user, with a directory for sockets. @param {string} script */
const asUser = (script) => `${SUBORDINATE_IDS}
mkdir -p /run/user/1000; chown dev:dev /run/user/1000 /home/dev/.local /home/dev/.local/share
setpriv --reuid dev --regid dev --init-groups env HOME=/home/dev USER=dev XDG_RUNTIME_DIR=/run/user/1000 bash -euc '${script}'`;

/** @type {Readonly<Record<string, Engine>>} */
export const ENGINES = {
  docker28: {
    guest: 'sid',
    folders: DOCKER_FOLDERS,
    preload: DOCKER_PRELOAD,
    asRoot: 'systemctl start docker',
  },
  'docker28-containerd': {
    guest: 'sid',
    folders: DOCKER_FOLDERS,
    preload: `${CONTAINERD_STORE}\n${DOCKER_PRELOAD}`,
    asRoot: `${CONTAINERD_STORE}
systemctl start docker
docker info -f '{{json .DriverStatus}}' | grep -q io.containerd.snapshotter`,
  },
  'docker28-btrfs': {
    guest: 'sid',
    fileSystem: 'btrfs',
    folders: DOCKER_FOLDERS,
    preload: DOCKER_PRELOAD,
    asRoot: 'systemctl start docker',
  },
  'docker28-rootless': {
    guest: 'sid',
    folders: { docker: '/home/dev/.local/share/docker' },
    preload: asUser(`export DOCKER_HOST=unix:///run/user/1000/docker.sock
# Docker 28 does not tell its version with this network.
rootlesskit --net=host --copy-up=/etc --copy-up=/run --propagation=rslave \\
  dockerd --rootless --iptables=false --ip6tables=false --bridge=none >/tmp/dockerd.log 2>&1 & dockerd=$!
${waitFor('docker image ls')}
docker load -q -i ${IMAGE}
kill $dockerd; wait $dockerd || true`),
    asRoot: `${MODULES}; gpasswd -d dev docker; ${SUBORDINATE_IDS}; chown dev:dev /home/dev/.local /home/dev/.local/share`,
    asUser: `export XDG_RUNTIME_DIR=/run/user/$(id -u) DOCKER_HOST=unix:///run/user/$(id -u)/docker.sock
systemd-run --user --quiet --unit=docker --property=Delegate=yes /usr/share/docker.io/contrib/dockerd-rootless.sh
${waitFor('docker version')}
printf 'XDG_RUNTIME_DIR=%s\\nDOCKER_HOST=%s\\n' "$XDG_RUNTIME_DIR" "$DOCKER_HOST"`,
  },
  'podman5-rootless': {
    guest: 'sid',
    folders: { podman: '/home/dev/.local/share/containers' },
    preload: asUser(`podman load -q -i ${IMAGE}`),
    asRoot: `${MODULES}
${PODMAN_SETTINGS}
${SUBORDINATE_IDS}; chown dev:dev /home/dev/.local /home/dev/.local/share`,
    asUser: `export XDG_RUNTIME_DIR=/run/user/$(id -u)
systemctl --user start podman.socket
${waitFor('podman --url unix://$XDG_RUNTIME_DIR/podman/podman.sock version')}
printf 'XDG_RUNTIME_DIR=%s\\nCONTAINER_HOST=unix://%s/podman/podman.sock\\n' "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR"`,
  },
  podman5: {
    guest: 'sid',
    folders: { podman: '/var/lib/containers' },
    preload: `podman load -q -i ${IMAGE}`,
    asRoot: `${PODMAN_SETTINGS}
mkdir -p /etc/systemd/system/podman.socket.d
printf '[Socket]\\nSocketMode=0660\\nSocketGroup=dev\\nDirectoryMode=0755\\n' >/etc/systemd/system/podman.socket.d/lab.conf
systemctl daemon-reload
systemctl start podman.socket
chmod 755 /run/podman`,
    asUser: `${waitFor('podman --url unix:///run/podman/podman.sock version')}
printf 'CONTAINER_HOST=unix:///run/podman/podman.sock\\n'`,
  },
  docker26: {
    guest: 'trixie',
    folders: DOCKER_FOLDERS,
    preload: DOCKER_PRELOAD,
    kernelWords: ['apparmor=1', 'security=apparmor'],
    asRoot: 'systemctl start docker',
  },
  docker20: {
    guest: 'bookworm-arm64',
    // The guest has no apparmor_parser, without which Docker starts no container where the kernel has AppArmor.
    kernelWords: ['apparmor=0'],
    folders: { docker: '/var/lib/docker' },
    loader: 'trixie',
    // An older engine reads the images of a newer one, but not the rest of its state.
    preload: `${DOCKER_PRELOAD}
find /var/lib/docker -mindepth 1 -maxdepth 1 ! -name image ! -name overlay2 -exec rm -rf {} +`,
    // It started with the guest, on a directory that the data's disk covers now.
    asRoot:
      'systemctl stop docker.socket docker; systemctl start docker || { journalctl -u docker -n 15 --no-pager -o cat; exit 1; }',
  },
};

/** @type {Readonly<Record<string, Cell>>} */
export const CELLS = {
  docker28: {
    represents: 'current Linux',
    title: 'Docker 28, containerd 2, runc 1.3, classic image store',
    engine: 'docker28',
    project: PROJECT,
    command: 'inside',
    notSeen: 'its disk was prepared, the machine was not started yet',
  },
  'docker28-containerd': {
    represents: 'OrbStack, Docker Desktop, new installations of Docker',
    title: 'Docker 28 with the containerd image store',
    engine: 'docker28-containerd',
    project: PROJECT,
    command: 'inside',
  },
  trixie: {
    represents: 'a desktop Linux',
    title: 'Docker 26, systemd cgroup driver, AppArmor enforcing, unprivileged user namespaces off',
    engine: 'docker26',
    asRoot: `test "$(cat /sys/module/apparmor/parameters/enabled)" = Y
test "$(cat /proc/sys/kernel/unprivileged_userns_clone)" = 0
docker info -f '{{.CgroupDriver}} {{.SecurityOptions}}' | grep '^systemd .*apparmor'`,
    project: PROJECT,
    command: 'inside',
  },
  'rootless-docker': {
    represents: 'the careful user',
    title: 'rootless Docker 28 with delegated controllers',
    engine: 'docker28-rootless',
    project: PROJECT,
    command: 'inside',
  },
  'rootless-podman': {
    represents: 'the careful user',
    title: 'rootless Podman 5 with delegated controllers',
    engine: 'podman5-rootless',
    project: PROJECT,
    command: 'inside',
  },
  arm64: {
    represents: 'the architecture of every Mac since 2020',
    title: 'Docker 20.10 on arm64, engine reached over tcp',
    engine: 'docker20',
    project: 'project',
    command: 'tcp',
  },
  share: {
    represents: 'OrbStack, Docker Desktop, WSL 2',
    title: 'Docker 28, project in a folder of another machine (9p, every file belongs to one user)',
    engine: 'docker28-containerd',
    asRoot: mountShare('/mnt/share'),
    project: '/mnt/share/project',
    command: 'inside',
  },
  podman: {
    represents: 'Fedora and its relatives',
    title: 'rootful Podman 5',
    engine: 'podman5',
    project: PROJECT,
    command: 'inside',
    notSeen: 'its disk was prepared, the machine was not started yet',
  },
  btrfs: {
    represents: 'OrbStack',
    title: "Docker 28, the engine's data on btrfs",
    engine: 'docker28-btrfs',
    project: PROJECT,
    command: 'inside',
    notSeen: 'its disk was prepared, the machine was not started yet',
  },
  casefold: {
    represents: 'the file system of a Mac (APFS)',
    title: 'Docker 28, project on xfs that folds the letter case of ASCII names',
    engine: 'docker28-containerd',
    disk: 'mkfs.xfs -q -n version=ci',
    asRoot: `mkdir -p /mnt/fold && mount -t xfs /dev/ubdd /mnt/fold
mkdir /mnt/fold/dev && chown dev:dev /mnt/fold/dev && touch /mnt/fold/Case && test -e /mnt/fold/cASE`,
    project: '/mnt/fold/dev/project',
    command: 'inside',
  },
  slurm: {
    represents: 'a Slurm cluster',
    title: 'Slurm 24.11, two nodes with cgroup v2, shared directory on NFS',
    engine: CLUSTER,
    project: PROJECT,
    command: 'inside',
  },
};
