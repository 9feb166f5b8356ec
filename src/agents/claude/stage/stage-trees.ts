import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Staging } from './staged.ts';

const MAX_FILE_BYTES = 4 << 20;
const MAX_TREE_BYTES = 64 << 20;
const MAX_ENTRIES = 20_000;
/** Repositories of clones, and files of file managers and installers: of no use inside. */
const LEFT_OUT = new Set(['.git', '.trash', '.staging', '.DS_Store']);

export interface TreeCopy {
  /** Directory on the host. */
  readonly from: string;
  /** Path under /home/agent. */
  readonly to: string;
  /** Its path in messages. */
  readonly shown: string;
  /** Changes the content of a file while it is staged. */
  readonly rewrite?: (path: string, content: Buffer) => Buffer;
}

/**
 * Copies a tree of the user's into the session. Follows links within the tree. Links that lead out of it, special files,
 * and files that are too large or cannot be read are left out, with a note.
 */
export async function stageTree(staging: Staging, copy: TreeCopy): Promise<void> {
  const top = await realpath(copy.from).catch(() => undefined);
  if (top === undefined) return;
  if (top !== join(await realpath(join(copy.from, '..')), copy.from.split(sep).at(-1) ?? '')) {
    staging.note(`${copy.shown} was not staged: it is a link`);
    return;
  }
  const walk = new TreeWalk(staging, copy, top);
  await walk.into(top, copy.to, new Set());
  if (walk.leftOut.length === 0) return;
  const more = walk.leftOut.length > 5 ? ` and ${walk.leftOut.length - 5} more` : '';
  staging.note(`${copy.shown}: not staged: ${walk.leftOut.slice(0, 5).join(', ')}${more}`);
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
      if (this.#count > MAX_ENTRIES) {
        this.leftOut.push('everything after the first 20,000 entries');
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
      if (above.has(real)) this.leftOut.push(`${this.#name(to)} (a circular link)`);
      else await this.into(real, to, new Set([...above, real]));
      return;
    }
    if (!facts.isFile() || facts.size > MAX_FILE_BYTES || this.#bytes + facts.size > MAX_TREE_BYTES) {
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
