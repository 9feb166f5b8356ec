import type { Mount } from '../types/engine.ts';
import type { Change, ContentReader } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { Finding } from '../types/finding.ts';
import type { Plan } from '../types/plan.ts';
import type { BoundGit } from '../types/session.ts';
import { type BindChanges, listBindChanges } from './changes.ts';
import { compareRepositories, type GitTrouble } from './compare.ts';
import { restoreTrouble } from './restore.ts';
import { shieldGit } from './shield-git.ts';
import { type BindSnapshot, bindStore, skipShielded, takeSnapshot } from './snapshot.ts';
import { walkProject } from './walk.ts';

/** A bind session's hold on the project, from before the start until after the exit. */
export interface BindSession {
  /** For the agent's container, in this order. */
  readonly mounts: readonly Mount[];
  readonly snapshot: BindSnapshot;
  /** For the record. */
  readonly bound?: BoundGit;
}

export interface OpenBindOptions {
  readonly plan: Plan;
  readonly tell: Tell;
  /** Whether the content of this path is worth keeping. */
  readonly watched: (path: string) => boolean;
}

/** Shields `.git`, remembers what could run, and says what bind mode does not hold. Throws as shieldGit does. */
export async function openBind({ plan, tell, watched }: OpenBindOptions): Promise<BindSession> {
  const { root } = plan.project;
  const git = shieldGit(plan);
  const shielded = git.mounts.length > 0;
  const snapshot = await takeSnapshot({ root, sessionDir: plan.sessionDir, shielded, watched });
  for (const text of startLines(shielded, snapshot, git.dropped)) tell({ kind: 'message', level: 'info', text });
  const workspace: Mount = { kind: 'bind', source: root, target: '/workspace', readonly: false };
  return { mounts: [workspace, ...git.mounts], snapshot, ...(git.bound && { bound: git.bound }) };
}

function startLines(shielded: boolean, snapshot: BindSnapshot, dropped: readonly string[]): string[] {
  const nested = [...snapshot.repositories];
  return [
    ...(shielded ? [] : ['this project has no .git of its own: run no git in it until the session has ended']),
    ...(nested.length === 0 ? [] : [`nested repositories are not shielded, run no git there: ${nested.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`not shown to the agent from .git/config: ${dropped.join(', ')}`]),
  ];
}

export interface CloseBindOptions {
  readonly plan: Plan;
  readonly snapshot: BindSnapshot;
  readonly tell: Tell;
  /** Asks whether this may be put right; undefined where there is no terminal: it is. */
  readonly ask: ((troubles: readonly GitTrouble[]) => Promise<boolean>) | undefined;
  /** The audit's rules over the changes; content by digest from the session's store. */
  readonly audit: (changes: readonly Change[], content: ContentReader) => Promise<readonly Finding[]>;
}

export interface BindOutcome {
  /** Restored, quarantined or lost: exit 121 when there is any. */
  readonly heldBack: number;
  readonly changes: readonly Change[];
  /** What was ignored before the session, counted. */
  readonly ignored: BindChanges['ignored'];
  readonly findings: readonly Finding[];
}

/**
 * After the agent's end: puts back, or moves into quarantine, what git might run, and audits all other changes.
 * Preconditions: the session's container has ended, so that nobody hostile writes in the project.
 */
export async function closeBind(options: CloseBindOptions): Promise<BindOutcome> {
  const { plan, snapshot, tell } = options;
  const { root } = plan.project;
  const shielded = plan.project.git === 'directory' || plan.project.git === 'file';
  const now = walkProject(root, skipShielded(shielded));
  const troubles = compareRepositories(snapshot, now);
  const content = bindStore(plan.sessionDir);
  const restore = troubles.length === 0 || options.ask === undefined || (await options.ask(troubles));
  let heldBack = 0;
  for (const trouble of troubles) {
    if (!restore && trouble.kind !== 'lost') continue;
    const restoring = restoreTrouble(trouble, { root, sessionDir: plan.sessionDir, before: snapshot, content });
    // One that fails must not keep the others in place.
    const text = await restoring.catch((error: Error) => `${trouble.path}: NOT put right: ${error.message}`);
    tell({ kind: 'finding', severity: 'blocked', text });
    heldBack += 1;
  }
  const left = heldBack === 0 ? now : walkProject(root, skipShielded(shielded));
  const { changes, ignored } = await listBindChanges(root, snapshot, left, plan.sessionDir);
  return { heldBack, changes, ignored, findings: await options.audit(changes, content) };
}
