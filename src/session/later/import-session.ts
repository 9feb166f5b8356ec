import { rmSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { freeDiskMb } from '../../core/host/facts.ts';
import { openContentStore } from '../../core/store/content.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { Plan, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { CollectedRecord, SessionRecord } from '../../core/types/session.ts';
import { openCommitBase } from '../../review/changeset/commit-base.ts';
import type { Origin } from '../../review/changeset/format.ts';
import { compareWithOwn, type OwnBase } from '../../review/changeset/own-base.ts';
import { openProjectBase } from '../../review/changeset/project-base.ts';
import { type ChangeSet, openChangeSet } from '../../review/changeset/read-set.ts';
import { auditCollected, auditResult, nowNs } from '../end/audit-collected.ts';
import { planImport } from '../plan/plan-import.ts';
import { createRecord, reserveSession, storeDir, updateRecord, writeCollected } from '../record/session.ts';
import type { UserDeps } from '../stage/deps.ts';

export interface ImportRequest {
  readonly file: string;
  readonly project: ProjectFacts;
  /** The importer's own; nothing of the exporter's is known. */
  readonly policy: Policy;
  /** `--commit`: compare with this commit instead of the project as it is now. */
  readonly commit: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export interface Imported {
  readonly record: SessionRecord;
  readonly origin: Origin;
  /** Paths that the session began with other content than the importer has. */
  readonly differing: readonly RelPath[];
}

const RESERVE_MB = 256;

/**
 * `import`: makes a pending session of the importer's project from a change set. Only its entries and bytes are taken:
 * what is before each change comes from the importer's project, and the audit runs with the importer's policy. A file
 * that is refused leaves nothing behind.
 *
 * @throws {RunClaudeError} CHANGE_SET_REFUSED; USAGE for a project that no session may have; DISK_FULL; what the audit
 * throws.
 */
export async function importSession(request: ImportRequest, deps: UserDeps): Promise<Imported> {
  const { project, policy } = request;
  using set = openChangeSet(request.file);
  const { host } = deps;
  requireRoom(set, host.stateDir);
  // Everything that can be refused is, before there is a session.
  planImport({ sessionId: '', policy, host, project });
  const { id, dir } = reserveSession(host.stateDir, Date.now());
  const plan = planImport({ sessionId: id, policy, host, project });
  try {
    // A command that is killed from here on leaves a session that failed, which gc removes.
    const failure = { code: 'START_INTERRUPTED', message: 'run-claude ended before the changes were imported' };
    const record = updateRecord(createRecord(plan), { stage: 'failed', failure });
    return await fill(record, set, request, deps);
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

async function fill(record: SessionRecord, set: ChangeSet, request: ImportRequest, deps: UserDeps): Promise<Imported> {
  const { plan } = record;
  const { manifest } = set;
  const signal = deps.interruption.next();
  const store = openContentStore(storeDir(plan.sessionDir));
  for (const { pieces } of set.contents()) {
    signal.throwIfAborted();
    await store.put(pieces);
  }
  using own = await openOwn(
    request,
    plan,
    manifest.changes.map(({ path: one }) => one),
    signal,
  );
  const { changes, differing } = await compareWithOwn(manifest.changes, own, { store, rules: request.policy });
  await store.flush();
  using judge = own.openJudge(storeDir(plan.sessionDir), changes);
  const findings = await auditCollected({ changes }, judge, plan, { signal, tell: deps.tell });
  const problems = changes.flatMap(({ path: one, problem }) =>
    problem === undefined ? [] : [{ path: one, why: problem }],
  );
  const collected: CollectedRecord = {
    version: 1,
    changes,
    problems,
    withheld: [],
    baseEntries: own.count,
    ...auditResult(findings, nowNs()),
  };
  writeCollected(plan.sessionDir, collected);
  rmSync(path.join(plan.sessionDir, 'own-entries'), { force: true });
  const { session, tool, exported } = manifest.origin;
  const imported = { session, tool, exported };
  return {
    record: updateRecord(record, { stage: 'pending', failure: undefined, imported, owner: undefined }),
    origin: imported,
    differing,
  };
}

async function openOwn(
  { project, policy, commit, env }: ImportRequest,
  { sessionDir }: Plan,
  paths: readonly RelPath[],
  signal: AbortSignal,
): Promise<OwnBase & Disposable> {
  if (commit === undefined) return openProjectBase({ project, rules: policy, sessionDir, signal });
  return { ...(await openCommitBase(project.root, commit, paths, env)), [Symbol.dispose]: () => undefined };
}

/** Contents of both sides have to fit. */
function requireRoom({ manifest }: ChangeSet, stateDir: string): void {
  const bytes = manifest.changes.reduce((sum, { before, after }) => sum + (before?.size ?? 0) + (after?.size ?? 0), 0);
  const neededMb = Math.ceil(bytes / 2 ** 20) + RESERVE_MB;
  const freeMb = freeDiskMb(stateDir);
  if (neededMb <= freeMb) return;
  throw new RunClaudeError('DISK_FULL', `the change set needs up to ${neededMb} MiB, and ${freeMb} MiB are free`, {
    hint: 'Remove what no session needs with: run-claude gc',
  });
}
