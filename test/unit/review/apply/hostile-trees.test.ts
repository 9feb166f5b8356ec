import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { ChosenChange } from '../../../../src/core/types/review.ts';
import { applyChanges } from '../../../../src/review/apply/apply-changes.ts';
import { undoApply } from '../../../../src/review/apply/undo.ts';
import { expectLinear } from '../../../support/expect-linear.ts';
import { type HostileTree, hostileTree } from '../../../support/hostile-trees.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-hostile-apply-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Conflict = 'keep' | 'file' | 'theirs';

/** A project as it was before the session, and the session's choice of everything. */
class Applied {
  readonly #scene = mkdtempSync(path.join(root, 'scene-'));
  readonly #tree: HostileTree;
  readonly project = path.join(this.#scene, 'project');

  constructor(tree: HostileTree, edit: (project: string, tree: HostileTree) => void) {
    this.#tree = tree;
    mkdirSync(path.join(this.#scene, 'session'), { recursive: true });
    mkdirSync(this.project);
    for (const { path: name, before } of tree.changes) {
      if (before?.kind !== 'file' || before.digest === undefined) continue;
      mkdirSync(path.dirname(path.join(this.project, name)), { recursive: true });
      writeFileSync(path.join(this.project, name), tree.content(before.digest) ?? '', { mode: before.mode });
    }
    edit(this.project, tree);
  }

  #common() {
    const sessionDir = path.join(this.#scene, 'session');
    const store = openContentStore(path.join(sessionDir, 'store'));
    return { project: this.project, sessionDir, store, tell: () => undefined, dryRun: false };
  }

  async fillStore(): Promise<void> {
    const { store } = this.#common();
    for (const { after } of this.#tree.changes) {
      const content = after?.digest === undefined ? undefined : this.#tree.content(after.digest);
      if (content !== undefined) await store.put([content]);
    }
  }

  async apply(conflict: Conflict): Promise<readonly string[]> {
    const chosen = this.#tree.changes.map((change): ChosenChange => ({ change }));
    const choice = { decided: true, discard: false, chosen, left: [], folders: [] };
    const { changes } = await applyChanges({
      ...this.#common(),
      choice,
      conflict,
      audit: () => [],
      acceptMerge: async () => true,
    });
    return changes.map(({ verdict }) => verdict);
  }

  async undo(): Promise<void> {
    await undoApply(this.#common());
  }
}

/** What the user did in the project in the meantime. */
const EDITS: Readonly<Record<string, (project: string, tree: HostileTree) => void>> = {
  nothing: () => undefined,
  'a file at each new path': (project, { changes }) => {
    for (const { path: name, before, after } of changes)
      if (before === undefined && after?.kind === 'file') {
        // Below a file that the session replaced by a folder.
        if (existsSync(path.join(project, name.split('/')[0] ?? '')) && name.includes('/')) continue;
        mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
        writeFileSync(path.join(project, name), 'of the user\n');
      }
  },
  'a file in place of each folder': (project, { changes }) => {
    for (const { path: name, after } of changes)
      if (after?.kind === 'dir' && !name.includes('/')) {
        rmSync(path.join(project, name), { force: true });
        writeFileSync(path.join(project, name), 'of the user\n');
      }
  },
};

const SHAPES = [
  'many files in one folder',
  'many files in a deep folder',
  'many names that differ in case',
  'many files that became folders',
  'many deleted and new files',
];

describe.each(SHAPES)('applying %s', (shape) => {
  it.each<[string, Conflict]>([
    ['nothing', 'keep'],
    ['a file at each new path', 'file'],
    ['a file in place of each folder', 'keep'],
  ])('takes steps that grow with it, after %s by the user, by the rule %s', async (edit, conflict) => {
    const scenes: Applied[] = [];
    const verdicts = new Set<string>();
    await expectLinear(
      async (n) => {
        const scene = new Applied(hostileTree(shape, n), EDITS[edit] as (typeof EDITS)[string]);
        await scene.fillStore();
        scenes.push(scene);
        return scene;
      },
      async (scene) => {
        for (const verdict of await scene.apply(conflict)) verdicts.add(verdict);
        if (verdicts.has('applied') && edit === 'nothing') await scene.undo();
      },
      { n: 48, times: 2 },
    );
    if (edit === 'nothing') expect([...verdicts]).toEqual(['applied']);
  });
});
