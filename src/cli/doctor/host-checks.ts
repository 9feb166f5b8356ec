import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { freeDiskMb } from '../../core/host/facts.ts';
import { gitVersion } from '../../core/host/git.ts';
import { MIN_START_MB } from '../../core/text/disk-room.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { EngineFacts } from '../../core/types/engine.ts';
import { readWayOut } from '../../network/gateway/upstream.ts';
import type { CommandContext } from '../context/context.ts';
import { type Check, fault, ok, warning } from './check.ts';
import { type FileSystemOf, fileSystems } from './file-system.ts';

const RECOMMENDED_FREE_MB = 5120;

/** Home, run-claude's directories, /tmp, free space, platform. `freeMb` returns the free space of a directory in MB. */
export function hostChecks(
  context: Pick<CommandContext, 'places'>,
  freeMb: FreeSpace = freeDiskMb,
  fileSystem: FileSystemOf = fileSystems(process.platform, process.env),
): Check[] {
  const { home, stateDir, cacheDir } = context.places;
  return [
    platformCheck(),
    homeCheck(home, fileSystem),
    stateCheck(stateDir, fileSystem),
    writableCheck('cache-directory', cacheDir),
    tmpCheck(tmpdir(), freeMb, fileSystem),
    diskCheck('disk', stateDir, freeMb),
    diskCheck('cache-disk', cacheDir, freeMb),
  ];
}

/** The proxy and the certificates that the environment names; nothing where it names none. */
export function wayOutChecks(env: CommandContext['env']): readonly Check[] {
  try {
    const { proxy, extraCa } = readWayOut(env);
    const words = [...(proxy === undefined ? [] : [`proxy ${proxy.host}`]), ...(extraCa === '' ? [] : [OWN_CA])];
    return words.length === 0 ? [] : [ok('way-out', words.join(', '))];
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return [fault('way-out', error.message, error.hint ?? '')];
  }
}

const OWN_CA = 'certificates of NODE_EXTRA_CA_CERTS';

type FreeSpace = (dir: string) => number;

const SYSTEMS: Readonly<Record<string, string>> = { linux: 'Linux', darwin: 'macOS' };

function platformCheck(): Check {
  const system = SYSTEMS[process.platform];
  return system === undefined
    ? fault('platform', `${process.platform} is not supported`, 'On Windows, run it inside WSL 2.')
    : ok('platform', `${system} ${process.arch}, Node ${process.versions.node}`);
}

function homeCheck(home: string, fileSystem: FileSystemOf): Check {
  const { network } = fileSystem(existing(home));
  return network === undefined
    ? ok('home', home)
    : warning(
        'home',
        `${home} is on a network file system (${network})`,
        'Set XDG_STATE_HOME and XDG_CACHE_HOME to directories on a local disk.',
      );
}

const VARIABLES = { 'state-directory': 'XDG_STATE_HOME', 'cache-directory': 'XDG_CACHE_HOME' } as const;

function stateCheck(dir: string, fileSystem: FileSystemOf): Check {
  const writable = writableCheck('state-directory', dir);
  if (writable.result !== 'ok') return writable;
  const kind = fileSystem(existing(dir)).withoutUpper;
  return kind === undefined
    ? writable
    : warning(
        'state-directory',
        `${dir} is on ${kind}, so every session copies the whole project`,
        'Set XDG_STATE_HOME to a directory on a local disk.',
      );
}

function writableCheck(name: 'state-directory' | 'cache-directory', dir: string): Check {
  const at = existing(dir);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
  } catch (error) {
    return fault(
      name,
      `${at} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      `Change its owner to your user and its mode to 0700, or set ${VARIABLES[name]}.`,
    );
  }
  const { mode, uid } = statSync(at);
  if (at !== dir) return ok(name, dir);
  if (process.getuid !== undefined && uid !== process.getuid()) {
    return fault(name, `${dir} belongs to another user`, `Change its owner to your user, or set ${VARIABLES[name]}.`);
  }
  if ((mode & 0o022) !== 0) return fault(name, `other users can write to ${dir}`, `Run chmod 700 ${shellWord(dir)}`);
  if ((mode & 0o077) !== 0) return warning(name, `other users can read ${dir}`, `Run chmod 700 ${shellWord(dir)}`);
  return ok(name, dir);
}

function tmpCheck(dir: string, freeMb: FreeSpace, fileSystem: FileSystemOf): Check {
  const free = freeMb(dir);
  const sticky = (statSync(existing(dir)).mode & 0o1002) === 0o0002;
  if (sticky)
    return warning('tmp', `every user can remove the files of others in ${dir}`, `Run chmod 1777 ${shellWord(dir)}`);
  if (free < 100)
    return warning(
      'tmp',
      `${formatFree(free)} free in ${dir}`,
      'Free some space, or use --tmpdir with another directory.',
    );
  return ok('tmp', `${dir}, ${formatFree(free)} free${fileSystem(existing(dir)).isInMemory ? ', in memory' : ''}`);
}

function diskCheck(name: 'disk' | 'cache-disk', dir: string, freeMb: FreeSpace): Check {
  const free = freeMb(dir);
  const text = `${formatFree(free)} free in ${dir}`;
  const wayOut = 'Free some space: run-claude gc removes what no session needs, run-claude discard ID a session.';
  return free < MIN_START_MB
    ? fault(name, `${text}, and a session needs ${MIN_START_MB} MB`, wayOut)
    : free < RECOMMENDED_FREE_MB
      ? warning(name, text, wayOut)
      : ok(name, text);
}

function formatFree(mb: number): string {
  return mb < 1024 ? `${mb} MB` : `${(mb / 1024).toFixed(1)} GB`;
}

/** Git on the host is needed only for audit --base and commits --import. */
export async function gitCheck(versionOf: () => Promise<string> = gitVersion): Promise<Check> {
  try {
    const found = /(([0-9]+)\.([0-9]+)[0-9.]*)/.exec(await versionOf());
    // On a very slow machine the time limit ends the reading of a git that has printed its version.
    if (found === null)
      return warning('git', 'git --version prints no version', 'Try again when the machine is less busy.');
    const [, version, major, minor] = found;
    const old = Number(major) < 2 || (Number(major) === 2 && Number(minor) < 30);
    return old
      ? warning('git', `version ${version} is older than 2.30`, 'Update git.')
      : ok('git', `version ${version}`);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'failed';
    return warning('git', `not found (${why})`, 'Install git if you need audit --base or commits --import.');
  }
}

/** A VM engine sees only the folders that it shares. */
export function sharingCheck(facts: EngineFacts, cwd: string): Check {
  if (facts.local) return ok('file-sharing', "the engine reads this machine's files");
  if (/^(ssh|tcp|https?):/.test(facts.endpoint)) {
    return warning(
      'file-sharing',
      'a remote engine does not read the files of this machine',
      'Use --copy-workspace: bind mode does not work with this engine.',
    );
  }
  return ok('file-sharing', `bind mode needs ${cwd} among the folders that the engine shares`);
}

/** The nearest directory that exists. */
function existing(dir: string): string {
  let at = dir;
  while (statSync(at, { throwIfNoEntry: false }) === undefined && at !== path.dirname(at)) at = path.dirname(at);
  return at;
}
