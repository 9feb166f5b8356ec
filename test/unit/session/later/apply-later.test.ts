import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readRecord, updateRecord, writeCollected } from '../../../../src/record/session.ts';
import { applySession } from '../../../../src/session/end/apply-session.ts';
import { endSession } from '../../../../src/session/end/end-session.ts';
import { reviewOf } from '../../../../src/session/end/frozen-review.ts';
import { type ApplyPendingOptions, applyPending, finishApply } from '../../../../src/session/later/apply.ts';
import type { RelPath } from '../../../../src/text/path.ts';
import type { Change } from '../../../../src/types/entry.ts';
import type { Finding } from '../../../../src/types/finding.ts';
import { dir, file, layApply, type Sides } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-later-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const WAYS: ApplyPendingOptions = { filter: { only: [], skip: [] }, conflict: 'ask', dryRun: false, yes: false };

/** A collected session that nobody decided about, with no terminal; the un-ignored paths by their pattern. */
async function lay(name: string, sides: Sides, unignored: Readonly<Record<string, string>> = {}) {
  const scene = await layApply(path.join(root, name, 'project'), path.join(root, name, 'state'), sides);
  const changes = scene.changes.map((change) => {
    const pattern = unignored[change.path];
    return pattern === undefined ? change : { ...change, ignored: true, unignored: pattern };
  });
  writeCollected(scene.sessionDir, { version: 1, changes, findings: [], problems: [], withheld: [], baseEntries: 9 });
  const plan = { sessionId: '1', sessionDir: scene.sessionDir, project: { root: scene.project } };
  const first = sessionRecord({ stage: 'pending', plan });
  const said: string[] = [];
  const interruption = { signal: new AbortController().signal, by: () => undefined };
  const tell = (event: { readonly text?: string }): void => void said.push(event.text ?? '');
  const deps = { host: {}, tell, screen: undefined, interruption } as unknown as Parameters<typeof applyPending>[1];
  const again = async (ways: Partial<ApplyPendingOptions>): Promise<number> => {
    const record = readRecord(scene.sessionDir) ?? first;
    return (await applyPending(record, deps, { ...WAYS, ...ways })).status;
  };
  const finish = () => finishApply(readRecord(scene.sessionDir) ?? first, deps);
  return { ...scene, first, deps, again, finish, said };
}

it('files that the session un-ignores need an answer and stay pending, also where nothing else is left', async () => {
  const base = { '.gitignore': file('vim/\n') };
  const session = { '.gitignore': file('\n'), vim: dir, 'vim/one': file('1\n') };
  const { again, now, sessionDir } = await lay('unignored', { base, session }, { vim: 'vim', 'vim/one': 'vim' });
  expect(await again({ yes: true })).toBe(121);
  expect(now()).toEqual({ '.gitignore': file('\n') });
  // Nobody is there to be asked: nothing is decided.
  expect(await again({})).toBe(120);
  expect(readRecord(sessionDir)?.stage).toBe('pending');
  expect(await again({ yes: true, release: ['vim'] })).toBe(0);
  expect(now()).toEqual(session);
  expect(await again({})).toBe(0);
});

it('names a glob of --only that matches no pending change', async () => {
  const { again, said } = await lay('misspelt', { base: {}, session: { 'src/a': file('a\n') } });
  await again({ filter: { only: ['scr/a', 'src/a'], skip: [] }, dryRun: true });
  expect(said.filter((text) => text.includes('matches'))).toEqual(['No pending change matches --only scr/a']);
});

it('a path that contains a line end does not start a new line of output', async () => {
  const name = 'x\n[sandbox] Applied 9 of 9 files.';
  const sides = { base: {}, session: { [name]: file('a\n') }, host: { [name]: file('b\n') } };
  const { again, said } = await lay('lines', sides);
  expect(await again({ yes: true })).toBe(122);
  expect(said.filter((text) => text.startsWith('conflict: '))).toEqual([
    'conflict: x\\n[sandbox] Applied 9 of 9 files. (created on the host too, with other content)',
  ]);
});

it('an apply of single hunks that was killed before the record was written keeps the rest pending', async () => {
  const [base, session] = [{ f: file('a\nb\nc\nd\n') }, { f: file('A\nb\nc\nD\n') }];
  const { again, finish, apply, changes, choice, now, sessionDir } = await lay('killed', { base, session });
  const chosen = changes.map((change) => ({ change, content: Buffer.from('A\nb\nc\nd\n') }));
  expect(await apply({ choice: { ...choice, chosen } })).toEqual({ f: 'applied: in part' });
  // The journal has its end, the record nothing of it yet.
  expect(readRecord(sessionDir)).toBeUndefined();
  const record = await finish();
  expect(record.stage).toBe('pending');
  expect(record.outcome?.changes).toEqual([{ path: 'f', verdict: 'applied', why: 'in part' }]);
  expect(await finish()).toEqual(record);
  expect(await again({ yes: true })).toBe(0);
  expect(now()).toEqual(session);
  expect(readRecord(sessionDir)?.stage).toBe('applied');
  expect((await finish()).outcome?.changes).toEqual([{ path: 'f', verdict: 'applied' }]);
});

it('a dry run ends with the status that the apply would have, also for what stays in .git', async () => {
  const config: Change = {
    path: '.git/config' as RelPath,
    kind: 'modified',
    inGit: true,
    before: { kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest: 'a'.repeat(64) },
    after: { kind: 'file', mode: 0o644, size: 1, mtimeNs: '2', digest: 'b'.repeat(64) },
  };
  const found: Finding = { rule: 'git-config', severity: 'suspect', path: config.path, title: 'Key', why: 'It runs.' };
  for (const [name, findings, status] of [
    ['dry-suspect', [found], 121],
    ['dry-note', [{ ...found, severity: 'note' }], 0],
  ] as const) {
    const { again, sessionDir, changes, now } = await lay(name, { base: {}, session: { a: file('1\n') } });
    const collected = { version: 1, problems: [], withheld: [], baseEntries: 9 } as const;
    writeCollected(sessionDir, { ...collected, changes: [...changes, config], findings: [...findings] });
    expect(await again({ dryRun: true }), name).toBe(status);
    expect(now()).toEqual({});
    expect(await again({ yes: true }), name).toBe(status);
    expect(now()).toEqual({ a: file('1\n') });
  }
});

it('counts what another terminal applied while the user was asked, whatever is answered here', async () => {
  const sides = { base: {}, session: { a: file('1\n'), b: file('2\n'), c: file('3\n') } };
  for (const [name, answer, stage, text] of [
    ['since-none', 'n', 'pending', 'Session 1: 2 files were applied since by another command.'],
    ['since-discard', 'd', 'discarded', 'Session 1: 2 files were applied since by another command.'],
    ['since-chosen', 'c', 'applied', 'applied: a (was applied since by another command)'],
  ] as const) {
    const { first, sessionDir, changes, deps, said, now } = await lay(name, sides);
    const seen = updateRecord(first, {});
    const other = { ...WAYS, filter: { only: ['a', 'b'], skip: [] }, yes: true };
    expect((await applyPending(seen, deps, other)).status).toBe(0);
    said.length = 0;
    // This terminal read the record before, and its user chose c alone, nothing, or to discard.
    const review = reviewOf(seen);
    const left = changes.filter(({ path: at }) => at !== 'c').map(({ path: at }) => skippedOutcome(at));
    const chosen = answer === 'c' ? changes.filter(({ path: at }) => at === 'c').map((change) => ({ change })) : [];
    const choice = { decided: answer !== 'n', discard: answer === 'd', chosen, folders: [], left };
    const end = { record: seen, review, choice, agent: { status: 0, stopReason: undefined } };
    if (answer === 'c') {
      const { record, outcome } = await applySession(seen, choice, deps, WAYS);
      await endSession({ ...end, record, outcome }, deps);
    } else await endSession(end, deps);
    expect(said, name).toContain(text);
    expect(said.join(), name).not.toContain('not selected');
    const record = readRecord(sessionDir);
    expect([
      record?.stage,
      record?.outcome?.changes.filter(({ verdict }) => verdict === 'applied' || verdict === 'same'),
    ]).toMatchObject([stage, [{ path: 'a' }, { path: 'b' }, ...(answer === 'c' ? [{ path: 'c' }] : [])]]);
    expect(Object.keys(now())).toEqual(answer === 'c' ? ['a', 'b', 'c'] : ['a', 'b']);
  }
});

const skippedOutcome = (path: RelPath) => ({ path, verdict: 'skipped', why: 'not selected' }) as const;
