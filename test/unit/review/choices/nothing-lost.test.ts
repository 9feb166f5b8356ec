import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Node } from '../../../support/apply/tree.ts';
import { type ChoosingRun, type Chosen, choosingRun } from '../../../support/review/choosing-run.ts';
import { afterEdits, BASE, edits, idOf, isIgnored } from '../../../support/review/session-edits.ts';

const RUNS = process.env['RUN_CLAUDE_THOROUGH'] === undefined ? 400 : 20_000;
const PATHS = ['a.txt', 'b.txt', 'd/**', 'cfg', 'cfg/x', 'new/', 'moved.txt', 'out', '*.tmp', 'Makefile', 'twin1'];

const sessions = fc.record({
  edits,
  way: fc.constantFrom('auto', 'y', 's', 'only', 'skip'),
  globs: fc.array(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 2 }),
  includeIgnored: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constantFrom(['out'], ['*.tmp']) },
  ),
  release: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.constantFrom(['out'], ['*.tmp']) },
  ),
  conflict: fc.constantFrom('keep', 'theirs', 'file'),
  seed: fc.nat(),
  hostEdits: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: edits }),
});

it('leaves each path of the host as it was, as the session made it, or under its new name; else a deletion was accepted', async () => {
  const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-choosing-'));
  const seen = { renamed: 0, deleted: 0, held: 0, heldKinds: 0, kinds: 0 };
  try {
    await fc.assert(
      fc.asyncProperty(sessions, async ({ edits: all, hostEdits, seed, ...how }) => {
        const run: ChoosingRun = {
          ...how,
          base: BASE,
          session: afterEdits(BASE, all),
          host: afterEdits(BASE, hostEdits.slice(0, 2)),
          roll: (name, below) => hash(`${seed} ${name}`) % below,
        };
        const chosen = await choosingRun(run, path.join(root, 'run'));
        for (const [name, node] of run.host) if (node.kind !== 'dir') expectKept(name, node, chosen, seen);
        expectNoEmptyFolders(chosen);
      }),
      { numRuns: RUNS, seed: 21 },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  // Each kind of end was met often: a run in which nothing is applied would pass as well.
  for (const [what, count] of Object.entries(seen)) expect([what, count > RUNS / 100]).toEqual([what, true]);
});

type Seen = Record<'renamed' | 'deleted' | 'held' | 'heldKinds' | 'kinds', number>;

function expectKept(name: string, before: Node, chosen: Chosen, seen: Seen): void {
  const { run, review, choice, deleted, outcome, now } = chosen;
  const there = now.get(name);
  const verdicts = new Map<string, string>(outcome.changes.map((change) => [change.path, change.verdict]));
  const item = review.items.find(({ change }) => change.path === name);
  const story = JSON.stringify({ name, way: run.way, there, item, outcome: outcome.changes, summary: chosen.summary });
  if (same(there, before)) {
    const left = run.session.get(name);
    if (left?.kind !== before.kind && onlyHidden(before, chosen)) seen[left === undefined ? 'held' : 'heldKinds'] += 1;
    return;
  }
  if (there !== undefined && there.kind !== before.kind && !deleted.has(name) && !isElsewhere(before, chosen)) {
    // A link or a folder replaced a file: never if its content is left under a withheld name only.
    expect(onlyHidden(before, chosen) && !isListed(before, chosen), story).toBe(false);
  }
  if (there !== undefined && there.kind !== 'dir') {
    // Edited, merged or replaced: never without being applied.
    expect(verdicts.get(name), story).toBe('applied');
    expect(run.session.has(name), story).toBe(true);
    return;
  }
  const session = run.session.get(name);
  if (there?.kind === 'dir') {
    // A file that became a folder: with all that the session put into it.
    expect(session?.kind, story).toBe('dir');
    seen.kinds += 1;
    for (const { change, state } of review.items)
      if (change.path.startsWith(`${name}/`) && state !== 'withheld') {
        expect(['applied', 'same'], story).toContain(verdicts.get(change.path));
      }
    return;
  }
  // It is not there any more.
  expect(session, story).toBeUndefined();
  expect(item?.change.kind, story).toBe('deleted');
  expect(verdicts.get(name), story).toBe('applied');
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
    const folder = name.slice(0, slash);
    const replaced = run.session.get(folder);
    if (replaced === undefined || replaced.kind === 'dir') continue;
    expect(now.get(folder)?.kind, story).toBe(replaced.kind);
    seen.kinds += 1;
  }
  if (item?.renamedTo !== undefined) {
    expect(now.get(item.renamedTo), story).toBeDefined();
    expect(['applied', 'same'], story).toContain(verdicts.get(item.renamedTo));
    seen.renamed += 1;
    return;
  }
  // A deletion: counted as one, accepted, and not of what the session has under a withheld name only.
  expect(review.counts.deleted, story).toBeGreaterThan(0);
  expect(
    choice.chosen.some(({ change }) => change.path === name),
    story,
  ).toBe(true);
  if (!deleted.has(name) && !isElsewhere(before, chosen)) expect(onlyHidden(before, chosen), story).toBe(false);
  seen.deleted += 1;
}

/** By the first line, which no edit changes and which short files do not have: the session left it under withheld names alone. */
function onlyHidden(before: Node, { run }: Chosen): boolean {
  if (before.kind !== 'file' || idOf(before.text) === '') return false;
  const places = [...run.session].filter(([, node]) => hasLine(node, before)).map(([name]) => name);
  return places.length > 0 && places.every((name) => isIgnored(name) && !run.base.has(name));
}

/** The content has a name that `--include-ignored` took before the review: a change like any other, which can be left. */
function isListed(before: Node, { run, review }: Chosen): boolean {
  return review.items.some(({ change: { path: name, ignored } }) => {
    const node = run.session.get(name);
    return node !== undefined && ignored !== true && hasLine(node, before);
  });
}

function isElsewhere(before: Node, { now }: Chosen): boolean {
  return [...now.values()].some((node) => hasLine(node, before));
}

function hasLine(node: Node, before: Node): boolean {
  return node.kind === 'file' && before.kind === 'file' && idOf(node.text) === idOf(before.text);
}

/** Folders that are new on the host have something in them, unless the session made them empty. */
function expectNoEmptyFolders({ run, now, outcome }: Chosen): void {
  const failed = outcome.changes.filter(({ verdict }) => verdict === 'conflict' || verdict === 'failed');
  for (const [name, node] of now) {
    if (node.kind !== 'dir' || run.host.has(name)) continue;
    const inside = (all: Iterable<string>): boolean => [...all].some((one) => one.startsWith(`${name}/`));
    if (!inside(run.session.keys()) || inside(failed.map((one) => one.path))) continue;
    expect(inside(now.keys()), `${name} is empty: ${JSON.stringify(outcome.changes)}`).toBe(true);
  }
}

function same(a: Node | undefined, b: Node): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return (value ^ (value >>> 15)) >>> 0;
}
