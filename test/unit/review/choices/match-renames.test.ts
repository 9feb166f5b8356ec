import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { RenameReader, WithheldFile } from '../../../../src/core/types/change/rename.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import { matchRenames } from '../../../../src/review/choices/renames/match-renames.ts';
import { commonBytes, sketchOf } from '../../../../src/review/choices/renames/similarity.ts';
import { random } from '../../../support/apply/random-tree.ts';

const texts = new Map<string, string>();
const entry = (text: string) => {
  texts.set(`digest of ${text}`, text);
  return {
    kind: 'file',
    mode: 0o644,
    size: Buffer.byteLength(text),
    mtimeNs: '0',
    digest: `digest of ${text}`,
  } as const;
};
const gone = (name: string, text: string): Change => ({ path: name as RelPath, kind: 'deleted', before: entry(text) });
const made = (name: string, text: string): Change => ({ path: name as RelPath, kind: 'created', after: entry(text) });
const lines = (id: string, count = 10): string =>
  Array.from({ length: count }, (_, at) => `${id} has a line ${at} of its own\n`).join('');

/** Contents by path of what is withheld, and how many of them were read. */
function readerOf(withheld: Readonly<Record<string, string>>): RenameReader & { readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    frozen: async ({ digest }) => Buffer.from(texts.get(digest ?? '') ?? ''),
    digest: async ({ path: name }) => `digest of ${withheld[name]}`,
    withheld: async ({ path: name }) => {
      read.push(name);
      return Buffer.from(withheld[name] ?? '');
    },
  };
}
const files = (withheld: Readonly<Record<string, string>>): WithheldFile[] =>
  Object.entries(withheld).map(([name, text]) => ({ path: name as RelPath, kind: 'file', size: text.length }));
const found = async (changes: readonly Change[], withheld: Readonly<Record<string, string>> = {}) => {
  const { renames, uncompared } = await matchRenames(changes, files(withheld), readerOf(withheld));
  return { renames: renames.map(({ from, to, similarity }) => `${from} ${to} ${similarity}`), uncompared };
};

it('matches identical content first, then the most similar, each once, and prefers the same name', async () => {
  const changes = [
    ...[gone('a/x', lines('x')), gone('b/x', lines('x')), gone('edited', lines('e')), gone('other', lines('o'))],
    ...[
      made('c/y', lines('x')),
      made('c/x', lines('x')),
      made('new', `${lines('e', 9)}one\n`),
      made('far', lines('z')),
    ],
  ];
  expect(await found(changes)).toEqual({ renames: ['a/x c/x 100', 'b/x c/y 100', 'edited new 90'], uncompared: 0 });
});

it('finds content moved to a withheld name, edited or not, and prefers a name that can be applied', async () => {
  const changes = [
    gone('doc.txt', lines('doc')),
    gone('same', lines('s')),
    gone('seen', lines('v')),
    made('v', lines('v')),
  ];
  const withheld = { 'build/doc.txt': `${lines('doc')}more\n`, 'build/other': lines('s'), 'build/seen': lines('v') };
  expect((await found(changes, withheld)).renames).toEqual([
    `doc.txt build/doc.txt ${Math.floor((lines('doc').length * 100) / (lines('doc').length + 5))}`,
    'same build/other 100',
    'seen v 100',
  ]);
  // Licences and one-liners are alike everywhere: not under another name.
  const short = { 'node_modules/p/index.js': 'x\n', 'node_modules/p/LICENSE': `${lines('mit', 6)}${lines('own', 4)}` };
  expect((await found([gone('main.js', 'x\n'), gone('COPYING', lines('mit'))], short)).renames).toEqual([]);
});

it('finds the withheld content of a file that a link or a folder replaced, unless it is also under another name', async () => {
  const link = { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '0', target: '.local/conf.json' } as const;
  const folder = { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '0' } as const;
  const type = (name: string, text: string, after: typeof link | typeof folder): Change => ({
    path: name as RelPath,
    kind: 'type',
    before: entry(text),
    after,
  });
  const changes = [type('conf.json', lines('conf'), link), type('data', lines('data'), folder)];
  const withheld = { '.local/conf.json': lines('conf'), 'data/x.log': `${lines('data')}more\n` };
  const moved = ['conf.json .local/conf.json 100', expect.stringMatching(/^data data\/x\.log 9\d$/)];
  expect((await found(changes, withheld)).renames).toEqual(moved);
  // Content that is not withheld is not lost, the same or edited, and a deletion is still renamed to it.
  const kept = [made('conf.old', lines('conf')), made('data/main', `${lines('data')}x\n`)];
  expect((await found([...changes, ...kept], withheld)).renames).toEqual([]);
  expect((await found([...changes, ...kept, gone('gone', lines('conf'))], withheld)).renames).toEqual([
    'gone conf.old 100',
  ]);
  expect((await found(changes)).renames).toEqual([]);
});

it('limits its work on withheld files, and counts those that it did not compare', async () => {
  const withheld = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`node_modules/${at}.js`, `${lines(`f${at}`)}`.slice(0, 290)]),
  );
  const reader = readerOf(withheld);
  const deleted = [gone('src/doc.txt', lines('doc', 9))];
  const all = { ...withheld, 'build/doc.txt': `${lines('doc', 9)}more\n` };
  const result = await matchRenames(deleted, files(all), { ...reader, withheld: readerOf(all).withheld });
  expect(result.renames).toMatchObject([{ from: 'src/doc.txt', to: 'build/doc.txt' }]);
  expect(await matchRenames(deleted, files(withheld), reader)).toEqual({ renames: [], uncompared: 1_000 });
  expect(reader.read).toHaveLength(2_000);
  // Nothing deleted: nothing is read.
  expect(await matchRenames([made('x', 'x')], files(withheld), reader)).toEqual({ renames: [], uncompared: 0 });
  expect(reader.read).toHaveLength(2_000);
});

it('computes the same similarity as git', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-similarity-'));
  const next = random(5);
  try {
    for (let round = 0; round < 8; round++) {
      const old = lines(`r${round}`, 5 + next(40));
      const edited = old
        .split(/(?<=\n)/)
        .map((line) => (next(3) === 0 ? `edited ${next(1000)}\n` : line))
        .join('');
      for (const [name, text] of Object.entries({ old, edited })) writeFileSync(path.join(dir, name), text);
      const git = gitSimilarity(dir, old, edited);
      const [a, b] = [sketchOf(Buffer.from(old)), sketchOf(Buffer.from(edited))];
      const own = Math.floor((commonBytes(a, b) * 100) / Math.max(old.length, edited.length));
      expect(Math.abs(own - git), `${round}: ${own} and ${git}`).toBeLessThanOrEqual(2);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

function gitSimilarity(dir: string, old: string, edited: string): number {
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: dir, encoding: 'utf8' });
  rmSync(path.join(dir, '.git'), { recursive: true, force: true });
  git('init', '-q');
  rmSync(path.join(dir, 'edited'));
  writeFileSync(path.join(dir, 'old'), old);
  git('add', 'old');
  git('commit', '-qm', 'old');
  git('rm', '-q', 'old');
  writeFileSync(path.join(dir, 'edited'), edited);
  git('add', 'edited');
  return Number(/similarity index (\d+)%/.exec(git('diff', '--cached', '-M1%'))?.[1]);
}
