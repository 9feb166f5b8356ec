/**
 * A pnpmfile with a fetcher for each form: `hooks.fetchers` of pnpm 9 and 10, `fetchers` of pnpm 11 and 12. Both take the
 * archive of a package from the directory of this file by its hash, and leave packages without one to pnpm.
 *
 * Later releases than 9 refuse a lock file for any hook of a global pnpmfile, by the checksum of no file. In pnpm 10 the hook
 * `updateConfig` removes that checksum, unless a pnpmfile of the project has hooks: the lock file has a checksum then. Releases
 * before 10.8 know no such hook, and count no checksum for a global pnpmfile. pnpm 11 and 12 get no hooks.
 */
export const PNPMFILE = `'use strict';
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

function kept({ integrity, type }) {
  const found = type === undefined && /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(integrity ?? '');
  if (!found) return undefined;
  const hex = Buffer.from(found[1], 'base64').toString('hex');
  const file = join(__dirname, 'sha512', hex.slice(0, 2), hex.slice(2, 4), hex.slice(4));
  return existsSync(file) ? { integrity, tarball: 'file:' + file } : undefined;
}

function pnpmMajor() {
  try {
    const { name, version } = JSON.parse(readFileSync(join(dirname(require.main.filename), '../package.json'), 'utf8'));
    return name === 'pnpm' ? Number.parseInt(version, 10) : undefined;
  } catch {
    return undefined;
  }
}

const remoteTarball = ({ defaultFetchers }) => (cafs, resolution, options) => {
  const own = kept(resolution);
  if (own === undefined) return defaultFetchers.remoteTarball(cafs, resolution, options);
  return defaultFetchers.localTarball(cafs, own, options);
};

function hasHooks(file) {
  try {
    const found = require(file);
    return found !== module.exports && found.hooks != null;
  } catch {
    return true;
  }
}

function updateConfig(config) {
  const files = Array.isArray(config.pnpmfile) ? config.pnpmfile : [];
  if (!files.some(hasHooks)) delete config.hooks.calculatePnpmfileChecksum;
  return config;
}

const major = pnpmMajor();
if (major === 9) exports.hooks = { fetchers: { remoteTarball } };
if (major === 10) exports.hooks = { fetchers: { remoteTarball }, updateConfig };

exports.fetchers = [
  {
    canFetch: (id, resolution) => kept(resolution) !== undefined,
    fetch: (cafs, resolution, options, fetchers) => fetchers.localTarball(cafs, kept(resolution), options),
  },
];
`;
