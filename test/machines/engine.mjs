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
const OWN_SIZE = '2G';
/** Where the docker daemon of an emulated guest listens. */
const TCP_PORT = 2375;
const DISKS = { amd64: ['/dev/ubdb', '/dev/ubdc'], arm64: ['/dev/vdb', '/dev/vdc'] };

/**
 * Makes what the engine needs: guest, supplies, and the disk with its data.
 * @param {string} name key of ENGINES
 */
export async function prepareEngine(name) {
  const engine = ENGINES[name];
  const guest = engine && GUESTS[engine.guest];
  if (engine === undefined || guest === undefined) throw new Error(`No engine ${name}.`);
  installTools(guest);
  const guestDir = await guestDirectory(engine.guest);
  const loaderDir = engine.loader === undefined ? guestDir : await guestDirectory(engine.loader);
  const supplies = await suppliesDisk(guest.arch);
  const { folders, fileSystem, preload } = engine;
  const recipe = [JSON.stringify({ folders, fileSystem, preload }), guestDir, loaderDir, supplies.name];
  const id = `engine-${name}-${digest(recipe)}`;
  const data = dataDisk(id, engine, path.join(loaderDir, 'disk.raw'), supplies.disk);
  return { engine, guest, guestDir, supplies, id, data };
}

/**
 * Starts the guest of some cells with their engine.
 * @param {readonly import('./cells.mjs').Cell[]} cells of one engine; one of them at most has its own disk
 */
export async function startEngine(cells) {
  const name = cells[0]?.engine ?? '';
  const makeDisk = cells.find(({ disk }) => disk !== undefined)?.disk;
  const { engine, guest, guestDir, supplies, id, data } = await prepareEngine(name);
  const dir = cacheDirectory(id);
  const disk = inCache(id, 'disk');
  removeFromCache(id, 'disk');
  removeFromCache(id, 'share');
  const share = cacheDirectory(id, 'share');
  sh('chown 1000:1000 "$1"', [share]);
  const ownDisk = makeDisk === undefined ? [] : [inCache(id, 'own.raw')];
  for (const file of ownDisk) sh(`rm -f "$1"; truncate -s ${OWN_SIZE} "$1"; ${makeDisk} "$1"`, [file]);
  const enginePort = await freePort();
  const original = path.join(guestDir, 'disk.raw');
  const changes = inCache(id, 'data');
  removeFromCache(id, 'data');
  if (guest.arch === 'arm64') {
    const copy = 'qemu-img create -q -f qcow2 -F raw -b "$1" "$2"';
    sh(copy, [original, disk]);
    sh(copy, [data, changes]);
  }
  const command =
    guest.arch === 'amd64'
      ? umlCommand({
          dir,
          share,
          disks: { root: `${disk},${original}`, supplies: supplies.disk, data: `${changes},${data}` },
          words: [...(engine.kernelWords ?? []), ...ownDisk.map((file) => `ubd3=${file}`)],
        })
      : qemuCommand({
          guestDir,
          disks: { root: disk, supplies: supplies.disk, data: changes },
          port: await freePort(),
          forwarded: [[enginePort, TCP_PORT]],
          words: engine.kernelWords ?? [],
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
 * The disk with the engine's data, filled on the host once. A machine writes its changes next to it.
 * @param {string} id
 * @param {import('./cells.mjs').Engine} engine
 * @param {string} disk
 * @param {string} supplies
 */
function dataDisk(id, engine, disk, supplies) {
  const data = path.join(cacheDirectory(id), 'data.raw');
  const loaded = inCache(id, 'loaded');
  if (!existsSync(loaded)) {
    const make = engine.fileSystem === 'btrfs' ? 'mkfs.btrfs -q -f' : 'mke2fs -q -F -t ext4';
    sh(`rm -f "$1"; truncate -s ${DATA_SIZE} "$1"; ${make} "$1"`, [data]);
    log('Loading the image');
    const unbind = Object.values(engine.folders).map((to) => `umount ${to}`);
    const script = [bindMounts(engine), engine.preload, ...unbind].join('\n');
    const words = [disk, supplies, data, cacheDirectory(id, 'mounts'), script];
    execFileSync(path.join(import.meta.dirname, 'preload.sh'), words, { stdio: 'inherit' });
    writeFileSync(loaded, '');
  }
  return data;
}

/** Mounts each directory of the data's disk where the engine has it. @param {import('./cells.mjs').Engine} engine */
function bindMounts({ folders }) {
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
