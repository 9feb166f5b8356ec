import { createHash } from 'node:crypto';
import type { PlaceEntry } from '../../../engines/engine/place.ts';

/** The entries of the home, and notes for the user about what was left out. */
export class Staging {
  readonly #entries = new Map<string, PlaceEntry>();
  readonly notes: string[] = [];

  /**
   * Adds a file (0600, or 0700 when executable) and its parents (0700). Replaces an entry of the same path. `mtimeMs`: the
   * modification time, where Claude reads it.
   */
  file(path: string, content: string | Buffer, more: { executable?: boolean; mtimeMs?: number } = {}): void {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) this.dir(parts.slice(0, depth).join('/'));
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const { executable = false, ...time } = more;
    this.#entries.set(path, { path, mode: executable ? 0o700 : 0o600, content: bytes, ...time });
  }

  dir(path: string): void {
    if (!this.#entries.has(path)) this.#entries.set(path, { path, mode: 0o700, content: 'directory' });
  }

  /** Adds a link, which exists inside the container only. */
  link(path: string, target: string): void {
    this.#entries.set(path, { path, mode: 0o777, content: { link: target } });
  }

  note(text: string): void {
    this.notes.push(text);
  }

  /** For the session's home, relative to /home/agent; parents before children. */
  entries(): PlaceEntry[] {
    return [...this.#entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The size and digest of each staged file, to find later what the session changed. */
  baseline(): Record<string, StagedFile> {
    const files: Record<string, StagedFile> = {};
    for (const { path, content } of this.#entries.values())
      if (content instanceof Uint8Array)
        files[path] = { size: content.length, digest: createHash('sha256').update(content).digest('hex') };
    return files;
  }
}

/** A staged file in the session's record. */
export interface StagedFile {
  readonly size: number;
  readonly digest: string;
  /** Of a file of settings: a digest of what in it is not a plain preference. */
  readonly acting?: string | undefined;
}
