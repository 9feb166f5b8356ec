import { usageError } from '../../../core/errors.ts';
import type { ConflictRule } from '../../../core/types/change/conflict.ts';
import type { SessionRecord } from '../../../core/types/session.ts';
import type { UserDeps } from '../../stage/deps.ts';
import type { ApplyOptions } from '../apply-choice.ts';
import { BRANCH_CONFLICTS, openBranch } from './branch.ts';
import { openFiles } from './files.ts';
import type { Target, TargetOptions } from './target.ts';

interface TargetRow {
  /** The option that names it. The row without one is used where none is named. */
  readonly option?: string;
  /** Options that it alone takes. */
  readonly more: readonly string[];
  /** The rules for conflicts that it can hold. */
  readonly conflicts: readonly ConflictRule[];
  /** Refuses what it cannot do, before anything is asked. */
  readonly open: (record: SessionRecord, deps: UserDeps, options: TargetOptions) => Promise<Target>;
}

const FILES: TargetRow = {
  more: [],
  conflicts: ['keep', 'theirs', 'markers', 'file'],
  open: async (record, deps, { cwd }) => openFiles(record, deps, cwd),
};

/** What `apply` applies to. */
const TARGETS: readonly TargetRow[] = [
  FILES,
  { option: 'branch', more: ['push', 'pr', 'title'], conflicts: BRANCH_CONFLICTS, open: openBranch },
];

/**
 * The target that the options of an `apply` name.
 *
 * @throws {RunClaudeError} USAGE for an option of another target, or a rule for conflicts that this one cannot hold.
 */
export function targetNamed(given: TargetOptions['given'], conflict: ApplyOptions['conflict']): TargetRow {
  const row = TARGETS.find(({ option }) => option !== undefined && given.has(option)) ?? FILES;
  for (const { option, more } of TARGETS.filter((other) => other !== row))
    for (const name of more) if (given.has(name)) throw usageError(`--${name} needs --${option}`);
  if (conflict !== 'ask' && !row.conflicts.includes(conflict))
    throw usageError(
      `--${row.option}: a commit cannot hold --conflict=${conflict}`,
      `Use ${row.conflicts.join(' or ')}.`,
    );
  return row;
}
