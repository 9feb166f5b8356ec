import { createHash } from 'node:crypto';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';

const PROXY = 'https://proxy.golang.org';
/** go.sum: module, version with `/go.mod` where it is the hash of that file alone, and the hash. */
const LINE = /^(\S{1,400}) (v[0-9A-Za-z.+-]{1,200})(\/go\.mod)? h1:([A-Za-z0-9+/]{43}=)$/;

/**
 * Go reads the cache as a proxy of modules (go.dev/ref/mod, GOPROXY protocol) before the one of the network, and compares
 * each module with go.sum.
 */
export const go: Ecosystem = {
  name: 'go',
  lockFiles: ['go.sum'],
  hosts: PRESETS['go'] ?? [],
  read: readGoLock,
  linksOf: () => [],
  env: (dir) => ({ GOPROXY: `file://${dir},${PROXY},direct` }),
};

function readGoLock(text: string): LockContent {
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const [, module, version, isModFile, sum] = LINE.exec(line) ?? [];
    const path = module === undefined ? undefined : escaped(module);
    if (module === undefined || version === undefined || sum === undefined || path === undefined) {
      skipped.push({ name: line.slice(0, 60), why: 'without a hash' });
      continue;
    }
    const base = `${path}/@v/${escaped(version)}`;
    const hex = Buffer.from(sum, 'base64').toString('hex');
    const name = `${module} ${version}`;
    const file = (ending: string, hash: Archive['hash']): Archive => {
      const at = `${base}.${ending}`;
      return { name, url: `${PROXY}/${at}`, hash, path: at };
    };
    if (isModFile !== undefined) archives.push(file('mod', { name: 'go-mod', hex }));
    else archives.push(file('zip', { name: 'go-zip', hex }), infoOf(name, version, `${base}.info`));
  }
  return { archives, skipped };
}

/** What go reads of a version is its name alone. It is made here: go.sum has no hash of what a proxy sends. */
function infoOf(name: string, version: string, path: string): Archive {
  const text = `{"Version":"${version}"}\n`;
  return { name, text, url: '', hash: { name: 'sha256', hex: createHash('sha256').update(text).digest('hex') }, path };
}

/** A capital letter is written as `!` and its small letter, since some file systems do not tell them apart. */
function escaped(text: string): string | undefined {
  return /^[A-Za-z0-9._~+/-]+$/.test(text) ? text.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`) : undefined;
}
