import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, WithheldGroup } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { reviewOf } from '../../../../src/session/end/frozen-review.ts';
import { finishApply } from '../../../../src/session/later/recover-project.ts';
import { type ApplyPendingOptions, applyPending } from '../../../../src/session/outcome/apply.ts';
import { applyChoice } from '../../../../src/session/outcome/apply-choice.ts';
import { endSession } from '../../../../src/session/outcome/end-session.ts';
import { openFiles } from '../../../../src/session/outcome/targets/files.ts';
import { readRecord, updateRecord, writeCollected } from '../../../../src/session/record/session.ts';
import { dir, file, layApply, type Sides } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-later-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const finding = (at: string, severity: Finding['severity']): Finding => ({
  rule: 'x',
  path: at as RelPath,
  severity,
  title: 'Title',
  why: `Why ${at}.`,
});

const WAYS: ApplyPendingOptions = { filter: { only: [], skip: [] }, conflict: 'ask', dryRun: false, yes: false };

interface Collected {
  /** The un-ignored paths by their pattern. */
  readonly patterns?: Readonly<Record<string, string>>;
  readonly findings?: readonly Finding[];
  readonly withheld?: readonly WithheldGroup[];
  /** Changes besides those of the sides. */
  readonly more?: readonly Change[];
  readonly policy?: Partial<Policy>;
}

/** A collected session that nobody decided about, with no terminal. */
async function lay(name: string, sides: Sides, collected: Collected = {}) {
  const { patterns = {}, findings = [], withheld = [], more = [], policy = {} } = collected;
  const scene = await layApply(path.join(root, name, 'project'), path.join(root, name, 'state'), sides);
  const changes = scene.changes.map((change) => {
    const pattern = patterns[change.path];
    return pattern === undefined ? change : { ...change, ignored: true, unignored: pattern };
  });
  const all = { changes: [...changes, ...more], findings, problems: [], withheld, baseEntries: 9 };
  writeCollected(scene.sessionDir, { version: 1, ...all });
  const plan = { sessionId: '1', sessionDir: scene.sessionDir, project: { root: scene.project }, policy };
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
  const { again, now, sessionDir } = await lay(
    'unignored',
    { base, session },
    { patterns: { vim: 'vim', 'vim/one': 'vim' } },
  );
  expect(await again({ yes: true })).toBe(121);
  expect(now()).toEqual({ '.gitignore': file('\n') });
  // Nobody is there to be asked: nothing is decided.
  expect(await again({})).toBe(120);
  expect(readRecord(sessionDir)?.stage).toBe('pending');
  expect(await again({ yes: true, release: ['vim'] })).toBe(0);
  expect(now()).toEqual(session);
  expect(await again({})).toBe(0);
});

it('names each glob that selects nothing, of every option that selects', async () => {
  const sides = { base: {}, session: { Makefile: file('m\n'), 'src/a': file('a\n'), vim: file('v\n') } };
  const { again, said } = await lay('misspelt', sides, {
    patterns: { vim: 'vim' },
    findings: [finding('Makefile', 'suspect')],
    withheld: [{ directory: 'node_modules', entries: 9, bytes: 9 }],
  });
  const wrong = {
    filter: { only: ['scr/a', 'src/a', 'Makefile', 'vim'], skip: ['*.txt'] },
    allowSuspect: ['src/a', 'Makefile', 'makefile'],
    release: ['node_modules/.bin/*', 'vim'],
  };
  await again({ ...wrong, dryRun: true });
  expect(said.filter((text) => text.includes('matches'))).toEqual([
    'No pending change matches --only scr/a',
    'No pending change matches --skip *.txt',
    'No pending suspect change matches --allow-suspect src/a',
    'No pending suspect change matches --allow-suspect makefile',
    'No pending change matches --include-ignored node_modules/.bin/*: what is in node_modules is not kept with the session; give the option when you start one',
  ]);
});

it('reports that there is nothing to apply, with what is withheld', async () => {
  const { again, said } = await lay(
    'unchanged',
    { base: {}, session: {} },
    { withheld: [{ directory: 'node_modules', entries: 9, bytes: 9 }] },
  );
  expect(await again({ yes: true })).toBe(0);
  expect(said).toEqual([
    'Nothing to apply: no file that can be applied was changed.',
    'withheld: node_modules (9 ignored entries, 9 B)',
  ]);
});

it.each<[string, readonly Finding[], Partial<Policy>, readonly Change[], string]>([
  ['a blocked file', [finding('a', 'blocked')], {}, [], 'left: a (blocked: Why a.)'],
  ['a suspect file', [finding('a', 'suspect')], {}, [], 'left: a (suspect: Why a.)'],
  [
    'a hook, which stays in the session',
    [finding('.git/hooks/x', 'suspect')],
    {},
    [{ path: '.git/hooks/x' as RelPath, kind: 'created', inGit: true }],
    'left: .git/hooks/x (suspect: Why .git/hooks/x.)',
  ],
  ['--fail-on', [finding('a', 'note')], { failOn: 'note' }, [], '--fail-on note: Title: a'],
])('exit status 121 has its reason in the last lines: %s', async (name, findings, policy, more, line) => {
  const sides = { base: {}, session: { a: file('a\n'), b: file('b\n') } };
  const { again, said } = await lay(`named ${name}`, sides, { findings, policy, more });
  // A dry run, on files and on a branch, and the apply have one status and one reason.
  expect(await again({ yes: true, dryRun: true })).toBe(121);
  if (!line.startsWith('left: a')) expect(said.slice(-2)).toContain(line);
  expect(await again({ yes: true })).toBe(121);
  expect(said.slice(-3)).toContain(line);
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
    const decided = { record: seen, target: openFiles(seen, deps), review, whole: review, choice };
    const end = { ...decided, agent: { status: 0, stopReason: undefined } };
    if (answer === 'c') {
      await endSession({ ...end, ...(await applyChoice(decided, deps, WAYS)) }, deps);
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
