import { closeSync, fstatSync, type Stats } from 'node:fs';
import path from 'node:path';
import type { ContentStore } from '../../core/store/content.ts';
import { readOpen } from '../../core/store/read-open.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import type { RelPath } from '../../core/text/path.ts';
import { type SelectionRules, selectPaths } from '../../core/text/selection.ts';
import type { ListedEntry } from '../../core/types/collector.ts';
import type { Entry } from '../../core/types/entry.ts';
import type { ProjectFacts } from '../../core/types/plan.ts';
import { baseIgnoreRules } from '../../workspace/collector/ignored.ts';
import { listProject } from '../../workspace/scan/walk.ts';
import { openHost, readHost } from '../apply/disk/host/host-entry.ts';
import { type HostWalker, NotAFolder, openHostWalker } from '../apply/disk/host/host-path.ts';
import { ChangeJudge } from '../judging/change-judge.ts';
import type { OwnBase } from './own-base.ts';

export interface ProjectBaseRequest {
  readonly project: ProjectFacts;
  readonly rules: SelectionRules;
  /** Where the list of the project's entries is written for the audit. */
  readonly sessionDir: string;
  readonly signal: AbortSignal;
}

/**
 * The project as it is now. No link is followed. The caller disposes of it.
 *
 * @throws {RunClaudeError} PROJECT_UNREADABLE.
 */
export async function openProjectBase(request: ProjectBaseRequest): Promise<OwnBase & Disposable> {
  const { project, sessionDir, signal } = request;
  const { encoded, count } = await listProject(project.root, selectPaths(request.rules), signal);
  const list = path.join(sessionDir, 'own-entries');
  writeFileAtomic(list, encoded, { durable: false });
  const walker = openHostWalker(project.root, project.inode === undefined ? undefined : `:${project.inode}`);
  const ignoreRules = baseIgnoreRules(ignoreFilesOf(walker));
  const { gitCommonDir } = project;
  const gitConfig = gitCommonDir === undefined ? {} : { gitConfig: path.join(gitCommonDir, 'config') };
  return {
    count,
    entry: (one, store) => entryAt(walker, one, store),
    isIgnored: async (one, isDirectory) => (await ignoreRules.top(one, isDirectory)) !== undefined,
    openJudge: (store) => new ChangeJudge({ store, base: { manifest: list, trees: [project.root], ...gitConfig } }),
    [Symbol.dispose]: () => walker[Symbol.dispose](),
  };
}

async function entryAt(walker: HostWalker, one: RelPath, store: ContentStore): Promise<Entry | undefined> {
  try {
    const state = readHost(walker, one);
    if (state === undefined) return undefined;
    const { kind, mode, size, mtimeNs, target } = state;
    const entry = { kind, mode, size, mtimeNs, ...(target !== undefined && { target }) };
    if (kind !== 'file') return entry;
    const fd = openHost(walker, one);
    try {
      return { ...entry, ...(await store.put(readOpen(fd))) };
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

/** A folder on the way that is a link or a file, and what cannot be read, count as other content. */
function isNotThere(error: unknown): boolean {
  const codes = ['EACCES', 'EPERM', 'ELOOP', 'ENXIO', 'ENOENT', 'ENAMETOOLONG'];
  return error instanceof NotAFolder || codes.includes((error as NodeJS.ErrnoException).code ?? '');
}

/** The project's ignore files, as the rules of a session's base read them. */
function ignoreFilesOf(walker: HostWalker): Parameters<typeof baseIgnoreRules>[0] {
  const opened = <T>(file: string, read: (fd: number, stats: Stats) => T): T | undefined => {
    try {
      const fd = openHost(walker, file);
      try {
        return read(fd, fstatSync(fd));
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      if (isNotThere(error)) return undefined;
      throw error;
    }
  };
  return {
    stat: async (_root, file) =>
      opened(file, (_fd, stats) => {
        const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'dir' : undefined;
        return kind === undefined ? undefined : ({ path: file, kind, size: stats.size } as ListedEntry);
      }),
    async *readUpTo(_root, file) {
      yield* opened(file, (fd, stats) => (stats.isFile() ? [...readOpen(fd)] : [])) ?? [];
    },
  };
}
