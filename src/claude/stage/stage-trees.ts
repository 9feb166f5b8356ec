import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Staging } from './staged.ts';

const FILE_MAX = 4 << 20;
const TREE_MAX = 64 << 20;
const ENTRIES_MAX = 20_000;
/** A clone's own repository is of no use inside, and node's caches are rebuilt. */
const LEFT_OUT = new Set(['.git', '.trash', '.staging', '.DS_Store']);

export interface TreeCopy {
  /** Directory on the host. */
  readonly from: string;
  /** Path under /home/agent. */
  readonly to: string;
  /** How a person knows it. */
  readonly shown: string;
  /** Changes a file's text on the way in. */
  readonly rewrite?: (path: string, content: Buffer) => Buffer;
}

/**
 * Copies a tree of the person's own into the session. Links are followed only where they stay within the tree; what
 * leads out of it, is no plain file, is too large or can't be read is left out and named.
 */
export async function stageTree(staging: Staging, copy: TreeCopy): Promise<void> {
  const top = await realpath(copy.from).catch(() => undefined);
  if (top === undefined) return;
  if (top !== join(await realpath(join(copy.from, '..')), copy.from.split(sep).at(-1) ?? '')) {
    staging.note(`${copy.shown} is a link: not brought along`);
    return;
  }
  const walk = new TreeWalk(staging, copy, top);
  await walk.into(top, copy.to, new Set());
  if (walk.leftOut.length === 0) return;
  const more = walk.leftOut.length > 5 ? ` and ${walk.leftOut.length - 5} more` : '';
  staging.note(`${copy.shown}: not brought along: ${walk.leftOut.slice(0, 5).join(', ')}${more}`);
}

class TreeWalk {
  readonly leftOut: string[] = [];
  readonly #staging: Staging;
  readonly #copy: TreeCopy;
  readonly #top: string;
  #bytes = 0;
  #count = 0;

  constructor(staging: Staging, copy: TreeCopy, top: string) {
    this.#staging = staging;
    this.#copy = copy;
    this.#top = top;
  }

  async into(from: string, to: string, above: ReadonlySet<string>): Promise<void> {
    let names: Dirent[];
    try {
      names = await readdir(from, { withFileTypes: true });
    } catch {
      this.leftOut.push(`${this.#name(to)} (unreadable)`);
      return;
    }
    this.#staging.dir(to);
    for (const { name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (LEFT_OUT.has(name)) continue;
      this.#count += 1;
      if (this.#count > ENTRIES_MAX) {
        this.leftOut.push('what follows the first 20,000 entries');
        return;
      }
      await this.#one(join(from, name), `${to}/${name}`, above);
    }
  }

  async #one(from: string, to: string, above: ReadonlySet<string>): Promise<void> {
    const real = await realpath(from).catch(() => undefined);
    if (real === undefined || !real.startsWith(this.#top + sep)) {
      this.leftOut.push(`${this.#name(to)} (a link that leads elsewhere)`);
      return;
    }
    const facts = await stat(real);
    if (facts.isDirectory()) {
      if (above.has(real)) this.leftOut.push(`${this.#name(to)} (a link in a circle)`);
      else await this.into(real, to, new Set([...above, real]));
      return;
    }
    if (!facts.isFile() || facts.size > FILE_MAX || this.#bytes + facts.size > TREE_MAX) {
      this.leftOut.push(`${this.#name(to)} (${facts.isFile() ? 'too large' : 'not a plain file'})`);
      return;
    }
    const content = await readFile(real).catch(() => undefined);
    if (content === undefined) {
      this.leftOut.push(`${this.#name(to)} (unreadable)`);
      return;
    }
    this.#bytes += content.length;
    const rewritten = this.#copy.rewrite?.(to, content) ?? content;
    this.#staging.file(to, rewritten, { executable: (facts.mode & 0o100) !== 0 });
  }

  #name(to: string): string {
    return to.slice(this.#copy.to.length + 1);
  }
}
