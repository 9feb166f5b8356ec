import { createHash } from 'node:crypto';
import { isInDotGit } from '../../core/git/names.ts';
import { CopiedValues } from '../../core/secrets/copied-values.ts';
import { isSecretFolder, isSecretHint, secretKind } from '../../core/secrets/kinds.ts';
import { maskedBytes } from '../../core/secrets/masked-bytes.ts';
import type { Decoy } from '../../core/types/decoy.ts';

/** A file that holds a secret, whether git tracks it or not. */
export interface FoundSecret {
  readonly path: string;
  readonly reason: string;
  /** Its name or place says so, or it is a copy of such a file; not its content alone. */
  readonly isNamed: boolean;
  /** Of a file with secrets of other files: those files. */
  readonly of?: readonly string[];
}

/** A file of a secret kind that is larger is not read: its copy is empty. */
export const MAX_NAMED_BYTES = 8 << 20;
/** Files of other names are searched up to this size, and this many bytes and files of them in one scan. */
const MAX_SEARCHED_BYTES = 64 << 10;
const MAX_SEARCHED_BYTES_OF_ALL = 4 << 20;
const MAX_SEARCHED_FILES = 500;
/** What package managers and builds bring: it is large, and no secret of the user's. */
const NOT_SEARCHED =
  /(?:^|\/)(?:node_modules|bower_components|site-packages|vendor|target|\.venv|venv|\.tox|\.cache|__pycache__|\.gradle|\.m2|\.cargo|\.pnpm-store|\.yarn|Pods|DerivedData)(?:\/|$)/;
const NO_TEXT =
  /\.(?:png|jpe?g|gif|webp|ico|svgz|pdf|zip|bz2|xz|zst|7z|jar|war|class|o|a|so|dylib|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|pyc|pack|idx|db|sqlite3?)$/i;

/** A directory, with what need not be asked for each of its files. */
export interface Place {
  readonly dir: string;
  /** '' or with a '/' at its end. */
  readonly prefix: string;
  readonly isSecretFolder: boolean;
  readonly isSearched: boolean;
}

export function placeOf(dir: string): Place {
  const prefix = dir === '' ? '' : `${dir}/`;
  const isSearched = !isInDotGit(dir) && !NOT_SEARCHED.test(prefix);
  return { dir, prefix, isSecretFolder: isSecretFolder(prefix), isSearched };
}

export interface SearchOptions<File> {
  /** Whether an index of git has a path. */
  readonly isTracked: (path: string) => boolean;
  /** Throws for what cannot be read. */
  readonly read: (path: string, file: File) => Buffer;
}

interface Candidate<File> {
  readonly path: string;
  readonly size: number;
  readonly file: File;
}

/** Judges the files of one scan: by name at once, by content when all are known, and within limits. */
export class Search<File extends { readonly name: string; readonly size: number }> {
  readonly #options: SearchOptions<File>;
  readonly #named: FoundSecret[] = [];
  readonly #sources: Candidate<File>[] = [];
  readonly #candidates: Candidate<File>[] = [];
  /** Compared with the named ones alone. */
  readonly #others: Candidate<File>[] = [];

  constructor(options: SearchOptions<File>) {
    this.#options = options;
  }

  /** Whether a file was found by its name. */
  get hasNamed(): boolean {
    return this.#named.length > 0;
  }

  /** `isOld`: its name was judged before, and only its content may have to be. */
  take(place: Place, file: File, isOld: boolean): void {
    const { name, size } = file;
    if (size === 0) return;
    const path = place.prefix + name;
    const kind = place.isSecretFolder || isSecretHint(name) ? secretKind(path) : undefined;
    if (kind !== undefined) {
      if (isOld || (size <= MAX_NAMED_BYTES && !this.#holdsSecret(path, file))) return;
      this.#named.push({ path, reason: kind.name, isNamed: true });
      this.addSource(path, file);
      return;
    }
    const isSearched = place.isSearched && size <= MAX_SEARCHED_BYTES && !NO_TEXT.test(name);
    if (isSearched) this.#candidates.push({ path, size, file });
    else if (size <= MAX_NAMED_BYTES) this.#others.push({ path, size, file });
  }

  /** A file with secrets that git does not have: other files may have copies of them. */
  addSource(path: string, file: File): void {
    if (!this.#options.isTracked(path)) this.#sources.push({ path, size: file.size, file });
  }

  /** What was found, and the paths of files that the limits left out. */
  finish(): { readonly files: readonly FoundSecret[]; readonly unsearched: readonly string[] } {
    const files = [...this.#named];
    const unsearched: string[] = [];
    const { isTracked } = this.#options;
    let [bytes, count] = [0, 0];
    const sources = this.#candidates.length + this.#others.length === 0 ? undefined : this.#readSources();
    for (const { path, size, file } of this.#candidates) {
      if (isTracked(path)) continue;
      if (bytes + size > MAX_SEARCHED_BYTES_OF_ALL || count >= MAX_SEARCHED_FILES) {
        unsearched.push(path);
        continue;
      }
      bytes += size;
      count += 1;
      const found = this.#searched(path, file, sources);
      if (found !== undefined) files.push(found);
    }
    for (const { path, size, file } of this.#others) {
      if (sources?.sizes.has(size) !== true || isTracked(path)) continue;
      const of = sources.wholes.get(this.#digest(path, file) ?? '');
      if (of !== undefined) files.push({ path, reason: `the same as ${of}`, isNamed: true, of: [of] });
    }
    return { files, unsearched };
  }

  #searched(path: string, file: File, sources: Sources | undefined): FoundSecret | undefined {
    let bytes: Buffer;
    try {
      bytes = this.#options.read(path, file);
    } catch {
      // The copy meets the same error, and reports it.
      return undefined;
    }
    const whole = sources?.wholes.get(digestOf(bytes));
    if (whole !== undefined) return { path, reason: `the same as ${whole}`, isNamed: true, of: [whole] };
    const of = sources?.values.sourcesIn(bytes) ?? [];
    if (of.length > 0) return { path, reason: `a secret of ${of[0]} in it`, isNamed: false, of };
    if (maskedBytes(path, bytes, () => '') === undefined) return undefined;
    return { path, reason: 'a token or key in it', isNamed: false };
  }

  #readSources(): Sources {
    const values: Decoy[] = [];
    const wholes = new Map<string, string>();
    for (const { path, size, file } of this.#sources) {
      if (size > MAX_NAMED_BYTES) continue;
      try {
        const bytes = this.#options.read(path, file);
        wholes.set(digestOf(bytes), path);
        for (const one of valuesOf(path, bytes)) values.push(one);
      } catch {
        // It is empty inside.
      }
    }
    return { values: new CopiedValues(values), wholes, sizes: new Set(this.#sources.map(({ size }) => size)) };
  }

  #digest(path: string, file: File): string | undefined {
    try {
      return digestOf(this.#options.read(path, file));
    } catch {
      return undefined;
    }
  }

  /** True where it cannot be read. */
  #holdsSecret(path: string, file: File): boolean {
    try {
      return maskedBytes(path, this.#options.read(path, file), () => '') !== undefined;
    } catch {
      return true;
    }
  }
}

interface Sources {
  readonly values: CopiedValues;
  /** Paths by the digest of the whole content. */
  readonly wholes: ReadonlyMap<string, string>;
  readonly sizes: ReadonlySet<number>;
}

/** The secrets of a file. */
export function valuesOf(path: string, bytes: Buffer): readonly Decoy[] {
  const values: Decoy[] = [];
  maskedBytes(path, bytes, ({ name, value }) => {
    values.push({ path, ...(name === undefined ? {} : { name }), value });
    return '';
  });
  return values;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
