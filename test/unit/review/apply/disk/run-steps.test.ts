import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { SessionEvent } from '../../../../../src/core/types/event.ts';
import { applyChanges } from '../../../../../src/review/apply/apply-changes.ts';
import { undoApply } from '../../../../../src/review/apply/undo.ts';
import { changesBetween, memoryStore, type Tree, writeTree } from '../../../../support/apply/tree.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-steps-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('counts files, not folders and not the two steps of a file that takes the place of a folder', async () => {
  const project = path.join(root, 'project');
  const base: Tree = new Map([
    ['old', { kind: 'dir', mode: 0o755 }],
    ['old/a', { kind: 'file', text: 'a', mode: 0o644 }],
  ]);
  const session: Tree = new Map([
    ['old', { kind: 'file', text: 'now a file', mode: 0o644 }],
    ['new', { kind: 'dir', mode: 0o755 }],
    ['new/deep', { kind: 'dir', mode: 0o555 }],
    ['new/deep/one', { kind: 'file', text: 'one', mode: 0o644 }],
    ['new/two', { kind: 'file', text: 'two', mode: 0o644 }],
  ]);
  mkdirSync(project);
  writeTree(project, base);
  const store = memoryStore();
  const counts: string[] = [];
  const tell = (event: SessionEvent): void => {
    if (event.kind === 'progress' && event.done !== undefined)
      counts.push(`${event.what} ${event.done} of ${event.total} ${event.unit}`);
  };
  const common = { project, sessionDir: path.join(root, 'session'), store, tell, dryRun: false };
  const chosen = (await changesBetween(base, session, store)).map((change) => ({ change }));
  await applyChanges({
    ...common,
    choice: { decided: true, discard: false, chosen, left: [], folders: [] },
    conflict: 'keep',
    audit: () => [],
    acceptMerge: async () => false,
  });
  // old/a, old, new/deep/one and new/two.
  expect(new Set(counts.splice(0))).toEqual(new Set([0, 1, 2, 3, 4].map((done) => `Applying ${done} of 4 files`)));
  await undoApply(common);
  expect(counts.at(-1)).toBe('Undoing 4 of 4 files');
});
