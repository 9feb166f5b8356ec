/** Makes what a cell needs before it starts: the guest, and a disk with Node and the sessions' image. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheDirectory, inCache, log, removeFromCache, sh } from './cache.mjs';
import { buildForeignImage } from './foreign-image.mjs';
import { GUESTS } from './guests.mjs';

const HERE = import.meta.dirname;
const ROOT = path.resolve(HERE, '../..');
const NODE_VERSION = '22.23.3';
const DISK_SIZE = '24G';
const TOOLS = [
  'qemu-utils',
  'debootstrap',
  'e2fsprogs',
  'btrfs-progs',
  'kmod',
  'cpio',
  'openssh-client',
  'xfsprogs',
  'xz-utils',
];
const TOOLS_OF = {
  uml: ['user-mode-linux', 'iproute2', 'diod'],
  amd64: ['qemu-system-x86', 'ipxe-qemu', 'iproute2'],
  arm64: ['qemu-system-arm', 'ipxe-qemu', 'qemu-user-static'],
};
const BINFMT = '/proc/sys/fs/binfmt_misc';

/**
 * The guest's directory, built where it does not exist yet. Its name has the digest of the recipe.
 * @param {string} name key of GUESTS
 */
export async function guestDirectory(name) {
  const guest = GUESTS[name];
  if (guest === undefined) throw new Error(`No guest ${name}.`);
  const files = ['build-guest.sh', 'guest-init.sh'].map((file) => readFileSync(path.join(HERE, file), 'utf8'));
  const id = `guest-${name}-${digest([JSON.stringify(guest), ...files])}`;
  const dir = cacheDirectory(id);
  const ready = inCache(id, 'ready');
  if (existsSync(ready)) return dir;
  log(`Building the guest ${name} (${guest.suite}, ${guest.arch})`);
  installTools(guest);
  if (!existsSync(inCache(id, 'key'))) sh('ssh-keygen -q -t ed25519 -N "" -f "$1"', [inCache(id, 'key')]);
  writeFileSync(inCache(id, 'setup'), `${guest.setup}\n`);
  const words = [dir, guest.arch, guest.suite, guest.kernel, inCache(id, 'setup'), ...guest.packages];
  await withBinfmt(guest.arch, () => execFileSync(path.join(HERE, 'build-guest.sh'), words, { stdio: 'inherit' }));
  log(`Making the disk of ${name}`);
  makeDisk(inCache(id, 'root'), inCache(id, 'disk.raw'), DISK_SIZE);
  removeFromCache(id, 'root');
  writeFileSync(ready, '');
  return dir;
}

/** @param {readonly string[]} texts */
export function digest(texts) {
  return createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12);
}

/**
 * An ext4 file system with the files of a directory.
 * @param {string} from
 * @param {string} to
 * @param {string} size
 */
function makeDisk(from, to, size) {
  sh('rm -f "$2"; truncate -s "$3" "$2.part"; mke2fs -q -F -t ext4 -d "$1" "$2.part"; mv "$2.part" "$2"', [
    from,
    to,
    size,
  ]);
}

/**
 * Installs the Debian packages of the host that a guest needs.
 * @param {import('./guests.mjs').Guest} guest
 */
export function installTools({ arch, kernel }) {
  const packages = [...TOOLS, ...TOOLS_OF[kernel === 'uml' ? 'uml' : arch]];
  const missing = packages.filter((name) => spawnSync('dpkg', ['-s', name], { stdio: 'ignore' }).status !== 0);
  if (missing.length === 0) return;
  log(`Installing ${missing.join(' ')}`);
  sh(
    'export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; apt-get install -y -qq --no-install-recommends "$@" >/dev/null',
    missing,
  );
}

/**
 * Runs `build` with a binfmt entry for the architecture. An entry that the lab registered is removed again.
 * @template Built
 * @param {'amd64' | 'arm64'} arch
 * @param {() => Built | Promise<Built>} build
 * @returns {Promise<Built>}
 */
async function withBinfmt(arch, build) {
  const entry = `${BINFMT}/qemu-aarch64`;
  const wasMounted = existsSync(`${BINFMT}/register`);
  if (arch === 'amd64' || existsSync(entry)) return build();
  if (!wasMounted) sh('mount -t binfmt_misc none "$1"', [BINFMT]);
  try {
    sh('cat /usr/lib/binfmt.d/qemu-aarch64.conf >"$1/register"', [BINFMT]);
    return await build();
  } finally {
    spawnSync('sh', ['-c', `echo -1 >${entry}`]);
    if (!wasMounted) spawnSync('umount', [BINFMT]);
  }
}

/**
 * The program of Node for the guest's architecture, from npm.
 * @param {'amd64' | 'arm64'} arch
 */
export function nodeProgram(arch) {
  const id = `node-${NODE_VERSION}-${arch}`;
  const program = inCache(id, 'package/bin/node');
  if (existsSync(program)) return program;
  sh('cd "$1"; npm pack --silent "$2" >/dev/null; tar -xzf ./*.tgz package/bin/node; rm -f ./*.tgz', [
    cacheDirectory(id),
    `node-linux-${arch === 'amd64' ? 'x64' : 'arm64'}@${NODE_VERSION}`,
  ]);
  return program;
}

/** The package as users install it, an archive. */
export function packedCommand() {
  const dir = cacheDirectory('package');
  const script =
    'cd "$1"; rm -f "$2"/*.tgz; npm pack --silent --pack-destination "$2" >/dev/null; mv "$2"/*.tgz "$2/run-claude.tgz"';
  sh(script, [ROOT, dir]);
  return path.join(dir, 'run-claude.tgz');
}

/**
 * A disk for the guest, attached read-only: over ssh the same takes minutes. It has the sessions' image, which the engine
 * of this machine builds if it does not have it, and Node where run-claude runs in the guest (amd64).
 * @param {'amd64' | 'arm64'} arch
 */
export async function suppliesDisk(arch) {
  if (!existsSync(path.join(ROOT, 'dist/main.js'))) sh('cd "$1"; npm run --silent build', [ROOT]);
  const image = arch === 'amd64' ? imageHere() : await withBinfmt(arch, () => buildForeignImage(arch, environment()));
  return supplies([image, NODE_VERSION], '2500M', (dir) => {
    log(`Saving ${image}`);
    sh('docker save -o "$2/image.tar" "$1"; chmod 644 "$2/image.tar"', [image, dir]);
    if (arch === 'arm64') return;
    const script = `cp "$2" "$1/node"; chmod 755 "$1/node"; mkdir "$1/ca"
find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$1/ca" ';'`;
    sh(script, [dir, nodeProgram(arch)]);
  });
}

/** The image of these sources on the engine of this machine. */
function imageHere() {
  const output = execFileSync('node', [path.join(ROOT, 'dist/main.js'), 'build'], {
    encoding: 'utf8',
    env: environment(),
  });
  return output.trim().split('\n').at(-1) ?? '';
}

/**
 * The environment of every run-claude here. The image has the machine's certificate authorities: without this file its
 * address is the same with every version of Node, whose own list of authorities differs.
 */
function environment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}

/**
 * @param {readonly string[]} recipe
 * @param {string} size
 * @param {(dir: string) => void} fill
 */
function supplies(recipe, size, fill) {
  const name = digest(recipe);
  const disk = inCache(`supplies-${name}`, 'disk.raw');
  if (!existsSync(disk)) {
    const dir = cacheDirectory(`supplies-${name}`, 'files');
    fill(dir);
    makeDisk(dir, disk, size);
    removeFromCache(`supplies-${name}`, 'files');
  }
  return { name, disk };
}
