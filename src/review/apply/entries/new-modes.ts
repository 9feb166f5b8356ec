import { lstatSync } from 'node:fs';
import { parentPath } from '../../../core/text/path.ts';
import { defaultAccess } from '../disk/attributes.ts';
import { type HostWalker, NotAFolder } from '../disk/host/host-path.ts';
import type { Step, Target } from '../disk/steps/steps.ts';

/** The umask of sessions whose record has none: the usual one of containers. */
export const USUAL_UMASK = 0o022;

const SETGID = 0o2000;
const EXECUTE = 0o111;

export interface NewModes {
  readonly project: string;
  readonly walker: HostWalker;
  /** Of the session's programs. */
  readonly sessionUmask: number;
  /** Of the user's. */
  readonly umask: number;
}

/** What a new entry gets from the folder that it is made in. */
interface Heritage {
  readonly setgid: boolean;
  /** Bits that the folder's default access list leaves, which counts instead of the umask. */
  readonly access: number | undefined;
}

/**
 * The steps, those that make an entry with the mode that it would have if the user's own tools had made it in its folder:
 * under the user's umask, or the folder's default access list, and for a folder in a setgid folder with that bit. The
 * session decides what is executable. Where it took more away than its umask did, the entry has no more than that.
 */
export function withUserModes(steps: readonly Step[], options: NewModes): Step[] {
  const changed = new Map(steps.map((step) => [step.path, step]));
  const nearest = nearestFolders(changed, options.walker);
  const made = new Map(steps.filter(makesEntry).map((step) => [step, nearest(parentPath(step.path))]));
  const heritages = readHeritages(new Set(made.values()), options);
  return steps.map((step) => {
    const heritage = heritages.get(made.get(step) ?? '');
    const isMade = made.has(step) && heritage !== undefined && step.post !== undefined;
    return isMade ? { ...step, post: asUserMakes(step.post, heritage, options) } : step;
  });
}

function makesEntry({ pre, post }: Step): boolean {
  return post !== undefined && post.kind !== 'symlink' && pre?.kind !== post.kind;
}

function asUserMakes(post: Target, { setgid, access }: Heritage, { sessionUmask, umask }: NewModes): Target {
  const sessionMode = post.mode & 0o777;
  // What a program asks for that has no wish of its own.
  const usual = post.kind === 'dir' || (sessionMode & EXECUTE) !== 0 ? 0o777 : 0o666;
  const asked = sessionMode === (usual & ~sessionUmask) ? usual : sessionMode;
  const given = access === undefined ? asked & ~umask : asked & access;
  const mode = post.kind === 'dir' && setgid ? given | SETGID : given;
  return mode === post.mode ? post : { ...post, mode, sessionMode };
}

/**
 * The nearest folder, this one or above, that exists and stays: what is made below it inherits from it, over new folders
 * too. Each folder is looked at once.
 */
function nearestFolders(changed: ReadonlyMap<string, Step>, walker: HostWalker): (folder: string) => string {
  const known = new Map<string, string>([['', '']]);
  return (folder) => {
    const climbed: string[] = [];
    let at = folder;
    while (!known.has(at) && !stays(at, changed, walker)) {
      climbed.push(at);
      at = parentPath(at);
    }
    const found = known.get(at) ?? at;
    for (const one of [at, ...climbed]) known.set(one, found);
    return found;
  };
}

function stays(folder: string, changed: ReadonlyMap<string, Step>, walker: HostWalker): boolean {
  const step = changed.get(folder);
  if (step !== undefined && step.pre?.kind !== 'dir') return false;
  try {
    walker.enter(folder);
    return true;
  } catch (error) {
    if (!(error instanceof NotAFolder)) throw error;
    return false;
  }
}

function readHeritages(folders: ReadonlySet<string>, { project, walker }: NewModes): ReadonlyMap<string, Heritage> {
  const access = defaultAccess(project, [...folders]);
  // Elsewhere a new folder has the group of its parent in any case, and not this bit.
  const inherits = process.platform === 'linux';
  const isSetgid = (folder: string): boolean =>
    (lstatSync(Buffer.concat([walker.enter(folder), Buffer.from('.')])).mode & SETGID) !== 0;
  return new Map(
    [...folders].map((folder) => [folder, { setgid: inherits && isSetgid(folder), access: access.get(folder) }]),
  );
}
