/** A cluster of Slurm: two nodes in guests under emulation, and a login node, in a network that nothing else is in. */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { guestDirectory, nodeProgram, packedCommand } from './build.mjs';
import { cacheDirectory, log, removeFromCache, sh } from './cache.mjs';
import { LOGIN_ADDRESS, loginScript, NODE_MEMORY_MB, NODES, nodeScript } from './cluster-settings.mjs';
import { KERNEL_WORDS, openSpace } from './guest-command.mjs';
import { startMachine } from './machine.mjs';

const GUEST = 'slurm';
const ID = 'cluster-slurm';
const START_LIMIT_MS = 10 * 60_000;
const RUN_LIMIT_MS = 20 * 60_000;
const STAND_IN = path.join(import.meta.dirname, '../support/stand-in/messages-api.mjs');

/**
 * @typedef {object} Cluster
 * @property {(script: string, options?: { user?: string, timeoutMs?: number }) => import('./machine.mjs').Result} login
 *   runs a shell script on the login node, in the project's directory
 * @property {(node: string, script: string) => import('./machine.mjs').Result} on runs a shell script on a node, as root
 * @property {(node: string) => void} powerOff ends the guest at once
 * @property {() => Promise<void>} stop
 */

/** Makes what the cluster needs. */
export async function prepareCluster() {
  const guestDir = await guestDirectory(GUEST);
  removeFromCache(ID);
  const supplies = cacheDirectory(ID, 'supplies');
  copyFileSync(nodeProgram('amd64'), path.join(supplies, 'node'));
  copyFileSync(packedCommand(), path.join(supplies, 'run-claude.tgz'));
  copyFileSync(STAND_IN, path.join(supplies, path.basename(STAND_IN)));
  sh(`mkdir "$1/ca"; find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$1/ca" ';'`, [supplies]);
  return { guestDir, supplies };
}

/** @returns {Promise<Cluster>} */
export async function startCluster() {
  const { guestDir, supplies } = await prepareCluster();
  const { space, inSpace, remove } = openSpace();
  /** @type {(() => Promise<void> | void)[]} */
  const ends = [remove];
  const stop = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const bridge = `ip -n "$1" link add br0 type bridge; ip -n "$1" addr add ${LOGIN_ADDRESS}/24 dev br0
ip -n "$1" link set br0 up`;
    sh(bridge, [space]);
    log('slurm: starting the login node');
    const login = await startLogin({ guestDir, supplies, inSpace });
    ends.push(login.stop);
    log('slurm: starting the nodes');
    const machines = await Promise.all(
      NODES.map(async (node) => {
        const command = nodeCommand({ node, guestDir, space, inSpace });
        const machine = await startMachine(command, path.join(guestDir, 'key'), cacheDirectory(ID, node.name));
        ends.push(machine.stop);
        return { ...node, machine };
      }),
    );
    for (const { name, machine, ...node } of machines) {
      log(`slurm: settings of ${name}`);
      const { status, output } = machine.run(`set -e\n${nodeScript(node)}`, { user: 'root' });
      if (status !== 0) throw new Error(`${name}: ${output.slice(-2_000)}`);
    }
    const of = (/** @type {string} */ name) => {
      const found = machines.find((one) => one.name === name);
      if (found === undefined) throw new Error(`No node ${name}.`);
      return found.machine;
    };
    return {
      login: login.run,
      on: (name, script) => of(name).run(script, { user: 'root' }),
      powerOff: (name) => of(name).powerOff(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * A node: its network card is a port of the bridge.
 * @param {{ node: (typeof NODES)[number], guestDir: string, space: string, inSpace: readonly string[] }} options
 * @returns {import('./guest-command.mjs').GuestCommand}
 */
function nodeCommand({ node, guestDir, space, inSpace }) {
  const { name, address, mac } = node;
  sh('ip -n "$1" tuntap add dev "$2" mode tap; ip -n "$1" link set "$2" master br0; ip -n "$1" link set "$2" up', [
    space,
    name,
  ]);
  const disk = path.join(cacheDirectory(ID, name), 'disk');
  sh('qemu-img create -q -f qcow2 -F raw -b "$1" "$2"', [path.join(guestDir, 'disk.raw'), disk]);
  const words = ['console=ttyS0', 'root=/dev/vda', 'panic=-1', `systemd.hostname=${name}`, ...KERNEL_WORDS];
  return {
    command: [
      ...[...inSpace, 'qemu-system-x86_64', '-accel', 'tcg,thread=multi', '-cpu', 'max', '-smp', '2'],
      ...['-m', String(NODE_MEMORY_MB), '-nodefaults', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
      ...['-kernel', path.join(guestDir, 'vmlinuz'), '-initrd', path.join(guestDir, 'initramfs.gz')],
      ...['-append', words.join(' ')],
      ...['-drive', `file=${disk},if=virtio,format=qcow2,cache=unsafe`],
      ...['-netdev', `tap,id=net,ifname=${name},script=no,downscript=no`],
      ...['-device', `virtio-net-pci,netdev=net,mac=${mac}`],
      ...['-object', 'rng-random,id=rng,filename=/dev/urandom', '-device', 'virtio-rng-pci,rng=rng'],
    ],
    ssh: inSpace,
    address,
    port: 22,
    end: () => undefined,
  };
}

/**
 * @param {{ guestDir: string, supplies: string, inSpace: readonly string[] }} options
 */
async function startLogin({ guestDir, supplies, inSpace: [program = '', ...inSpace] }) {
  const script = loginScript(statSync('/var/run/docker.sock').gid);
  const words = [
    ...[path.join(import.meta.dirname, 'login-node.sh'), path.join(guestDir, 'disk.raw')],
    ...[cacheDirectory(ID, 'login'), cacheDirectory(ID, 'shared'), supplies, script],
  ];
  const child = spawn(program, [...inSpace, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (/** @type {Buffer} */ bytes) => {
    output += bytes.toString('utf8');
  });
  const stopped = new Promise((resolve) => child.once('close', resolve));
  for (const since = Date.now(); !/^ready$/m.test(output); ) {
    if (child.exitCode !== null || Date.now() - since > START_LIMIT_MS)
      throw new Error(`The login node did not start: ${output.slice(-2_000)}`);
    await sleep(500);
  }
  const { pid = 0 } = child;
  const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] ?? '';
  if (!/^\d+$/.test(inside)) throw new Error(`The login node ended: ${output.slice(-2_000)}`);
  return {
    /**
     * @param {string} text
     * @param {{ user?: string, timeoutMs?: number }} [options]
     * @returns {import('./machine.mjs').Result}
     */
    run(text, { user = 'dev', timeoutMs = RUN_LIMIT_MS } = {}) {
      const home = user === 'root' ? '/root' : `/home/${user}`;
      const enter = ['--target', inside, '--mount', '--pid', '--net', '--ipc', '--uts'];
      const as = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', 'env', '-i', `HOME=${home}`];
      const env = ['PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', 'LANG=C.UTF-8', `USER=${user}`];
      const result = spawnSync('nsenter', [...enter, ...as, ...env, 'bash', '-c', `cd /home/dev/project\n${text}`], {
        encoding: 'utf8',
        timeout: timeoutMs,
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return { status: result.status, output: `${result.stdout ?? ''}${result.stderr ?? ''}` };
    },
    async stop() {
      // The first process of its namespace: every other one ends with it.
      if (child.exitCode === null) process.kill(Number(inside), 'SIGKILL');
      await stopped;
    },
  };
}
