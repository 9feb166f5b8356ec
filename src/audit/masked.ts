import { isPublishedName } from '../core/secrets/names.ts';
import { searchContents } from '../core/secrets/search-contents.ts';
import { SearchedValues } from '../core/secrets/value-search.ts';
import { visible } from '../core/text/visible.ts';
import type { Change } from '../core/types/entry.ts';
import type { Decoy, MaskedValues, SeenDecoy } from '../core/types/secret/decoy.ts';
import { DECOY_READ, DECOY_SENT, DECOY_WRITTEN, MASKED_VALUE } from './general-rules/masked.ts';
import { type Hit, hitOf } from './hit.ts';
import type { AuditInput, Scene } from './input.ts';

/** Of the base, this much is searched for a real value: what is in the rest counts as not there. */
const MAX_BASE_BYTES = 128 * 1024 * 1024;
const MAX_BASE_FILE = 8 * 1024 * 1024;

/** Output of usual builds, by its folder. */
const BUILT = /(^|\/)(dist|build|out|public|_site|www|\.next|\.nuxt|\.output|\.svelte-kit|\.vercel|storybook-static)\//;
const FIREBASE_FILE = /(^|\/)(google-services\.json|GoogleService-Info\.plist|firebase[^/]*\.json)$/i;

/** What is searched for in one audit. */
export class MaskedSearch {
  readonly #all: readonly Decoy[];
  readonly #decoys: number;
  readonly #paths: ReadonlySet<string>;
  readonly #values: SearchedValues;

  constructor({ decoys, real, paths }: MaskedValues) {
    this.#all = [...decoys, ...real];
    this.#decoys = decoys.length;
    this.#paths = new Set(paths);
    this.#values = new SearchedValues(this.#all.map(({ value }) => value));
  }

  /** Whether the changes of a file are left where they are. */
  isKept(path: string): boolean {
    return this.#paths.has(path);
  }

  /** The values in some bytes, by number. */
  inBytes(bytes: Uint8Array): ReadonlySet<number> {
    return searchContents(this.#values, bytes);
  }

  /** The findings for values: one for each value of a file. `where`: the case of the rule. */
  hitsOf(found: Iterable<number>, path: string, where?: 'message' | 'branch'): Hit[] {
    const hits = [...found].map((index): Hit => {
      const value = this.#all[index] as Decoy;
      if (index >= this.#decoys) return hitOf(MASKED_VALUE, path, { case: where, detail: nameOf(value) });
      const isBuilt = where === undefined && BUILT.test(path) && isPublic(value);
      return hitOf(DECOY_WRITTEN, path, { case: isBuilt ? 'built' : where, detail: nameOf(value) });
    });
    const seen = new Set<string>();
    return hits.filter(({ rule, detail }) => {
      const key = `${rule}\0${detail}`;
      return !seen.has(key) && seen.add(key);
    });
  }

  isReal(index: number): boolean {
    return index >= this.#decoys;
  }
}

/** Where a value is from: 'STRIPE_SECRET_KEY of .env'. */
export function nameOf({ path, name }: Pick<Decoy, 'path' | 'name'>): string {
  return name === undefined ? visible(path) : `${visible(name)} of ${visible(path)}`;
}

function isPublic({ path, name = '' }: Decoy): boolean {
  return isPublishedName(name) || FIREBASE_FILE.test(path);
}

const searches = new WeakMap<AuditInput, MaskedSearch>();
const inBases = new WeakMap<AuditInput, ReadonlySet<number>>();

function searchOf(input: AuditInput): MaskedSearch | undefined {
  const { masked } = input;
  if (masked === undefined || masked.decoys.length + masked.real.length === 0) return undefined;
  const search = searches.get(input) ?? new MaskedSearch(masked);
  searches.set(input, search);
  return search;
}

/** What a change has of the values of masked files: its name, the target of a link, its content. */
export function maskedHits(scene: Scene, change: Change): Hit[] {
  const { input } = scene;
  const search = searchOf(input);
  const { path, after, before } = change;
  if (search === undefined || after === undefined || search.isKept(path)) return [];
  const found = new Set<number>();
  if (before === undefined) for (const index of search.inBytes(encoder.encode(path))) found.add(index);
  if (after.target !== undefined) for (const index of search.inBytes(encoder.encode(after.target))) found.add(index);
  const bytes = after.digest === before?.digest ? undefined : scene.bytes(after);
  if (Buffer.isBuffer(bytes)) for (const index of search.inBytes(bytes)) found.add(index);
  if (found.size === 0) return [];
  const old = scene.bytes(before);
  if (Buffer.isBuffer(old)) for (const index of search.inBytes(old)) found.delete(index);
  if ([...found].some((index) => search.isReal(index)))
    for (const index of realInBase(input, search)) found.delete(index);
  return search.hitsOf(found, path);
}

const encoder = new TextEncoder();

/** Real values that the session could read in another file of the base. The base is searched once, and only for a finding. */
function realInBase(input: AuditInput, search: MaskedSearch): ReadonlySet<number> {
  const known = inBases.get(input);
  if (known !== undefined) return known;
  const found = new Set<number>();
  inBases.set(input, found);
  const { base } = input;
  if (base === undefined) return found;
  let searched = 0;
  for (const path of base.paths) {
    const bytes = base.read(path);
    if (bytes === undefined || bytes.length > MAX_BASE_FILE) continue;
    searched += bytes.length;
    if (searched > MAX_BASE_BYTES) break;
    for (const index of search.inBytes(bytes)) if (search.isReal(index)) found.add(index);
  }
  return found;
}

/** What the gateway saw, as findings of the masked files. */
export function seenHits(seen: readonly SeenDecoy[]): Hit[] {
  return seen.map(({ as, path, name, at, to }) => {
    if (as === 'read') return hitOf(DECOY_READ, path);
    const what = name === undefined ? '' : `${visible(name)} `;
    return hitOf(DECOY_SENT, path, { detail: `${what}to ${visible(to)} at ${at}` });
  });
}
