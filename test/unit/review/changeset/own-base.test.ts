import { describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Entry } from '../../../../src/core/types/entry.ts';
import type { SetChange, SetEntry } from '../../../../src/review/changeset/format.ts';
import { rebaseOnHost } from '../../../../src/review/changeset/own-base.ts';

const file = (letter: string, mode = 0o644): SetEntry => ({ kind: 'file', mode, size: 1, digest: letter.repeat(64) });
const here = (entry: SetEntry, mode = entry.mode): Entry => ({ ...entry, mode, mtimeNs: '5' });
const [one, two, other] = [file('1'), file('2'), file('3')];
const folder: SetEntry = { kind: 'dir', mode: 0o755, size: 0 };
const link: SetEntry = { kind: 'symlink', mode: 0o777, size: 0, target: 'x' };
const over = (sides: Omit<SetChange, 'path'>, own?: Entry) => rebaseOnHost({ path: 'f' as RelPath, ...sides }, own);
const placed = (entry: SetEntry, mode = entry.mode): Entry => ({ ...entry, mode, mtimeNs: '0' });

describe('rebaseOnHost', () => {
  it('has the importer as the side before, where the importer has what the session began with', () => {
    expect(over({ before: one, after: two }, here(one))).toEqual({
      change: { path: 'f', kind: 'modified', before: here(one), after: placed(two) },
      differs: false,
    });
    expect(over({ before: one }, here(one)).change).toEqual({ path: 'f', kind: 'deleted', before: here(one) });
    expect(over({ before: one, after: link }, here(one)).change).toMatchObject({ kind: 'type', before: here(one) });
  });

  it('shows a change as new where the importer has other content, or nothing', () => {
    const created = { path: 'f', kind: 'created', after: placed(two) };
    expect(over({ before: one, after: two }, here(other))).toEqual({ change: created, differs: true });
    expect(over({ before: one, after: two })).toEqual({ change: created, differs: true });
    expect(over({ after: two }, here(other))).toEqual({ change: created, differs: true });
    expect(over({ after: two })).toEqual({ change: created, differs: false });
  });

  it('does not believe the side before: a forged one hides nothing', () => {
    const forged = over({ before: two, after: two }, here(one));
    expect(forged).toEqual({ change: { path: 'f', kind: 'created', after: placed(two) }, differs: true });
  });

  it('blocks the deletion of what the session did not have', () => {
    const { change, differs } = over({ before: one }, here(other));
    expect([differs, change?.before]).toEqual([true, here(other)]);
    expect(change?.problem).toMatch(/deleted other content/);
  });

  it('leaves out what the project has already', () => {
    expect(over({ before: one })).toEqual({ change: undefined, differs: false });
    expect(over({ before: one, after: two }, here(two))).toEqual({ change: undefined, differs: false });
    expect(over({ after: folder }, here(folder))).toEqual({ change: undefined, differs: false });
    expect(over({ before: one, after: one }, here(one))).toEqual({ change: undefined, differs: false });
  });

  it('keeps the bits of the importer unless the session changed them', () => {
    expect(over({ before: file('1', 0o664), after: file('2', 0o664) }, here(one)).change?.after?.mode).toBe(0o644);
    expect(over({ before: one, after: file('2', 0o755) }, here(one)).change?.after?.mode).toBe(0o755);
    expect(over({ before: one, after: file('1', 0o755) }, here(one)).change).toMatchObject({ kind: 'mode' });
  });

  it('blocks what could not be read where it was exported', () => {
    expect(over({ after: { kind: 'file', mode: 0o644, size: 1 }, unreadable: true }).change).toEqual({
      path: 'f',
      kind: 'created',
      problem: expect.stringMatching(/could not be read/),
    });
  });
});
