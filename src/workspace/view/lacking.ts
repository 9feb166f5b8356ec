import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { selectPaths } from '../../core/text/selection.ts';
import type { Plan } from '../../core/types/plan.ts';
import { parseWorkspaceRecord, type WorkspaceRecord } from '../layer/workspace-record.ts';
import { type Lacking, lackingPaths } from '../scan/lacking.ts';
import { withoutIgnored } from '../scan/project-ignores.ts';
import { fsPath } from '../scan/walk.ts';

/** What the copy of a session lacks, by its record. */
export function lackingOfRecord({ rules, leftOut = [], masked = [] }: WorkspaceRecord): Lacking {
  return lackingPaths(selectPaths(rules), leftOut, masked);
}

/** A user's files that a session's copy lacked, as the project has them now. */
export interface LackedFiles {
  /** Whether the copy lacked what the project has, or may have, at a path. */
  lacks(path: string): boolean;
  /** Whether the project has a folder at a path, with something below it that the copy lacked. */
  hidesLacking(path: string): boolean;
}

/** Of a session that works on the project itself. */
export const NOTHING_LACKED: LackedFiles = { lacks: () => false, hidesLacking: () => false };

/** Entries of one folder that are searched; a larger one counts as hiding something. */
const MAX_ENTRIES = 100_000;

/**
 * What the copy of a session lacks, for changes that are not made of the copy's files: commits. `record`: as in the
 * session's record; none of a bind session, which works on the project itself with masked files. Where ignored files were
 * left out too, those that the project has count.
 *
 * @throws {RunClaudeError} as parseWorkspaceRecord.
 */
export function lackedFiles(
  { project: { root }, policy }: Pick<Plan, 'project' | 'policy'>,
  record: unknown,
): LackedFiles {
  if (record === undefined) return policy.mode === 'bind' ? maskedOnly(policy) : NOTHING_LACKED;
  const workspace = parseWorkspaceRecord(record);
  const lacking = lackingOfRecord(workspace);
  const isCopied = policy.copyIgnored !== false;
  const ignored = withoutIgnored(selectPaths(workspace.rules), root, workspace.rules.include);
  const lacksHere = (one: string, isDirectory: boolean): boolean =>
    lacking.lackOf(one, isDirectory) !== undefined || (!isCopied && ignored.leftOut(one, isDirectory));
  return {
    lacks: (one) =>
      lacking.lackOf(one) !== undefined || (!isCopied && ignored.leftOut(one, false) && isThere(root, one)),
    hidesLacking: (one) => isFolder(root, one) && (lacksHere(one, true) || hasLacking(root, one, lacksHere)),
  };
}

function maskedOnly({ mask }: Pick<Plan['policy'], 'mask'>): LackedFiles {
  const { masked } = selectPaths({ exclude: [], include: [], mask });
  return { ...NOTHING_LACKED, lacks: masked };
}

function isThere(root: string, one: string): boolean {
  return lstatSync(placeOf(root, one), { throwIfNoEntry: false }) !== undefined;
}

function isFolder(root: string, one: string): boolean {
  try {
    return lstatSync(placeOf(root, one), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // A file is on the way: git replaces it, or refuses.
    return false;
  }
}

function hasLacking(root: string, top: string, lacks: (one: string, isDirectory: boolean) => boolean): boolean {
  const folders = [top];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of listed(root, folder)) {
      const one = `${folder}/${entry.name}`;
      const isDirectory = entry.isDirectory();
      entries += 1;
      if (entries > MAX_ENTRIES || lacks(one, isDirectory)) return true;
      if (isDirectory) folders.push(one);
    }
  }
  return false;
}

function listed(root: string, folder: string): Dirent[] {
  try {
    return readdirSync(placeOf(root, folder), { withFileTypes: true });
  } catch {
    return [];
  }
}

function placeOf(root: string, one: string): string | Buffer {
  return fsPath(path.join(root, one));
}
