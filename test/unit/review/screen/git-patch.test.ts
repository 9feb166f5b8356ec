import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ContentStore, openContentStore } from '../../../../src/core/store/content.ts';
import { decodeBytes, encodeBytes, type RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry, Rename } from '../../../../src/core/types/entry.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { patchOf, whyNotInPatch } from '../../../../src/review/screen/diff/git-patch.ts';
import { cleanText } from '../../../../src/terminal/clean.ts';

/** Of a file: its content, and whether it is a program. Of a link: where it leads. */
type Node = { readonly bytes: Buffer | string; readonly isProgram?: boolean } | { readonly link: string };
type Tree = Readonly<Record<string, Node>>;
const file = (bytes: Buffer | string, isProgram = false): Node => ({ bytes, isProgram });

async function entryOf(node: Node, store: ContentStore): Promise<Entry> {
  if ('link' in node) return { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '0', target: node.link };
  const { digest, size } = await store.put([Buffer.from(node.bytes)]);
  return { kind: 'file', mode: node.isProgram ? 0o755 : 0o644, size, mtimeNs: '0', digest };
}

async function changesOf(before: Tree, after: Tree, store: ContentStore): Promise<Change[]> {
  const changes: Change[] = [];
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
    const [a, b] = [before[name], after[name]];
    if (JSON.stringify(a) === JSON.stringify(b)) continue;
    const [old, made] = [a && (await entryOf(a, store)), b && (await entryOf(b, store))];
    const kind =
      old === undefined ? 'created' : made === undefined ? 'deleted' : old.kind !== made.kind ? 'type' : 'modified';
    changes.push({ path: name as RelPath, kind, ...(old && { before: old }), ...(made && { after: made }) });
  }
  return changes;
}

interface Patching {
  readonly renames?: readonly Rename[];
  readonly hash?: 'sha1' | 'sha256';
  readonly folder?: string;
}

async function patchFor(
  before: Tree,
  after: Tree,
  { renames, hash = 'sha1', folder = '' }: Patching = {},
): Promise<string> {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-patch-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const store = openContentStore(root);
  const collected = {
    changes: await changesOf(before, after, store),
    problems: [],
    withheld: [],
    baseEntries: 9,
    ...(renames && { renames }),
  };
  const { items } = buildReview({ collected, findings: [], allowSuspect: [], includeIgnored: false });
  let patch = '';
  for (const item of items.filter(({ renamedTo }) => renamedTo === undefined))
    for await (const piece of patchOf(item, { content: store, hash, folder })) patch += piece;
  return patch;
}

function write(folder: string, tree: Tree): void {
  for (const [name, node] of Object.entries(tree)) {
    const at = Buffer.concat([Buffer.from(`${folder}/`), encodeBytes(name)]);
    mkdirSync(at.subarray(0, at.lastIndexOf('/')), { recursive: true });
    if ('link' in node) symlinkSync(encodeBytes(node.link), at);
    else {
      writeFileSync(at, node.bytes);
      chmodSync(at, node.isProgram ? 0o755 : 0o644);
    }
  }
}

function read(folder: string, below = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const base = Buffer.concat([Buffer.from(`${folder}/`), encodeBytes(below)]);
  for (const name of readdirSync(base, { encoding: 'buffer' })) {
    const rel = below + decodeBytes(name);
    if (rel === '.git') continue;
    const at = Buffer.concat([Buffer.from(`${folder}/`), encodeBytes(rel)]);
    const stats = lstatSync(at);
    if (stats.isDirectory()) Object.assign(found, read(folder, `${rel}/`));
    else if (stats.isSymbolicLink()) found[rel] = { link: decodeBytes(readlinkSync(at, { encoding: 'buffer' })) };
    else found[rel] = { hex: readFileSync(at).toString('hex'), isProgram: (stats.mode & 0o100) !== 0 };
  }
  return found;
}

/** What the real git makes of a tree with a patch, and of that with the patch undone. */
function applied(
  before: Tree,
  patch: string,
  { folder = '', format }: { folder?: string; format?: string | undefined } = {},
) {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-apply-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: root, GIT_CEILING_DIRECTORIES: tmpdir() };
  if (format !== undefined) execFileSync('git', ['init', '-q', `--object-format=${format}`], { cwd: root, env });
  const cwd = path.join(root, folder);
  write(cwd, before);
  const run = (...more: string[]) =>
    execFileSync('git', ['apply', '--whitespace=nowarn', ...more], { cwd, env, input: patch });
  run();
  const forward = read(cwd);
  run('-R');
  return { forward, back: read(cwd) };
}

function treeOf(tree: Tree): Record<string, unknown> {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-tree-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  write(root, tree);
  return read(root);
}

const lines = (count: number, change = (at: number) => `${at}`) =>
  Array.from({ length: count }, (_, at) => `${change(at)}\n`).join('');
const ESCAPES = '\u001b]0;title\u0007\u001b[2Jx\r\u202e\n';
const CASES: readonly [name: string, before: Tree, after: Tree, more?: Patching][] = [
  [
    'edits in several places',
    { f: file(lines(60)) },
    { f: file(lines(60, (at) => (at % 20 === 3 ? 'new' : `${at}`))) },
  ],
  ['CRLF', { f: file('a\r\nb\r\nc\r\n') }, { f: file('a\r\nB\r\nc\r\n') }],
  ['LF to CRLF', { f: file('a\nb\n') }, { f: file('a\r\nb\r\n') }],
  ['no newline at the end, before', { f: file('a\nb') }, { f: file('a\nb\n') }],
  ['no newline at the end, after', { f: file('a\nb\n') }, { f: file('a\nb') }],
  ['no newline at the end, both', { f: file('a\nb') }, { f: file('A\nb') }],
  [
    'empty files',
    { gone: file(''), full: file(''), f: file('x\n') },
    { made: file(''), full: file('x\n'), f: file('') },
  ],
  [
    'new and deleted',
    { gone: file('a\n'), 'd/gone': file('b\n') },
    { 'e/new': file('c\n'), 'e/run': file('d\n', true) },
  ],
  ['modes', { a: file('a\n'), b: file('b\n', true) }, { a: file('a\n', true), b: file('B\n') }],
  [
    'binary',
    { a: file(Buffer.from([0, 1, 2])), gone: file(Buffer.alloc(9)) },
    { a: file(Buffer.from([0, 1, 3])), new: file(Buffer.alloc(300)) },
  ],
  ['much binary', { a: file(randomBytes(200_000)) }, { a: file(randomBytes(270_001)) }],
  [
    'binary from and to text',
    { a: file('a\n'), b: file(Buffer.alloc(70)) },
    { a: file(Buffer.alloc(70)), b: file('b\n') },
  ],
  [
    'lines that act on a terminal',
    { a: file('a\n'), gone: file(ESCAPES) },
    { a: file(`a\n${ESCAPES}`), new: file(ESCAPES) },
  ],
  ['text that is not UTF-8', { a: file(Buffer.from([0x61, 0xe9, 10])) }, { a: file(Buffer.from([0x61, 0xe8, 10])) }],
  ['links', { l: { link: 'a' }, gone: { link: 'x y' } }, { l: { link: 'b' }, new: { link: '../\u00e9' } }],
  ['a file that became a link, and back', { a: file('a\n'), b: { link: 'a' } }, { a: { link: 'c' }, b: file('b\n') }],
  [
    'a folder that became a file, and back',
    { 'a/x': file('x\n'), b: file('b\n') },
    { a: file('a\n'), 'b/y': file('y\n') },
  ],
  ['a rename', { old: file(lines(9)) }, { 'n w': file(lines(9)) }],
  [
    'a rename with edits and another mode',
    { 'a b': file(lines(9)) },
    {
      'c "d"': file(
        lines(9, (at) => (at === 4 ? 'x' : `${at}`)),
        true,
      ),
    },
    { renames: [{ from: 'a b' as RelPath, to: 'c "d"' as RelPath, similarity: 88 }] },
  ],
  [
    'odd names',
    Object.fromEntries(
      [
        'a b',
        ' lead',
        'end ',
        'q"q',
        'b\\b',
        'n\nn',
        't\tt',
        '\u00e9',
        decodeBytes(Buffer.from([0x66, 0xff])),
        '-d',
        'a/b c/d',
      ].map((name) => [name, file('a\n')]),
    ),
    Object.fromEntries(
      [
        'a b',
        ' lead',
        'end ',
        'q"q',
        'b\\b',
        'n\nn',
        't\tt',
        '\u00e9',
        decodeBytes(Buffer.from([0x66, 0xff])),
        '-d',
        'a/b c/d',
      ].map((name) => [name, file(name === 'end ' ? Buffer.alloc(5) : 'b\n', name === 'a b')]),
    ),
  ],
];

describe('a patch is what the real git apply takes, forward and back', () => {
  it.each(CASES)('%s', async (_, before, after, more = {}) => {
    const patch = await patchFor(before, after, more);
    // Nothing in it acts on a terminal. The carriage return of a line's ending does not.
    expect(cleanText(patch.replaceAll('\r\n', '\n'))).toBe(patch.replaceAll('\r\n', '\n'));
    const wanted = { forward: treeOf(after), back: treeOf(before) };
    expect(applied(before, patch)).toEqual(wanted);
    expect(applied(before, patch, { format: 'sha1' })).toEqual(wanted);
  });

  it('in a repository with SHA-256, and in a folder of a repository', async () => {
    for (const [, before, after, more] of CASES) {
      const patch = await patchFor(before, after, { ...more, hash: 'sha256', folder: 'sub/f/' });
      const wanted = { forward: treeOf(after), back: treeOf(before) };
      expect(applied(before, patch, { format: 'sha256', folder: 'sub/f' })).toEqual(wanted);
    }
  });
});

it('says what git has no form for, and never writes what is blocked or withheld', async () => {
  const entry = (kind: Entry['kind'], mode: number): Entry => ({ kind, mode, size: 0, mtimeNs: '0' });
  const change = (more: Partial<Change>): Change => ({ path: 'a' as RelPath, kind: 'mode', ...more });
  const item = (more: Partial<Change>, state: 'clean' | 'blocked' | 'withheld' = 'clean') => ({
    change: change(more),
    state,
    findings: [],
  });
  const dir = entry('dir', 0o755);
  expect(
    [
      item({ before: dir, after: entry('dir', 0o700) }),
      item({ before: entry('file', 0o644), after: entry('file', 0o600) }),
      item({ before: entry('file', 0o644), after: entry('file', 0o700) }),
      item({ kind: 'created', after: entry('file', 0o644) }, 'blocked'),
      item({ kind: 'created', after: entry('file', 0o644) }, 'withheld'),
    ].map(whyNotInPatch),
  ).toEqual([
    'git keeps no modes of folders',
    'git keeps only the executable bit',
    undefined,
    'blocked',
    'ignored by the project',
  ]);
  expect(existsSync('a')).toBe(false);
});
