import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Change, Entry } from '../../src/core/types/entry.ts';
import type { Finding } from '../../src/core/types/finding.ts';
import type { Program } from '../../src/core/types/plan.ts';
import type { ChangeOutcome, ChangeVerdict, CollectedRecord, SessionRecord } from '../../src/core/types/session.ts';
import { sessionRecord } from './session-record.ts';

/** What a test says of one recorded session. */
export interface RecordedSession {
  readonly id: string;
  readonly stage: SessionRecord['stage'];
  readonly started: string;
  readonly mode?: 'copy' | 'bind';
  readonly project?: string;
  readonly program?: Program;
  readonly agentMs?: number;
  readonly note?: string;
  readonly failure?: SessionRecord['failure'];
  /** Created files, each with a severity where a finding has one; undefined: nothing was collected. */
  readonly files?: Readonly<Record<string, Finding['severity'] | 'clean'>>;
  readonly verdicts?: Readonly<Record<string, ChangeVerdict>>;
  readonly collected?: Partial<CollectedRecord>;
}

/** A state directory with these sessions in it, removed when the test has finished. */
export function recordSessions(sessions: readonly RecordedSession[]): string {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-sessions-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  for (const session of sessions) writeSession(state, session);
  return state;
}

function writeSession(state: string, session: RecordedSession): void {
  const { id, stage, started, mode = 'copy', project = '/p', agentMs, note, failure } = session;
  const sessionDir = path.join(state, 'sessions', id);
  mkdirSync(path.join(sessionDir, 'layer'), { recursive: true });
  const program = session.program ?? { kind: 'exec' as const, argv: ['make'] };
  const plan = { sessionId: id, mode, project: { root: project }, program, sessionDir };
  const changes = Object.entries(session.verdicts ?? {}).map(([path, verdict]) => ({ path, verdict }) as ChangeOutcome);
  const record = sessionRecord({
    stage,
    started,
    plan,
    ...(mode === 'copy' && { workspace: { strategy: 'layers' } }),
    ...(agentMs !== undefined && { agentMs }),
    ...(failure !== undefined && { failure }),
    ...(session.verdicts && { outcome: { at: started, changes } }),
  });
  write(sessionDir, 'session.json', record);
  if (note !== undefined) write(sessionDir, 'note', note);
  if (session.files === undefined) return;
  const entry: Entry = { kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest: 'd' };
  const created = Object.keys(session.files).map(
    (path) => ({ path, kind: 'created', after: entry }) as unknown as Change,
  );
  const findings = Object.entries(session.files).flatMap(([path, severity]) =>
    severity === 'clean' ? [] : [{ rule: 'r', severity, path, title: 'Title', why: 'a reason' } as unknown as Finding],
  );
  const nothing = { problems: [], withheld: [], baseEntries: 100 };
  write(sessionDir, 'manifest', { version: 1, changes: created, findings, ...nothing, ...session.collected });
}

function write(dir: string, name: string, value: unknown): void {
  writeFileSync(path.join(dir, name), JSON.stringify(value));
}
