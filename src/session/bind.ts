import type { Mount } from '../types/engine.ts';
import type { Change, ContentReader, Entry } from '../types/entry.ts';
import type { Tell } from '../types/event.ts';
import type { Finding } from '../types/finding.ts';
import { parseRelPath } from '../types/path.ts';
import type { Plan } from '../types/plan.ts';
import { compareRepositories, type GitTrouble, same } from './bind-compare.ts';
import { shieldGit } from './bind-git.ts';
import { findRepositories, repositoryOf } from './bind-repositories.ts';
import { restoreTrouble } from './bind-restore.ts';
import { type BindSnapshot, bindStore, KEPT_BYTES, skipShielded, takeSnapshot } from './bind-snapshot.ts';
import { readLink, readRegular, type Seen, type Walked, walkProject } from './bind-walk.ts';

/** A bind session's hold on the project, from before the start until after the exit. */
export interface BindSession {
  /** For the agent's container, in this order. */
  readonly mounts: readonly Mount[];
  readonly snapshot: BindSnapshot;
}

export interface OpenBindOptions {
  readonly plan: Plan;
  readonly tell: Tell;
  /** Whether the audit would call a change of this path suspect. */
  readonly suspect: (path: string) => boolean;
}

/** Shields `.git`, remembers what could run, and says what bind mode does not hold. Throws as shieldGit does. */
export async function openBind({ plan, tell, suspect }: OpenBindOptions): Promise<BindSession> {
  const { root } = plan.project;
  const git = shieldGit(plan);
  const shielded = git.mounts.length > 0;
  const snapshot = await takeSnapshot({ root, sessionDir: plan.sessionDir, shielded, suspect });
  for (const text of startLines(shielded, snapshot, git.dropped)) tell({ kind: 'message', level: 'info', text });
  const workspace: Mount = { kind: 'bind', source: root, target: '/workspace', readonly: false };
  return { mounts: [workspace, ...git.mounts], snapshot };
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
  const changes = await listChanges(root, snapshot, now, plan.sessionDir);
  return { heldBack, changes, findings: await options.audit(changes, content) };
}

/** Everything outside repositories that differs, with the content of what is small enough. */
async function listChanges(root: string, before: BindSnapshot, now: Walked, sessionDir: string): Promise<Change[]> {
  const store = bindStore(sessionDir);
  const repositories = new Set([...before.repositories, ...findRepositories(now.entries)]);
  const changes: Change[] = [];
  for (const name of new Set([...before.entries.keys(), ...now.entries.keys()])) {
    const path = parseRelPath(name);
    const old = before.entries.get(name);
    const seen = now.entries.get(name);
    if (path === undefined || repositoryOf(name, repositories) !== undefined) continue;
    if (old !== undefined && seen !== undefined && (same(old, seen) || (old.kind === 'dir' && seen.kind === 'dir'))) {
      continue;
    }
    const bytes = seen?.kind === 'file' ? readRegular(root, name, KEPT_BYTES) : undefined;
    const digest = bytes === undefined ? undefined : (await store.put([bytes])).digest;
    const oldDigest = before.digests.get(name);
    if (digest !== undefined && digest === oldDigest && old?.mode === seen?.mode) continue;
    const kind =
      old === undefined ? 'created' : seen === undefined ? 'deleted' : old.kind !== seen.kind ? 'type' : 'modified';
    changes.push({
      path,
      kind,
      ...(old === undefined ? {} : { before: entryOf(old, oldDigest, before.targets.get(name)) }),
      ...(seen === undefined ? {} : { after: entryOf(seen, digest, readLink(root, name)) }),
    });
  }
  await store.flush();
  return changes;
}

function entryOf(seen: Seen, digest: string | undefined, target: string | undefined): Entry {
  const { kind, mode, mtimeNs } = seen;
  return {
    kind,
    mode,
    mtimeNs,
    size: kind === 'file' ? seen.size : 0,
    ...(digest === undefined ? {} : { digest }),
    ...(target === undefined ? {} : { target }),
  };
}
