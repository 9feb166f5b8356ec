import { execFile } from 'node:child_process';
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freeDiskMb } from '../../session/probe.ts';
import type { EngineFacts } from '../../types/engine.ts';
import type { CommandContext } from '../context.ts';
import { type Check, fault, ok, warning } from './report.ts';

// Magic numbers of statfs(2), linux/magic.h.
const NETWORK_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
]);
const NO_UPPER_TYPES: ReadonlyMap<number, string> = new Map([
  ...NETWORK_TYPES,
  [0x794c7630, 'overlay'],
  [0xf15f, 'eCryptfs'],
  [0x4d44, 'FAT'],
]);
const RAM_TYPES: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);
const ENOUGH_MB = 5120;
const LITTLE_MB = 1024;

/** Home, our directories, /tmp, disk, platform. */
export function hostChecks(context: CommandContext): Check[] {
  const { home, stateDir, cacheDir } = context.places;
  return [
    platformCheck(),
    homeCheck(home),
    stateCheck(stateDir),
    writableCheck('cache-directory', cacheDir),
    tmpCheck(tmpdir()),
    diskCheck('disk', stateDir),
  ];
}

function platformCheck(): Check {
  const node = `Node ${process.versions.node}`;
  return process.platform === 'linux' || process.platform === 'darwin'
    ? ok('platform', `${process.platform} ${process.arch}, ${node}`)
    : fault('platform', `${process.platform} is not supported`, 'On Windows, use WSL 2.');
}

function homeCheck(home: string): Check {
  const network = NETWORK_TYPES.get(fileSystemType(home));
  return network === undefined
    ? ok('home', home)
    : warning('home', `${home} is on ${network}`, 'Set XDG_STATE_HOME and XDG_CACHE_HOME to a local disk.');
}

function stateCheck(dir: string): Check {
  const writable = writableCheck('state-directory', dir);
  if (writable.result !== 'ok') return writable;
  const kind = NO_UPPER_TYPES.get(fileSystemType(dir));
  return kind === undefined
    ? writable
    : warning('state-directory', `${dir} is on ${kind}, which holds no layers`, 'Set XDG_STATE_HOME to a local disk.');
}

function writableCheck(name: string, dir: string): Check {
  const at = existing(dir);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
  } catch (error) {
    return fault(
      name,
      `${at} cannot be written: ${(error as NodeJS.ErrnoException).code}`,
      'Make it yours, mode 0700.',
    );
  }
  const { mode, uid } = statSync(at);
  const open = at === dir && (mode & 0o077) !== 0;
  if (open) return warning(name, `${dir} can be read by others`, `chmod 700 ${dir}`);
  if (at === dir && process.getuid !== undefined && uid !== process.getuid()) {
    return fault(name, `${dir} belongs to another user`, `chown it, or set the XDG variables elsewhere.`);
  }
  return ok(name, dir);
}

function tmpCheck(dir: string): Check {
  const free = freeDiskMb(dir);
  const sticky = (statSync(existing(dir)).mode & 0o1002) === 0o0002;
  if (sticky) return warning('tmp', `${dir} is writable by all without the sticky bit`, `chmod 1777 ${dir}`);
  if (free < 100) return warning('tmp', `${dir} has ${free} MB free`, 'Free some space, or give --tmpdir.');
  return ok('tmp', `${dir}, ${free} MB free${RAM_TYPES.has(fileSystemType(dir)) ? ', in memory' : ''}`);
}

function diskCheck(name: string, dir: string): Check {
  const free = freeDiskMb(dir);
  const text = `${(free / 1024).toFixed(1)} GB free for sessions`;
  if (free < LITTLE_MB) return fault(name, text, 'Free some space; run-claude gc removes what no session needs.');
  return free < ENOUGH_MB ? warning(name, text, 'run-claude gc removes what no session needs.') : ok(name, text);
}

/** Git on the host is only needed for audit --base and commits --import. */
export async function gitCheck(): Promise<Check> {
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { timeout: 10_000 });
    const [, version = '?', major = '0', minor = '0'] = /(([0-9]+)\.([0-9]+)[0-9.]*)/.exec(stdout) ?? [];
    const old = Number(major) < 2 || (Number(major) === 2 && Number(minor) < 30);
    return old ? warning('git', `git ${version} is old`, 'Update git to 2.30 or newer.') : ok('git', `git ${version}`);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'failed';
    return warning('git', `no git on the host (${why})`, 'Install it for audit --base and commits --import.');
  }
}

/** A VM engine sees only the folders that it shares. */
export function sharingCheck(facts: EngineFacts, cwd: string): Check {
  if (facts.local) return ok('file-sharing', "the engine sees this machine's files");
  if (/^(ssh|tcp|https?):/.test(facts.endpoint)) {
    return warning(
      'file-sharing',
      'a remote engine sees no files of this machine',
      'Sessions work on a copy in volumes.',
    );
  }
  return ok('file-sharing', `a VM engine: bind mode needs ${cwd} among its shared folders; copies go into volumes`);
}

function fileSystemType(dir: string): number {
  return statfsSync(existing(dir)).type >>> 0;
}

/** The nearest directory that exists. */
function existing(dir: string): string {
  let at = dir;
  while (statSync(at, { throwIfNoEntry: false }) === undefined && at !== path.dirname(at)) at = path.dirname(at);
  return at;
}
