import { isDotGitName, isPlainDotGit } from '../core/git/names.ts';
import { LACKED } from '../core/text/lacked.ts';
import type { Change } from '../core/types/entry.ts';
import type { Finding } from '../core/types/finding.ts';
import { signalHits } from './content/signals.ts';
import { fileHits } from './files.ts';
import { findingsOf, unjudgedTogether } from './findings.ts';
import { lazy } from './formats/lazy.ts';
import { UNREADABLE } from './general-rules/entries.ts';
import { GIT_DATA } from './general-rules/git.ts';
import { lookRunner, runLooks } from './general-rules/run-looks.ts';
import { ruleOfUser } from './general-rules/user-rules.ts';
import { type Hit, hitOf } from './hit.ts';
import { type AuditInput, type Scene, sceneOf } from './input.ts';
import { aliasesOf, type OtherNames } from './links.ts';
import { maskedHits } from './masked.ts';
import { nameHits } from './names.ts';

/** An audit whose steps the caller takes, so that it knows which change is judged at any moment. */
export interface Audit {
  /** What is found in one change alone. A change whose judging throws is blocked, and the others can still be judged. */
  judge(change: Change): readonly Hit[];
  /** What is found in all changes together. Where that throws, each of them is blocked. */
  judgeTogether(): readonly Hit[];
}

/**
 * Opens an audit of a session's frozen changes. A change with a problem, or whose content is missing, is blocked. Ignored
 * changes, which are withheld, are not judged. Its steps throw errors of the system only.
 */
export function openAudit(input: AuditInput): Audit {
  const scene = sceneOf(input);
  const aliases = lazy(() => aliasesOf(scene));
  const runUserLooks = lookRunner(() => (input.userRules ?? []).map(ruleOfUser));
  return {
    judge: (change) => {
      input.looksAt?.(change.path);
      try {
        return [...judgeChange(scene, change, aliases), ...judgeMasked(scene, change)];
      } catch (error) {
        return [hitOf(UNREADABLE, change.path, { case: 'failed', detail: reasonOf(error) })];
      }
    },
    judgeTogether: () => {
      try {
        return [
          ...runLooks('together', '.', scene, aliases().run),
          ...runUserLooks('together', '.', scene, aliases().run),
        ];
      } catch (error) {
        return unjudgedTogether(input.changes, reasonOf(error));
      }
    },
  };
}

/**
 * The findings for a session's frozen changes, the worst first, then by path: see {@link openAudit}. Pure: the same input
 * gives the same findings. A configuration may raise a severity, and lower one that is not blocked.
 */
export function auditChanges(input: AuditInput): Finding[] {
  const audit = openAudit(input);
  const hits: Hit[] = [];
  for (const change of input.changes) for (const hit of audit.judge(change)) hits.push(hit);
  for (const hit of audit.judgeTogether()) hits.push(hit);
  return findingsOf(hits, input.severities, input.changes);
}

/** @throws what it was given, where that is an error of the system: the content of a change is not the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('syscall' in error) throw error;
  return `${error.name}: ${error.message}`;
}

function judgeChange(scene: Scene, change: Change, aliases: () => OtherNames): Hit[] {
  if (change.ignored === true) return [];
  const { problem } = change;
  const isLacked = problem?.split('; ').includes(LACKED);
  if (problem !== undefined)
    return [hitOf(UNREADABLE, change.path, { detail: problem, ...(isLacked && { case: 'lacked' }) })];
  const git = gitDirOf(change.path);
  if (git !== undefined) {
    const hits = runLooks('git', change.path, scene, change, git.inner).map((hit) =>
      hit.rule === GIT_DATA.id ? hitOf(GIT_DATA, git.dir) : hit,
    );
    return [
      ...hits,
      ...nameHits(scene, change).filter((hit) => hit.rule !== 'name-dotgit' || !isPlainDotGit(git.name)),
    ];
  }
  return [
    ...nameHits(scene, change),
    ...runLooks('entry', change.path, scene, change),
    ...fileHits(scene, change, aliases().judged(change.path)),
    ...signalHits(scene, change),
  ];
}

/** A change with a problem is blocked already: its content is not what it says. */
function judgeMasked(scene: Scene, change: Change): Hit[] {
  return change.ignored === true || change.problem !== undefined ? [] : maskedHits(scene, change);
}

/** The first component that some file system takes for `.git`, and the path after it. */
function gitDirOf(path: string): { dir: string; inner: string; name: string } | undefined {
  const parts = path.split('/');
  const at = parts.findIndex(isDotGitName);
  if (at < 0) return undefined;
  return { dir: parts.slice(0, at + 1).join('/'), inner: parts.slice(at + 1).join('/'), name: parts[at] as string };
}

export type { AuditInput };
