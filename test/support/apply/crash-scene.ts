import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openContentStore } from '../../../src/core/store/content.ts';
import type { Choice } from '../../../src/core/types/review.ts';
import { directoryIdentity } from '../../../src/review/apply/disk/host/host-path.ts';
import { changesBetween, type Tree, writeTree } from './tree.ts';

const file = (text: string, mode = 0o644) => ({ kind: 'file', text, mode }) as const;
const dir = { kind: 'dir', mode: 0o755 } as const;
const link = (target: string) => ({ kind: 'symlink', target }) as const;

/** Everything that apply can do: write, merge, create, delete, modes, links, kinds both ways, nested folders, a closed folder. */
const base: Tree = new Map<string, ReturnType<typeof file> | typeof dir | ReturnType<typeof link>>([
  ['deep', dir],
  ['deep/er', dir],
  ['deep/er/one', file('one\n')],
  ['deep/er/two', file('two\n', 0o600)],
  ['gone', dir],
  ['gone/a', file('a\n')],
  ['gone/b', file('b\n')],
  ['kind', dir],
  ['kind/x', file('x\n')],
  ['link', link('deep')],
  ['merge', file('1\n2\n3\n4\n5\n')],
  ['map.dbf', file('old\n')],
  ['map.prj', file('old\n')],
  ['map.shp', file('old\n')],
  ['mode', file('mode\n')],
  ['plain', file('plain\n')],
  ['turn', file('turn\n')],
]);
const session: Tree = new Map<
  string,
  ReturnType<typeof file> | { kind: 'dir'; mode: number } | ReturnType<typeof link>
>([
  ['closed', { kind: 'dir', mode: 0o555 }],
  ['closed/in', file('in\n')],
  ['deep', dir],
  ['deep/er', dir],
  ['deep/er/one', file('ONE\n')],
  ['deep/er/two', file('TWO\n', 0o600)],
  ['kind', file('a file now\n')],
  ['link', link('plain')],
  ['made', dir],
  ['made/new', file('new\n'.repeat(5_000), 0o755)],
  ['merge', file('1\n2\n3\n4\nFIVE\n')],
  ['map.dbf', file('new\n')],
  ['map.shp', file('new\n')],
  ['map.shx', file('new\n')],
  ['mode', file('mode\n', 0o755)],
  ['plain', file('PLAIN\n')],
  ['turn', dir],
  ['turn/ed', file('ed\n')],
]);

export interface Scene {
  readonly folder: string;
  readonly project: string;
  readonly sessionDir: string;
  readonly request: string;
}

/** The trees with a number of small files besides: changed, made and deleted ones in turn. */
function withMore(count: number): { readonly base: Tree; readonly session: Tree } {
  const [more, changed] = [new Map(base), new Map(session)];
  for (let at = 0; at < count; at++) {
    if (at % 3 !== 1) more.set(`more${at}`, file(`${at}\n`));
    if (at % 3 !== 2) changed.set(`more${at}`, file(`changed ${at}\n`));
  }
  return { base: more, session: changed };
}

const withoutLinks = (tree: Tree): Tree => new Map([...tree].filter(([, node]) => node.kind !== 'symlink'));

/**
 * As a session left it, ready to be applied; with `linked` a second name of `plain` in the project, `twin`; `more` files
 * besides those that show everything once; without `links` none that are symbolic, for disks that have none.
 */
export async function layScene(root: string, name: string, linked: boolean, more = 0, links = true): Promise<Scene> {
  const folder = path.join(root, name);
  const scene = {
    folder,
    project: path.join(folder, 'project'),
    sessionDir: path.join(folder, 's', 'sessions', '1'),
    request: path.join(folder, 'r.json'),
  };
  mkdirSync(scene.project, { recursive: true });
  const all = withMore(more);
  const trees = links ? all : { base: withoutLinks(all.base), session: withoutLinks(all.session) };
  // Edited on the host too: the result of the merge is in no session's store yet.
  writeTree(scene.project, new Map([...trees.base, ['merge', file('ONE\n2\n3\n4\n5\n')]]));
  if (linked) execFileSync('ln', [path.join(scene.project, 'plain'), path.join(scene.project, 'twin')]);
  const store = path.join(scene.sessionDir, 'store');
  const changes = await changesBetween(trees.base, trees.session, openContentStore(store));
  const choice: Choice = {
    decided: true,
    discard: false,
    chosen: changes.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  writeFileSync(scene.request, JSON.stringify({ ...scene, store, choice }));
  return scene;
}

/** For comparison, whatever the order of reading. */
export const sorted = (tree: ReadonlyMap<string, unknown>): [string, unknown][] =>
  [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

/** A copy of a scene stands for the original: its journals name the directory that it has. */
export function adopt(scene: Scene): void {
  const folder = path.join(scene.sessionDir, 'journal');
  if (!existsSync(folder)) return;
  const identity = JSON.stringify(directoryIdentity(scene.project));
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => {
        if (!line.slice(17).startsWith('{"r":"head"') || !line.endsWith('}')) return line;
        const json = line.slice(17).replace(/(?<="identity":)"[^"]*"/, identity);
        return `${createHash('sha256').update(json).digest('hex').slice(0, 16)} ${json}`;
      });
    writeFileSync(file, lines.join('\n'));
  }
}
