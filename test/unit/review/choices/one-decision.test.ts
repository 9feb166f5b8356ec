import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Node, Tree } from '../../../support/apply/tree.ts';
import { choosingRun } from '../../../support/review/choosing-run.ts';

const RUNS = process.env['RUN_CLAUDE_THOROUGH'] === undefined ? 150 : 5000;
const NAMES = ['a', 'b', 'c'];

const file = (text: string): Node => ({ kind: 'file', text, mode: 0o644 });
const dir: Node = { kind: 'dir', mode: 0o755 };

/** Up to three levels of folders. */
const filePaths = fc.uniqueArray(
  fc.array(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('/')),
  { minLength: 2, maxLength: 14 },
);

const sessions = fc.record({
  paths: filePaths,
  /** Which folders are replaced, by number, and by what. */
  replaced: fc.array(fc.tuple(fc.nat(), fc.constantFrom('link inside', 'link outside', 'file')), {
    minLength: 1,
    maxLength: 3,
  }),
  /** Files that the session moves elsewhere, edits or deletes, by number. */
  others: fc.array(fc.tuple(fc.nat(), fc.constantFrom('move', 'edit', 'delete')), { maxLength: 4 }),
  way: fc.constantFrom('auto', 'y', 's', 'only', 'skip'),
  seed: fc.nat(),
});

/** A tree of files that differ; a path that is a folder of another one is left out. */
function treeOf(paths: readonly string[]): Map<string, Node> {
  const tree = new Map<string, Node>();
  for (const one of paths) {
    if (paths.some((other) => other.startsWith(`${one}/`))) continue;
    for (let at = one.indexOf('/'); at > 0; at = one.indexOf('/', at + 1)) tree.set(one.slice(0, at), dir);
    tree.set(one, file(`${one} has a text of its own\n${`${one}\n`.repeat(8)}`));
  }
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const below = (tree: Tree, folder: string): [string, Node][] =>
  [...tree].filter(([one]) => one.startsWith(`${folder}/`));

it('replaces a folder with everything in it, or leaves both', async () => {
  const root = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'run-claude-one-decision-'));
  const seen = { applied: 0, left: 0 };
  try {
    await fc.assert(
      fc.asyncProperty(sessions, async ({ paths, replaced, others, way, seed }) => {
        const base = treeOf(paths);
        const session = new Map(base);
        const moved = new Map<string, Node>();
        for (const [number, what] of others) {
          const files = [...session].filter(([, node]) => node.kind === 'file');
          const one = files[number % Math.max(1, files.length)];
          if (one === undefined) continue;
          const [name, node] = one;
          if (what === 'edit' && node.kind === 'file') session.set(name, file(`${node.text}a line more\n`));
          else session.delete(name);
          if (what === 'move') moved.set(`moved-${name.replaceAll('/', '-')}`, node);
        }
        for (const [number, by] of replaced) {
          const folders = [...session].filter(([, node]) => node.kind === 'dir');
          const folder = folders[number % Math.max(1, folders.length)]?.[0];
          if (folder === undefined) continue;
          for (const [one] of below(session, folder)) session.delete(one);
          const target = by === 'link outside' ? '../../outside' : 'elsewhere';
          session.set(folder, by === 'file' ? file(`${folder} is a file\n`) : { kind: 'symlink', target });
        }
        for (const [name, node] of moved) session.set(name, node);
        const { now, outcome } = await choosingRun(
          {
            base,
            session,
            host: base,
            way,
            globs: ['b/**', 'a', 'c/a'],
            includeIgnored: [],
            release: [],
            conflict: 'keep',
            roll: (name, limit) => hash(`${seed} ${name}`) % limit,
          },
          path.join(root, 'run'),
        );
        for (const [folder, node] of session) {
          if (base.get(folder)?.kind !== 'dir' || node.kind === 'dir') continue;
          const story = JSON.stringify({ folder, way, outcome: outcome.changes, now: [...now.keys()] });
          if (now.get(folder)?.kind === 'dir') {
            seen.left += 1;
            expect(below(now, folder), story).toEqual(below(base, folder));
          } else {
            seen.applied += 1;
            expect(now.get(folder), story).toMatchObject(node);
          }
        }
      }),
      { numRuns: RUNS, seed: 9 },
    );
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  expect(Math.min(seen.applied, seen.left)).toBeGreaterThan(RUNS / 10);
});

/** FNV-1a. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (const char of text) sum = Math.imul(sum ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return sum;
}
