/** The command that runs one guest: QEMU for arm64, User Mode Linux for amd64. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { log, sh } from './cache.mjs';
import { serveShare } from './share.mjs';

const MEMORY_MB = '3500';
const QEMU = ['qemu-system-aarch64', '-M', 'virt', '-cpu', 'cortex-a76', '-accel', 'tcg,thread=multi', '-smp', '2'];
/** What each start of a guest leaves out: steps that take minutes and change nothing for a session. */
export const KERNEL_WORDS = [
  ...['loglevel=4', 'systemd.show_status=false', 'systemd.default_timeout_start_sec=1800'],
  ...['systemd.condition-needs-update=no', 'systemd.condition-first-boot=no'],
];
const UML_ADDRESS = '10.0.2.15';
const HOST_ADDRESS = '10.0.2.2';

/**
 * @typedef {object} Disks
 * @property {string} root a qcow2 image for QEMU, `copy-on-write file,image` for User Mode Linux
 * @property {string} supplies an image, read-only
 * @property {string} data like `root`
 */

/**
 * @typedef {object} GuestCommand
 * @property {readonly string[]} command
 * @property {readonly string[]} ssh the words before ssh's own
 * @property {string} address of the guest's ssh server
 * @property {number} port of the guest's ssh server
 * @property {() => void} end removes what the command needed on the host
 */

/**
 * An emulated machine. Its network is QEMU's own, restricted to the forwarded ports.
 * @param {{ guestDir: string, disks: Disks, port: number, forwarded: readonly (readonly [number, number])[],
 *   words: readonly string[] }} options `forwarded`: pairs of a port of loopback and a port of the guest. `words`: of the
 *   kernel's command line
 * @returns {GuestCommand}
 */
export function qemuCommand({ guestDir, disks, port, forwarded, words }) {
  const forwards = [[port, 22], ...forwarded].map(([from, to]) => `hostfwd=tcp:127.0.0.1:${from}-:${to}`).join(',');
  return {
    command: [
      ...[...QEMU, '-m', MEMORY_MB, '-nodefaults', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
      ...['-kernel', path.join(guestDir, 'vmlinuz'), '-initrd', path.join(guestDir, 'initramfs.gz')],
      ...['-append', ['console=ttyAMA0', 'root=/dev/vda', 'panic=-1', ...KERNEL_WORDS, ...words].join(' ')],
      ...[
        '-drive',
        `file=${disks.root},if=none,id=root,format=qcow2,cache=unsafe`,
        '-device',
        'virtio-blk-pci,drive=root',
      ],
      ...['-drive', `file=${disks.supplies},if=none,id=supplies,format=raw,readonly=on`],
      ...['-device', 'virtio-blk-pci,drive=supplies'],
      ...[
        '-drive',
        `file=${disks.data},if=none,id=data,format=qcow2,cache=unsafe`,
        '-device',
        'virtio-blk-pci,drive=data',
      ],
      ...['-netdev', `user,id=net,restrict=on,${forwards}`, '-device', 'virtio-net-pci,netdev=net'],
      ...['-object', 'rng-random,id=rng,filename=/dev/urandom', '-device', 'virtio-rng-pci,rng=rng'],
    ],
    ssh: [],
    address: '127.0.0.1',
    port,
    end: () => undefined,
  };
}

/**
 * A Linux kernel that is a program of the host, on its processor: user code of the guest runs at full speed, calls of the
 * kernel many times slower. The guest and this machine meet in a network namespace that nothing else is in.
 * @param {{ dir: string, share: string, disks: Disks, words: readonly string[] }} options `share`: a directory of this
 *   machine that the guest can mount. `words`: of the kernel's command line
 * @returns {GuestCommand}
 */
export function umlCommand({ dir, share, disks, words }) {
  const { space, inSpace, remove } = openSpace();
  const script = `ip -n "$1" tuntap add dev tap0 mode tap
ip -n "$1" addr add ${HOST_ADDRESS}/24 dev tap0; ip -n "$1" link set tap0 up`;
  sh(script, [space]);
  const endShare = serveShare({ dir, share, inSpace, address: HOST_ADDRESS, guest: UML_ADDRESS });
  return {
    command: [
      ...[...inSpace, 'env', 'TMPDIR=/dev/shm', 'linux.uml', `mem=${MEMORY_MB}M`, `umid=${space}`, `uml_dir=${dir}/`],
      ...[`ubd0=${disks.root}`, `ubd1r=${disks.supplies}`, `ubd2=${disks.data}`, 'eth0=tuntap,tap0,,'],
      ...['root=/dev/ubda', 'rw', 'con=null', 'con0=null,fd:1', 'ssl=null', 'panic=1', ...KERNEL_WORDS, ...words],
    ],
    ssh: inSpace,
    address: UML_ADDRESS,
    port: 22,
    end: () => {
      endShare();
      remove();
    },
  };
}

/** A network namespace that has loopback alone. */
export function openSpace() {
  removeLeftSpaces();
  const space = `rc-lab-${process.pid}`;
  sh('ip netns add "$1"; ip -n "$1" link set lo up', [space]);
  return { space, inSpace: ['ip', 'netns', 'exec', space], remove: () => void sh('ip netns del "$1"', [space]) };
}

/** Network namespaces of labs that were killed, and the guests that still run there. */
function removeLeftSpaces() {
  const spaces = sh('ip netns list').matchAll(/^rc-lab-(\d+)\b/gm);
  for (const [space, pid] of spaces) {
    if (existsSync(`/proc/${pid}`)) continue;
    log(`Removing ${space}, which a killed lab left`);
    sh('ip netns pids "$1" | xargs -r kill -9; ip netns del "$1"', [space]);
  }
}
