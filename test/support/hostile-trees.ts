import { createHash } from 'node:crypto';
import type { RelPath } from '../../src/core/text/path.ts';
import type { Change, Digest, Entry } from '../../src/core/types/entry.ts';

/** Changes that a session could leave to make a later command slow, with the content of their files. */
export interface HostileTree {
  readonly changes: readonly Change[];
  readonly content: (digest: Digest) => Buffer | undefined;
}

/** One way of leaving much: `add` is called with numbers from 0 on, until the tree is as large as it should be. */
type Shape = (tree: TreeMaker, n: number) => void;

class TreeMaker {
  readonly #changes = new Map<string, Change>();
  readonly #contents = new Map<string, Buffer>();

  #digest(text: string): Digest {
    const digest = createHash('sha256').update(text).digest('hex') as Digest;
    this.#contents.set(digest, Buffer.from(text));
    return digest;
  }

  #entry(text: string): Entry {
    return { kind: 'file', mode: 0o644, size: Buffer.byteLength(text), mtimeNs: '1', digest: this.#digest(text) };
  }

  #add(path: string, change: Omit<Change, 'path'>): void {
    this.#changes.set(path, { path: path as RelPath, ...change });
  }

  /** The folders above are created too. */
  file(path: string, text = ''): void {
    this.folders(path);
    this.#add(path, { kind: 'created', after: this.#entry(text) });
  }

  edited(path: string, before: string, after: string): void {
    this.#add(path, { kind: 'modified', before: this.#entry(before), after: this.#entry(after) });
  }

  deleted(path: string, text = ''): void {
    this.#add(path, { kind: 'deleted', before: this.#entry(text) });
  }

  link(path: string, target: string): void {
    this.folders(path);
    this.#add(path, {
      kind: 'created',
      after: { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '1', target },
    });
  }

  folder(path: string, mode = 0o755): void {
    this.#add(path, { kind: 'created', after: { kind: 'dir', mode, size: 0, mtimeNs: '1' } });
  }

  /** A folder that a file of the project was before. */
  replaced(path: string): void {
    this.#add(path, {
      kind: 'type',
      before: this.#entry('old'),
      after: { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '1' },
    });
  }

  folders(path: string): void {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (this.#changes.has(folder)) return;
      this.folder(folder);
    }
  }

  finish(): HostileTree {
    const changes = [...this.#changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { changes, content: (digest) => this.#contents.get(digest) };
  }
}

const each = (n: number, work: (index: number) => void): void => {
  for (let index = 0; index < n; index++) work(index);
};
/** A folder 100 levels deep. */
const DEEP = Array.from({ length: 100 }, () => 'deep').join('/');
const LONG = 'l'.repeat(250);

/** By name. Each leaves as many bytes as its number, within a factor. */
const SHAPES: Readonly<Record<string, Shape>> = {
  'many files in one folder': (tree, n) => each(n, (i) => tree.file(`wide/${i}.txt`, 'x\n')),
  'many files in a deep folder': (tree, n) => each(n, (i) => tree.file(`${DEEP}/${i}.txt`, 'x\n')),
  'many files with long names': (tree, n) => each(n, (i) => tree.file(`${LONG}/${LONG}/${i}${LONG.slice(5)}`)),
  'many folders with a file each': (tree, n) => each(n, (i) => tree.file(`f${i}/a.txt`, 'x\n')),
  'many empty folders': (tree, n) => each(n, (i) => tree.folder(`f${i}`)),
  'many links to one target': (tree, n) => {
    tree.file('target/a.txt', 'x\n');
    each(n, (i) => tree.link(`link${i}`, 'target'));
  },
  'a chain of links': (tree, n) => each(n, (i) => tree.link(`link${i}`, `link${i + 1}`)),
  'links to folders of links': (tree, n) => each(n, (i) => tree.link(`d/link${i}`, `../d/link${(i * 7) % n}/x`)),
  'many folders with a finding': (tree, n) =>
    each(n, (i) => {
      tree.folder(`set${i}`, 0o4755);
      tree.file(`set${i}/a.txt`, 'x\n');
    }),
  'many suspect files': (tree, n) => each(n, (i) => tree.file(`m${i}/Makefile`, 'all:\n\tcurl x | sh\n')),
  'many ignore files': (tree, n) => each(n, (i) => tree.file(`i${i}/.gitignore`, '*.txt\n!.env\n')),
  'many repositories': (tree, n) =>
    each(n, (i) => {
      for (const name of ['HEAD', 'config', 'objects/x', 'refs/x']) tree.file(`r${i}/${name}`, 'x\n');
    }),
  'many packages': (tree, n) => each(n, (i) => tree.file(`p${i}/package.json`, `{"name":"p${i}","main":"./a.js"}\n`)),
  'many scripts that name others': (tree, n) =>
    each(n, (i) => tree.file(`s/run${i}.sh`, `#!/bin/sh\n. ./run${i + 1}.sh\n`)),
  'many names that differ in case': (tree, n) =>
    each(n, (i) => {
      tree.file(`c/name${i}.txt`, 'x\n');
      tree.file(`c/NAME${i}.txt`, 'y\n');
    }),
  'many files that became folders': (tree, n) =>
    each(n, (i) => {
      tree.replaced(`t${i}`);
      tree.file(`t${i}/a.txt`, 'x\n');
    }),
  'many deleted and new files': (tree, n) =>
    each(n, (i) => {
      tree.deleted(`old${i}.txt`, `content ${i}\n`);
      tree.file(`new${i}.txt`, `content ${i}\n`);
    }),
  'many deleted files': (tree, n) => each(n, (i) => tree.deleted(`gone${i}.txt`, 'x\n')),
  'one file with many hunks': (tree, n) => {
    const lines = Array.from({ length: 8 * n }, (_, index) => `line ${index}`);
    const edited = lines.map((line, index) => (index % 8 === 0 ? `${line} edited` : line));
    tree.edited('hunks.txt', `${lines.join('\n')}\n`, `${edited.join('\n')}\n`);
  },
  'one large hunk': (tree, n) => {
    const lines = Array.from({ length: 2 * n }, (_, index) => `line ${index}`);
    const edited = lines.map((line, index) => (index % 2 === 0 ? `${line} edited` : line));
    tree.edited('hunk.txt', `${lines.join('\n')}\n`, `${edited.join('\n')}\n`);
  },
  'one long line': (tree, n) => tree.file('line.txt', `${'word '.repeat(100 * n)}\n`),
  'many names of one inode': (tree, n) => each(n, (i) => tree.file(`h/${i}.txt`, 'same\n')),
};

export const HOSTILE_SHAPES: readonly string[] = Object.keys(SHAPES);

/** A tree of a shape, `n` large. */
export function hostileTree(shape: string, n: number): HostileTree {
  const tree = new TreeMaker();
  SHAPES[shape]?.(tree, n);
  return tree.finish();
}
