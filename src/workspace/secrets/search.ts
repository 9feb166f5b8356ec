import { createHash } from 'node:crypto';
import { isInDotGit } from '../../core/git/names.ts';
import { CopiedValues } from '../../core/secrets/copied-values.ts';
import { isSecretFolder, isSecretHint, secretKind } from '../../core/secrets/kinds.ts';
import { maskedBytes } from '../../core/secrets/masked-bytes.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';
import type { SecretValue } from '../../core/types/secret/secret-file.ts';

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
/** In one scan, this many files of other names are searched, and this many bytes of the small and of the large ones. */
const MAX_SEARCHED_FILES = 500;
const MAX_SEARCHED_BYTES = 4 << 20;
/** Larger files are searched after the others: most settings are smaller. */
const LARGE_BYTES = 64 << 10;
/** The largest file that is searched. Larger ones are counted as not searched, in each scan. */
const MAX_LARGE_BYTES = MAX_NAMED_BYTES;
/** What package managers and builds bring: it is large, and no secret of the user's. */
const NOT_SEARCHED =
  /(?:^|\/)(?:node_modules|bower_components|site-packages|vendor|target|\.venv|venv|\.tox|\.cache|__pycache__|\.gradle|\.m2|\.cargo|\.pnpm-store|\.yarn|Pods|DerivedData)(?:\/|$)/;
const NO_TEXT =
  /\.(?:png|jpe?g|gif|webp|ico|svgz|pdf|zip|bz2|xz|zst|7z|jar|war|class|o|a|so|dylib|dll|exe|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|pyc|pack|idx)$/i;

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
  /** Whether an ignore rule matches a path that no index has. */
  readonly isIgnored: (path: string) => boolean;
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
    const isSearched = place.isSearched && !NO_TEXT.test(name);
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
    if (this.#candidates.length + this.#others.length === 0) return { files, unsearched };
    const sources = this.#readSources(this.#sources);
    const [own, rest]: [Candidate<File>[], Candidate<File>[]] = [[], []];
    const budgets = [new Budget(), new Budget()] as const;
    for (const one of this.#candidates.toSorted(smallFirst)) {
      if (isTracked(one.path)) continue;
      const isSearched = (isLarge(one) ? budgets[1] : budgets[0]).take(one.size);
      const found = isSearched ? this.#searched(one, sources) : this.#copyOf(one, sources);
      if (found !== undefined) files.push(found);
      else if (isSearched) rest.push(one);
      else unsearched.push(one.path);
      if (found !== undefined && found.of === undefined && this.#isMasked(found)) own.push(one);
    }
    for (const one of this.#others) {
      const found = isTracked(one.path) ? undefined : this.#copyOf(one, sources);
      if (found !== undefined) files.push(found);
    }
    if (own.length === 0) return { files, unsearched };
    // What has its secrets under an ordinary name is known only now.
    const others = this.#readSources(own);
    for (const one of rest) {
      const bytes = this.#bytesOf(one);
      const found = bytes === undefined ? undefined : copiedIn(one.path, bytes, others);
      if (found !== undefined) files.push(found);
    }
    return { files, unsearched };
  }

  #isMasked({ path, isNamed }: FoundSecret): boolean {
    return isNamed || this.#options.isIgnored(path);
  }

  /** A file that is not searched, where all of it is the same as a file with secrets. */
  #copyOf(one: Candidate<File>, sources: Sources): FoundSecret | undefined {
    const bytes = sources.sizes.has(one.size) ? this.#bytesOf(one) : undefined;
    const of = bytes === undefined ? undefined : sources.wholes.get(digestOf(bytes));
    const { path } = one;
    return of === undefined ? undefined : { path, reason: `the same as ${of}`, isNamed: true, of: [of] };
  }

  #searched(one: Candidate<File>, sources: Sources): FoundSecret | undefined {
    const { path } = one;
    const bytes = this.#bytesOf(one);
    if (bytes === undefined) return undefined;
    const copied = copiedIn(path, bytes, sources);
    if (copied !== undefined) return copied;
    const kind = kindOfContent(bytes);
    if (kind !== undefined) return { path, reason: kind, isNamed: true };
    if (maskedBytes(path, bytes, () => '') !== undefined)
      return { path, reason: 'a token or key in it', isNamed: false };
    // Of two questions, the second is asked of the few files that have such values.
    const isPrivate = maskedBytes(path, bytes, () => '', true) !== undefined && this.#options.isIgnored(path);
    return isPrivate ? { path, reason: 'a value that is named as a secret', isNamed: false } : undefined;
  }

  #readSources(candidates: readonly Candidate<File>[]): Sources {
    const values: Decoy[] = [];
    const wholes = new Map<string, string>();
    for (const one of candidates) {
      const bytes = one.size > MAX_NAMED_BYTES ? undefined : this.#bytesOf(one);
      if (bytes === undefined) continue;
      wholes.set(digestOf(bytes), one.path);
      for (const value of valuesOf(one.path, bytes)) values.push(value);
    }
    return { values: new CopiedValues(values), wholes, sizes: new Set(candidates.map(({ size }) => size)) };
  }

  /** Undefined where it cannot be read: its copy meets the same error, and reports it. */
  #bytesOf({ path, file }: Candidate<File>): Buffer | undefined {
    try {
      return this.#options.read(path, file);
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

/** Whether a file is a copy of one of the sources, or has one of their secrets. */
function copiedIn(path: string, bytes: Buffer, { wholes, values }: Sources): FoundSecret | undefined {
  const whole = wholes.get(digestOf(bytes));
  if (whole !== undefined) return { path, reason: `the same as ${whole}`, isNamed: true, of: [whole] };
  const of = values.sourcesIn(bytes);
  return of.length === 0 ? undefined : { path, reason: `a secret of ${of[0]} in it`, isNamed: false, of };
}

/** What one scan may search. */
class Budget {
  #bytes = 0;
  #files = 0;

  /** Whether a file of this size is searched: always the first one, so that a later scan comes to its end. */
  take(size: number): boolean {
    const isFirst = this.#files === 0;
    if (size > MAX_LARGE_BYTES || this.#files >= MAX_SEARCHED_FILES) return false;
    if (!isFirst && this.#bytes + size > MAX_SEARCHED_BYTES) return false;
    this.#bytes += size;
    this.#files += 1;
    return true;
  }
}

const isLarge = ({ size }: { readonly size: number }): boolean => size > LARGE_BYTES;
const smallFirst = (one: { readonly size: number }, other: { readonly size: number }): number =>
  isLarge(one) || isLarge(other) ? one.size - other.size : 0;

interface Sources {
  readonly values: CopiedValues;
  /** Paths by the digest of the whole content. */
  readonly wholes: ReadonlyMap<string, string>;
  readonly sizes: ReadonlySet<number>;
}

/** A file that is a key and nothing else, whatever its name is. Nobody writes such a file by hand. */
function kindOfContent(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, MAX_START);
  if (KEY.test(start)) return 'private key';
  return start.includes('"private_key"') && ACCOUNT.test(start) ? 'cloud credentials' : undefined;
}

const MAX_START = 4096;
const KEY =
  /^(?:\xef\xbb\xbf)?\s*(?:-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-)/;
const ACCOUNT = /"type"\s*:\s*"service_account"/;

/** The secrets of a file. */
export function valuesOf(path: string, bytes: Buffer): readonly Decoy[] {
  const values: Decoy[] = [];
  const keep = ({ name, value }: SecretValue): string => {
    values.push({ path, ...(name === undefined ? {} : { name }), value });
    return '';
  };
  maskedBytes(path, bytes, keep, true);
  return values;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
