import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { reviewOf } from '../../../../src/session/end/frozen-review.ts';
import { decideSession } from '../../../../src/session/outcome/decide-session.ts';
import { readCollected, writeCollected } from '../../../../src/session/record/session.ts';
import type { UserDeps } from '../../../../src/session/stage/deps.ts';
import { file, layApply } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-rehearsed-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const STARTS_CURL: Finding = {
  rule: 'rehearsed-program',
  severity: 'suspect',
  path: 'a.js' as RelPath,
  title: 'Starts a program',
  why: 'It does.',
  detail: 'npm test: starts curl',
};
const UNAVAILABLE = new RunClaudeError('REHEARSAL_UNAVAILABLE', 'no observer');

interface Case {
  readonly found?: readonly Finding[];
  readonly error?: Error;
  readonly isEnd?: boolean;
  readonly strategy?: 'layers' | 'copy';
}

/** Two clean new files, decided about by the policy. */
async function decide(name: string, policy: Partial<Policy>, { found = [], error, isEnd = true, strategy }: Case = {}) {
  const session = { 'a.js': file('a\n'), 'b.js': file('b\n') };
  const { changes, sessionDir, project } = await layApply(
    path.join(root, name, 'project'),
    path.join(root, name, 's'),
    {
      base: {},
      session,
    },
  );
  writeCollected(sessionDir, { version: 1, changes, findings: [], problems: [], withheld: [], baseEntries: 9 });
  mkdirSync(path.join(sessionDir, 'layer'));
  const plan = {
    sessionId: '1',
    sessionDir,
    project: { root: project },
    policy,
    strategy: strategy ?? 'layers',
  } as const;
  const record = sessionRecord({ stage: 'pending', plan, workspace: { strategy: 'layers' } });
  const said: string[] = [];
  let runs = 0;
  const withEngine = async () => {
    runs += 1;
    if (error !== undefined) throw error;
    writeCollected(sessionDir, { ...readCollected(sessionDir), findings: found });
    return { done: { findings: found, ran: ['npm test'], gaps: [], untouched: new Set(), ms: 1 }, joined: [] };
  };
  const interruption = { signal: new AbortController().signal, by: () => undefined };
  const tell = (event: { readonly text?: string }): void => void said.push(event.text ?? '');
  const deps = { host: {}, tell, screen: undefined, interruption, withEngine } as unknown as UserDeps;
  const again = async () => ({ whole: reviewOf(record), review: reviewOf(record) });
  const decided = await decideSession({ record, reviewed: await again(), again, isEnd, isStopped: false }, deps);
  const { choice, review } = decided;
  return { runs, said, decided: choice.decided, chosen: choice.chosen.map((one) => one.change.path), review };
}

it('rehearses at the end of a session where the setting says so, and never without it', async () => {
  expect(await decide('off', { autoApply: true })).toMatchObject({ runs: 0, chosen: ['a.js', 'b.js'] });
  expect(await decide('ask', { autoApply: true, rehearse: 'ask' })).toMatchObject({
    runs: 0,
    chosen: ['a.js', 'b.js'],
  });
  const later = await decide('later', { autoApply: true, rehearse: 'always' }, { isEnd: false });
  expect(later).toMatchObject({ runs: 0 });
  const always = await decide('always', { autoApply: true, rehearse: 'always' });
  expect(always).toMatchObject({ runs: 1, chosen: ['a.js', 'b.js'] });
});

it('applies nothing by itself where a rehearsal found something: another file may take part', async () => {
  const { chosen, decided, review, said } = await decide(
    'found',
    { autoApply: true, rehearse: 'always' },
    { found: [STARTS_CURL] },
  );
  expect([decided, chosen]).toEqual([true, []]);
  // The review that is decided about has what was found.
  expect(review.items.map(({ state }) => state)).toEqual(['suspect', 'clean']);
  expect(said.join('\n')).toContain('Starts a program: a.js: npm test: starts curl');
});

it('applies what is clean where a rehearsal only says what it did not start', async () => {
  const note: Finding = { ...STARTS_CURL, rule: 'rehearsed-not-started', severity: 'note' };
  const { chosen } = await decide('note', { autoApply: true, rehearse: 'always' }, { found: [note] });
  expect(chosen).toEqual(['a.js', 'b.js']);
});

it('applies nothing by itself where the rehearsal failed or cannot be, and says so', async () => {
  const failed = await decide('failed', { autoApply: true, rehearse: 'always' }, { error: UNAVAILABLE });
  expect(failed).toMatchObject({ decided: false, chosen: [] });
  expect(failed.said.join('\n')).toContain('The changes were not rehearsed: no observer.');
  const without = await decide('without', { autoApply: true, rehearse: 'always' }, { strategy: 'copy' });
  expect(without).toMatchObject({ runs: 0, decided: false, chosen: [] });
  expect(without.said.join('\n')).toContain('The changes were not rehearsed');
});
