import { RunClaudeError } from '../../core/errors.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Change, ContentReader } from '../../core/types/entry.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Finding } from '../../core/types/finding.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';
import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import type { BoundGit } from '../../core/types/session.ts';
import { releaseRef } from '../base/generations/generation-refs.ts';
import { openGenerationFiles, referToNewest } from '../base/generations/newest-files.ts';
import { gitLimits } from '../scan/git/git-limits.ts';
import { type BindChanges, listBindChanges } from './changes.ts';
import { compareRepositories, type GitDifference } from './compare.ts';
import { earlierSources } from './earlier-content.ts';
import type { TakeEarlyScan } from './early-scan.ts';
import { markMasked } from './masks/mark-masked.ts';
import type { MaskGuard } from './masks/mask-guard.ts';
import { readMaskRecord, writtenMaskLines } from './masks/mask-record.ts';
import { type BindMasks, maskedPaths, NO_MASKS, openMasks } from './masks/open-masks.ts';
import { excludeInGit, findProjectSecrets } from './masks/project-secrets.ts';
import { restoreDifference } from './restore.ts';
import { scanProject } from './scan-project.ts';
import { sessionGit, shieldGit } from './shield-git.ts';
import { type BindSnapshot, bindStore, skipShielded, takeSnapshot } from './snapshot.ts';

export type { MaskGuard } from './masks/mask-guard.ts';

/** A bind session's view of the project, from before the start until after the exit. */
export interface BindSession {
  /** For the agent's container; the order matters. */
  readonly mounts: readonly Mount[];
  readonly snapshot: BindSnapshot;
  /** Watches what is masked; undefined where nothing is to be. */
  readonly guard: MaskGuard | undefined;
  /** The project's files that hold secrets, and the decoys in the masked ones. */
  readonly secrets: { readonly files: readonly SecretFile[]; readonly decoys: readonly Decoy[] };
  /** For the record. */
  readonly bound?: BoundGit;
}

export interface OpenBindOptions {
  readonly plan: Plan;
  readonly tell: Tell;
  /** Whether a tool may run a file of this name. */
  readonly isWatched: (path: string) => boolean;
  /** A scan of the project that the command began with. */
  readonly earlyScan?: TakeEarlyScan | undefined;
  /** Decides whether to start without masks, where they cannot be watched; `why` is what openMasks throws. */
  readonly mayUnmask: (why: RunClaudeError) => Promise<boolean>;
}

/**
 * Shields `.git`, takes the snapshot, covers what is masked, and reports what bind mode does not protect. Throws as
 * shieldGit and openMasks do.
 */
export async function openBind({ plan, tell, isWatched, earlyScan, mayUnmask }: OpenBindOptions): Promise<BindSession> {
  const { root } = plan.project;
  const git = shieldGit(plan);
  const isShielded = git.mounts.length > 0;
  const generation = await referToNewest(plan.baseDir, plan);
  const base =
    generation === undefined ? undefined : { generation, files: openGenerationFiles(plan.baseDir, generation) };
  const scan = await earlyScan?.(isShielded);
  const snapshot = await takeSnapshot({ root, sessionDir: plan.sessionDir, isShielded, isWatched, base, scan });
  for (const text of startLines(isShielded, snapshot, git.dropped)) tell({ kind: 'message', level: 'info', text });
  for (const text of gitLimits(root)) tell({ kind: 'message', level: 'warning', text });
  const workspace: Mount = { kind: 'bind', source: root, target: '/workspace', readonly: false };
  const { files: found } = scan?.secrets ?? findProjectSecrets(root, snapshot.entries, plan.policy);
  const { mounts: masks, guard, decoys, secrets: files } = await masksOf(plan, snapshot, found, mayUnmask);
  if (masks.length > 0 && isShielded) {
    const gitDir = sessionGit(plan.sessionDir);
    markMasked(gitDir, maskedPaths(plan, readMaskRecord(plan.sessionDir)));
    excludeInGit(
      gitDir,
      root,
      files.flatMap(({ path, state }) => (state === 'masked' ? [path] : [])),
    );
  }
  return {
    mounts: [workspace, ...git.mounts, ...masks],
    snapshot,
    guard,
    secrets: { files, decoys },
    ...(git.bound && { bound: git.bound }),
  };
}

async function masksOf(
  plan: Plan,
  { entries }: BindSnapshot,
  secrets: readonly SecretFile[],
  mayUnmask: OpenBindOptions['mayUnmask'],
): Promise<BindMasks & { readonly secrets: readonly SecretFile[] }> {
  try {
    return { ...openMasks(plan, entries, secrets), secrets };
  } catch (error) {
    if (!(error instanceof RunClaudeError) || error.code !== 'MASK_UNWATCHED' || !(await mayUnmask(error))) throw error;
    const shown = secrets.map((one): SecretFile => (one.state === 'masked' ? { ...one, state: 'unmasked' } : one));
    return { ...NO_MASKS, secrets: shown };
  }
}

function startLines(isShielded: boolean, snapshot: BindSnapshot, dropped: readonly string[]): string[] {
  const nested = [...snapshot.repositories];
  return [
    ...(isShielded ? [] : ['this project has no .git of its own: run no git in it until the session has ended']),
    ...(nested.length === 0 ? [] : [`nested repositories are not shielded, run no git there: ${nested.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`not shown to the agent from .git/config: ${dropped.join(', ')}`]),
  ];
}

export interface CloseBindOptions {
  readonly plan: Plan;
  readonly snapshot: BindSnapshot;
  readonly tell: Tell;
  /** Asks whether the differences may be restored. Undefined where there is no terminal: they are restored. */
  readonly ask: ((differences: readonly GitDifference[]) => Promise<boolean>) | undefined;
  /** The audit's rules over the changes; content by digest from the session's store. */
  readonly audit: (changes: readonly Change[], content: ContentReader) => Promise<readonly Finding[]>;
}

export interface BindOutcome {
  /** Number of differences that were restored, moved to quarantine or are lost: with any, the exit status is 121. */
  readonly heldBack: number;
  readonly changes: readonly Change[];
  /** Changes that the ignore rules from before the session match, counted. */
  readonly ignored: BindChanges['ignored'];
  readonly findings: readonly Finding[];
}

/**
 * After the agent's end: restores what git might execute, or moves it to quarantine, and audits all other changes.
 * Precondition: the session's container has ended, so that no agent writes to the project.
 */
export async function closeBind(options: CloseBindOptions): Promise<BindOutcome> {
  const { plan, snapshot, tell } = options;
  const { sessionDir } = plan;
  const { root } = plan.project;
  const isShielded = plan.project.git === 'directory' || plan.project.git === 'file';
  const now = scanProject(root, skipShielded(isShielded));
  const differences = compareRepositories(snapshot, now);
  const restore = differences.length === 0 || options.ask === undefined || (await options.ask(differences));
  let heldBack = 0;
  for (const difference of differences) {
    if (!restore && difference.kind !== 'lost') continue;
    const restoring = restoreDifference(difference, { root, sessionDir, before: snapshot });
    // A failure must not leave the other differences in place.
    const text = await restoring.catch((error: Error) => `${difference.path}: NOT restored: ${error.message}`);
    tell({ kind: 'finding', severity: 'blocked', text });
    heldBack += 1;
  }
  const final = heldBack === 0 ? now : scanProject(root, skipShielded(isShielded));
  const sources = earlierSources(snapshot, plan.baseDir);
  const masks = readMaskRecord(sessionDir);
  const { changes, ignored } = await listBindChanges({
    root,
    before: snapshot,
    now: final,
    sessionDir,
    sources,
    pathFolders: plan.project.pathFolders ?? [],
    isMasked: maskedPaths(plan, masks),
  });
  for (const text of writtenMaskLines(masks)) tell({ kind: 'message', level: 'info', text });
  const findings = await options.audit(changes, bindStore(sessionDir));
  // All that is shown is in the session's store now.
  releaseRef(plan.baseDir, plan.sessionId);
  return { heldBack, changes, ignored, findings };
}
