/** An engine in a guest, with the sessions' image. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { digest, guestDirectory, installTools, suppliesDisk } from './build.mjs';
import { cacheDirectory, inCache, log, removeFromCache, sh } from './cache.mjs';
import { ENGINES } from './cells.mjs';
import { qemuCommand, umlCommand } from './guest-command.mjs';
import { GUESTS } from './guests.mjs';
import { startMachine } from './machine.mjs';

const START_LIMIT_MS = 20 * 60_000;
const DATA_SIZE = '16G';
/** Where the docker daemon of an emulated guest listens. */
const TCP_PORT = 2375;
const DISKS = { amd64: ['/dev/ubdb', '/dev/ubdc'], arm64: ['/dev/vdb', '/dev/vdc'] };

/**
 * Starts the guest with its engine.
 * @param {string} name key of ENGINES
 */
export async function startEngine(name) {
  const engine = ENGINES[name];
  const guest = engine && GUESTS[engine.guest];
  if (engine === undefined || guest === undefined) throw new Error(`No engine ${name}.`);
  installTools(guest.arch);
  const guestDir = guestDirectory(engine.guest);
  const supplies = suppliesDisk(guest.arch);
  const id = `engine-${name}-${digest([JSON.stringify(engine), guestDir, supplies.name])}`;
  const dir = cacheDirectory(id);
  const data = dataDisk(id, engine, path.join(guestDir, 'disk.raw'), supplies.disk);
  const disk = inCache(id, 'disk');
  removeFromCache(id, 'disk');
  removeFromCache(id, 'share');
  const share = cacheDirectory(id, 'share');
  sh('chown 1000:1000 "$1"', [share]);
  const enginePort = await freePort();
  const original = path.join(guestDir, 'disk.raw');
  if (guest.arch === 'arm64') sh('qemu-img create -q -f qcow2 -F raw -b "$1" "$2"', [original, disk]);
  const command =
    guest.arch === 'amd64'
      ? umlCommand({
          dir,
          share,
          disks: { root: `${disk},${original}`, supplies: supplies.disk, data },
          words: engine.kernelWords ?? [],
        })
      : qemuCommand({
          guestDir,
          disks: { root: disk, supplies: supplies.disk, data },
          port: await freePort(),
          forwarded: [[enginePort, TCP_PORT]],
          isOnline: engine.isOnline === true,
        });
  log(`${name}: starting the guest`);
  const machine = await startMachine(command, path.join(guestDir, 'key'), dir);
  try {
    const must = (/** @type {string} */ what, /** @type {string} */ script, /** @type {string} */ user) => {
      log(`${name}: ${what}`);
      const { status, output } = machine.run(`set -e\n${script}`, { user, timeoutMs: START_LIMIT_MS });
      if (status !== 0) throw new Error(`${what}: ${output.slice(-2_000)}`);
      return output;
    };
    const [suppliesDevice, dataDevice] = DISKS[guest.arch];
    const mount = `date -s @${Math.floor(Date.now() / 1000)}; mkdir -p /mnt/supplies /mnt/data
mount -o ro ${suppliesDevice} /mnt/supplies; mount ${dataDevice} /mnt/data`;
    must('disks', [mount, bindMounts(engine)].join('\n'), 'root');
    if (engine.asRoot !== undefined) must('engine', engine.asRoot, 'root');
    const output = engine.asUser === undefined ? '' : must('engine of the user', engine.asUser, 'dev');
    return { machine, enginePort, variables: output.split('\n').filter((line) => /^\w+=/.test(line)) };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

/**
 * The disk with the engine's data, filled on the host once: cells use a copy.
 * @param {string} id
 * @param {import('./cells.mjs').Engine} engine
 * @param {string} disk
 * @param {string} supplies
 */
function dataDisk(id, engine, disk, supplies) {
  const data = inCache(id, 'data.raw');
  const loaded = inCache(id, 'loaded');
  if (!existsSync(loaded)) {
    const make = engine.fileSystem === 'btrfs' ? 'mkfs.btrfs -q -f' : 'mke2fs -q -F -t ext4';
    sh(`rm -f "$1"; truncate -s ${DATA_SIZE} "$1"; ${make} "$1"`, [data]);
    if (engine.preload !== undefined) {
      log('Loading the image');
      const unbind = Object.values(engine.folders ?? {}).map((to) => `umount ${to}`);
      const script = [bindMounts(engine), engine.preload, ...unbind].join('\n');
      const words = [disk, supplies, data, cacheDirectory(id, 'mounts'), script];
      execFileSync('nice', ['-n', '15', path.join(import.meta.dirname, 'preload.sh'), ...words], { stdio: 'inherit' });
    }
    writeFileSync(loaded, '');
  }
  // What the guest builds stays. An image that was loaded is not changed.
  if (engine.preload === undefined) return data;
  removeFromCache(id, 'data');
  return `${inCache(id, 'data')},${data}`;
}

/** Mounts each directory of the data's disk where the engine has it. @param {import('./cells.mjs').Engine} engine */
function bindMounts({ folders = {} }) {
  return Object.entries(folders)
    .map(([from, to]) => `mkdir -p /mnt/data/${from} ${to}; mount --bind /mnt/data/${from} ${to}; ${ownerOf(to)}`)
    .join('\n');
}

/** What is below the user's home belongs to the user. @param {string} folder */
function ownerOf(folder) {
  const isOfUser = folder.startsWith('/home/dev/');
  return isOfUser ? `chown dev:dev /home/dev/.local /home/dev/.local/share ${folder}` : 'true';
}

/** A free port of loopback. Another program can take it before it is used: the guest then does not start. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port of loopback is free.');
  return address.port;
}
