/**
 * The sessions' image for another architecture, built by the engine of this machine: its steps run under qemu-user, while
 * other cells run. The image is not attacked here: the cell's own probe does that.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadSource } from '../../bench/load-source.mjs';
import { cacheDirectory, log, removeFromCache, sh } from './cache.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A tree of the packages that every Debian has, from the mirror of this machine where one is set. */
const BASE = `[ "$1" != / ] && [ -d "$1" ]
mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
debootstrap --arch="$2" --variant=minbase "$3" "$1/root" "\${mirror:-$4}" >"$1/log" 2>&1
printf 'deb %s %s main\\ndeb %s %s-updates main\\ndeb %s %s-security main\\n' "$4" "$3" "$4" "$3" "$5" "$3" >"$1/root/etc/apt/sources.list"
tar -C "$1/root" --exclude='./var/cache/apt/archives/*.deb' -c . | docker import --platform "linux/$2" - "$6" >/dev/null`;

/**
 * Builds the image of these sources unless the engine has it. Programs of the architecture must run here.
 * @param {'arm64'} arch
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {Promise<string>} its address
 */
export async function buildForeignImage(arch, env) {
  ensureBase(arch);
  const [{ connectEngine }, { ensureImage }] = await loadSource(
    'engines/engine/connect.ts',
    'environment/image/ensure.ts',
  );
  const cacheDir = cacheDirectory(`image-${arch}`);
  const { platform } = process;
  const engine = await connectEngine({ choice: 'docker', env, home: cacheDir, platform, owner: 'lab' });
  const facts = { ...engine.facts, arch };
  const { tag } = await ensureImage(
    { ...engine, facts },
    {
      ...{ env, cacheDir, toolchain: false, rebuild: false, signal: new AbortController().signal },
      tell: (/** @type {{ kind: string, text?: string }} */ { kind, text = '' }) => kind === 'message' && log(text),
      // Under qemu-user the kernel sees the calls of another architecture.
      prove: async () => undefined,
      exclusive: (/** @type {string} */ _, /** @type {() => Promise<void>} */ body) => body(),
    },
  );
  await engine.close();
  return tag;
}

/** The base under the name that run-claude gives to one that was made here. @param {'arm64'} arch */
function ensureBase(arch) {
  const { debian } = JSON.parse(readFileSync(path.join(ROOT, 'images/pins.json'), 'utf8'));
  const name = `run-claude-base:${debian.release}-${arch}`;
  if (sh('docker images -q "$1"', [name]).trim() !== '') return;
  log(`Making ${name}`);
  const id = `base-${arch}`;
  removeFromCache(id);
  sh(BASE, [cacheDirectory(id), arch, debian.release, debian.mirror, debian.security, name]);
  removeFromCache(id);
}
