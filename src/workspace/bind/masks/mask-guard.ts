import { lstatSync } from 'node:fs';
import type { RunClaudeError } from '../../../core/errors.ts';
import { parentPath } from '../../../core/text/path.ts';
import { absolutePath, type HostEntry } from '../scan-project.ts';
import { type Breach, breachError, breachOfCovered, type FileIdentity } from './breach.ts';
import { mountedInside } from './mounted-inside.ts';
import { TreeWatch } from './tree-watch.ts';

export interface MaskGuardOptions {
  readonly root: string;
  /** The project as the session's snapshot has it. */
  readonly entries: ReadonlyMap<string, HostEntry>;
  /** The files that mounts cover. */
  readonly covered: readonly string[];
  /** Whether a regular file with content would be masked, had it been there at the start. */
  readonly wouldMask: (path: string) => boolean;
  /** As wouldMask, of a file that holds a secret. */
  readonly isNewSecret: (path: string) => boolean;
  /** Whether a new file of any name has what only the user can have written: the secrets of a masked file. */
  readonly isRealCopy: (path: string) => boolean;
  readonly maxFolders?: number;
}

/** Notices when the masks of a bind session no longer hold. */
export interface MaskGuard extends Disposable {
  /**
   * The first breach. Looks at each covered file, without waiting for an event. `pid`: of a process that has the mounts; the
   * kernel removes a mount some milliseconds before another file has the name.
   */
  check(pid?: number): Breach | undefined;
  /** Resolves with the first breach. */
  readonly broken: Promise<Breach>;
  /** As `broken`, with the error that ends the session. */
  readonly failure: Promise<RunClaudeError>;
}

/**
 * Begins to watch covered files, and the project for new ones.
 *
 * @throws {RunClaudeError} MASK_UNWATCHED
 */
export function openMaskGuard(options: MaskGuardOptions): MaskGuard {
  const { root, entries, wouldMask, isNewSecret, isRealCopy, maxFolders } = options;
  const identityAt = (path: string): FileIdentity | undefined =>
    lstatSync(absolutePath(root, path), { bigint: true, throwIfNoEntry: false });
  const covered = new Map<string, FileIdentity>();
  const onTheWay = new Set<string>();
  let breach: Breach | undefined;
  let report: (breach: Breach) => void = () => undefined;
  const broken = new Promise<Breach>((resolve) => {
    report = resolve;
  });
  const breakWith = (found: Breach): void => {
    breach ??= found;
    report(breach);
  };
  for (const path of options.covered) {
    const identity = identityAt(path);
    if (identity === undefined) breakWith({ kind: 'removed', path });
    else covered.set(path, identity);
    for (let way = path; way !== ''; way = parentPath(way)) onTheWay.add(way);
  }
  const checkMounts = (pid: number): void => {
    const paths = [...covered.keys()];
    const [lost] = lostMasks(mountedInside(pid, [PROJECT_INSIDE, ...paths.map(targetOf)]), paths);
    if (lost !== undefined) breakWith({ kind: 'replaced', path: lost });
  };
  const check = (pid?: number): Breach | undefined => {
    for (const [path, identity] of breach === undefined ? covered : []) {
      const found = breachOfCovered(path, identity, identityAt(path));
      if (found !== undefined) breakWith(found);
    }
    if (breach === undefined && pid !== undefined) checkMounts(pid);
    return breach;
  };
  const judge = (path: string): void => {
    const stat = lstatSync(absolutePath(root, path), { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true) return;
    for (const [name, { dev, ino }] of covered)
      if (stat.ino === ino && stat.dev === dev) breakWith({ kind: 'linked', path: name });
    if (stat.size === 0n || entries.has(path)) return;
    if (wouldMask(path)) breakWith({ kind: 'appeared', path });
    else if (isNewSecret(path)) breakWith({ kind: 'secret', path });
    else if (isRealCopy(path)) breakWith({ kind: 'copy', path });
  };
  const watch = new TreeWatch({
    root,
    entries,
    always: new Set([...onTheWay].filter((path) => !covered.has(path))),
    onEntry(path) {
      if (onTheWay.has(path)) check();
      if (!covered.has(path)) judge(path);
    },
    onFailure: (why) => breakWith({ kind: 'unwatched', why }),
    ...(maxFolders === undefined ? {} : { maxFolders }),
  });
  const timer = setInterval(() => check(), RECHECK_MS).unref();
  return {
    check,
    broken,
    failure: broken.then(breachError),
    [Symbol.dispose]() {
      clearInterval(timer);
      watch[Symbol.dispose]();
    },
  };
}

/**
 * The covered files that have no mount in a process. Where the project itself has none there, the process has other mounts
 * than the agent, and says nothing. Pure.
 */
export function lostMasks(mounted: ReadonlySet<string> | undefined, covered: readonly string[]): string[] {
  if (mounted?.has(PROJECT_INSIDE) !== true) return [];
  return covered.filter((path) => !mounted.has(targetOf(path)));
}

const PROJECT_INSIDE = '/workspace';

/** Where a file of the project is in the container. */
export function targetOf(path: string): string {
  return `${PROJECT_INSIDE}/${path}`;
}

/** A second name in a folder that is not watched shows in the link count, which has no event in a folder. */
const RECHECK_MS = 500;
