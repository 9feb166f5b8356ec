import { plainName } from '../../../core/text/python-release.ts';
import { PRESETS } from '../../../network/gateway/rules/presets.ts';
import type { Archive, Ecosystem, LockContent, Skipped } from '../ecosystem.ts';

/** A name and its only version, as pip-compile and uv export write them; what follows are markers and hashes. */
const PINNED = /^([A-Za-z0-9][A-Za-z0-9._-]{0,200})(?:\[[^\]]{0,200}\])?\s*==\s*([A-Za-z0-9.!+_-]{1,100})(?=[\s;]|$)/;
const HASH = /--hash=sha256:([0-9a-f]{64})(?=\s|$)/g;

/**
 * pip takes files from its `find-links` before those of the index, and compares them with the hashes in the file. uv
 * installs from a lock file by the addresses in it, and looks at no such directory.
 */
export const pip: Ecosystem = {
  name: 'pip',
  lockFiles: ['requirements.txt', 'requirements.lock', 'requirements-dev.txt'],
  hosts: PRESETS['pypi'] ?? [],
  read: readPipLock,
  linksOf: () => [],
  env: (dir) => ({ PIP_FIND_LINKS: dir }),
};

function readPipLock(text: string): LockContent {
  const archives: Archive[] = [];
  const skipped: Skipped[] = [];
  const lines = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  for (const line of lines.map((one) => one.replace(/(^|\s)#[\s\S]*$/, '').trim())) {
    // Options of the whole file: an index of the project is not asked.
    if (line === '' || /^(--?(?:i|index-url|extra-index-url|no-index|find-links|f|require-hashes)\b|--pre)/.test(line))
      continue;
    const [, name, version] = PINNED.exec(line) ?? [];
    const sha256 = [...line.matchAll(HASH)].map(([, hex = '']) => hex);
    const [hex] = sha256;
    if (name === undefined || version === undefined) {
      const why = /^[A-Za-z0-9._-]+\s*(\[|[<>=!~;]|$)/.test(line) ? 'without one version' : 'not from a registry';
      skipped.push({ name: line.slice(0, 60), why });
    } else if (hex === undefined) skipped.push({ name: `${name} ${version}`, why: 'without a hash' });
    else {
      const plain = plainName(name);
      const url = `https://pypi.org/simple/${plain}/`;
      archives.push({
        name: `${name} ${version}`,
        url,
        hash: { name: 'sha256', hex },
        release: { package: plain, version, sha256 },
        path: `${plain}-${version}`,
      });
    }
  }
  return { archives, skipped };
}
