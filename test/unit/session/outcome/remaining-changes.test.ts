import { expect, it } from 'vitest';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { ApplyOutcome, ChangeVerdict, CollectedRecord } from '../../../../src/core/types/session.ts';
import { CHANGED_SINCE } from '../../../../src/review/choices/file-progress.ts';
import { outcomeAfterResume, outcomeAfterUndo } from '../../../../src/session/end/outcome-after.ts';
import { withoutApplied } from '../../../../src/session/outcome/remaining-changes.ts';

const change = (path: string, digest: string | undefined): Change =>
  ({
    path,
    kind: digest === undefined ? 'deleted' : 'modified',
    ...(digest && { after: { kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest } }),
  }) as unknown as Change;
const collected = (files: Record<string, string | undefined>): CollectedRecord => ({
  version: 1,
  changes: Object.entries(files).map(([path, digest]) => change(path, digest)),
  findings: Object.keys(files).map((path) => ({ rule: 'r', severity: 'note', path, title: 't', why: 'w' }) as never),
  problems: [],
  withheld: [],
  baseEntries: 9,
  claude: {
    changes: ['plans/a.md', 'plans/b.md'].map((path) => ({ path }) as never),
    findings: ['~/.claude/plans/a.md', '~/.claude/plans/b.md'].map((path) => ({ path }) as never),
    attempts: [],
    dropped: {},
  },
});
const outcome = (verdicts: Record<string, ChangeVerdict>): ApplyOutcome => ({
  at: '2026-11-21T14:03:00.000Z',
  changes: Object.entries(verdicts).map(([path, verdict]) => ({ path, verdict }) as never),
});
const verdicts = (all: ApplyOutcome | undefined) => all?.changes.map(({ path, verdict, why }) => [path, verdict, why]);

it('omits applied changes with their findings, and Claude data that was brought back', () => {
  const back = { ...outcome({}), claude: [{ path: 'plans/a.md', verdict: 'applied' as const }] };
  const left = withoutApplied(collected({ a: '1', b: '2' }), new Set(['a']), back);
  expect(left.changes.map(({ path }) => path)).toEqual(['b']);
  expect(left.findings.map(({ path }) => path)).toEqual(['b']);
  expect(left.claude?.changes.map(({ path }) => path)).toEqual(['plans/b.md']);
  expect(left.claude?.findings.map(({ path }) => path)).toEqual(['~/.claude/plans/b.md']);
});

it('contains what a resumed session changed since the apply', () => {
  const before = collected({ a: '1', b: '2', gone: '3', cut: '4' });
  const now = collected({ a: '1', b: 'other', cut: undefined });
  const kept = outcomeAfterResume(outcome({ a: 'applied', b: 'applied', cut: 'same', gone: 'applied' }), before, now);
  expect(verdicts(kept)).toEqual([
    ['a', 'applied', undefined],
    ['b', 'skipped', CHANGED_SINCE],
    ['cut', 'skipped', CHANGED_SINCE],
    ['gone', 'applied', undefined],
  ]);
});

it('contains undone changes after an undo, and not those that are still applied', () => {
  const all = outcome({ a: 'applied', b: 'applied', c: 'suspect' });
  const undone = outcomeAfterUndo(all, outcome({ a: 'applied', b: 'conflict' }));
  expect(verdicts(undone)).toEqual([
    ['a', 'skipped', 'undone'],
    ['b', 'applied', undefined],
    ['c', 'suspect', undefined],
  ]);
});
