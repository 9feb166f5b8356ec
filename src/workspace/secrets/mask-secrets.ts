import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CopiedValues } from '../../core/secrets/copied-values.ts';
import { type Decoy, deriveDecoy } from '../../core/secrets/decoy.ts';
import { secretKind } from '../../core/secrets/kinds.ts';
import { maskedBytes } from '../../core/secrets/masked-bytes.ts';
import { writeFileAtomic } from '../../core/store/record.ts';
import { nameOfPath, parentPath } from '../../core/text/path.ts';
import { IgnorePatterns } from '../../core/text/patterns/ignore-patterns.ts';
import type { SecretFile, SecretValue } from '../../core/types/secret/secret-file.ts';
import { readAsWalked } from '../scan/git/git-files.ts';
import { packRows, type Row, rowNamed, rowsOf } from '../scan/packed-directory.ts';
import { type GitPaths, gitPathsOnDisk } from '../scan/project-ignores.ts';
import { rowAt, type Snapshot } from '../scan/snapshot.ts';
import { fsPath, type WalkedTree } from '../scan/walk.ts';
import { type FoundSecrets, findSecrets, SECRETS_VERSION } from './find-secrets.ts';
import { MAX_NAMED_BYTES, valuesOf } from './search.ts';

/** What a session wants of the secrets of a project. */
export interface SecretRules {
  readonly project: string;
  /** Of the base: the key of its decoys is there. */
  readonly dir: string;
  /** Patterns of files that the agent may read as they are. */
  readonly unmask: readonly string[];
  /** Where the caller has it: it reads each file of git's once. */
  readonly git?: GitPaths | undefined;
}

/** The secrets of a walked tree. */
export interface TreeSecrets {
  readonly found: FoundSecrets;
  readonly files: readonly SecretFile[];
  /** Of the files that were rewritten so far, by path. */
  readonly decoys: ReadonlyMap<string, readonly Decoy[]>;
}

/** A walked tree in which the files with secrets that git does not hold are rewritten. */
export interface MaskedTree extends WalkedTree {
  readonly secrets: TreeSecrets;
}

const EXCLUDE = '.git/info/exclude';

/**
 * The walked tree with decoys in place of the secrets of files that git does not track. A masked file is rewritten like a
 * configuration of git's. `known`: an earlier scan; what is unchanged since then is not read.
 */
export function maskSecrets(
  walked: WalkedTree,
  { project, dir, unmask, git = gitPathsOnDisk(project) }: SecretRules,
  known: { readonly snapshot: Snapshot; readonly found: FoundSecrets | undefined } | undefined,
): MaskedTree {
  const { isIgnored } = git;
  const found = findSecrets(walked, { known, isTracked: git.isTracked, isIgnored });
  const read = (one: string): Buffer => {
    const row = rowAt(walked.snapshot, one);
    return row === undefined ? NOTHING : readAsWalked(fsPath(walked.sourceOf(one)), row);
  };
  const files = secretFiles(found, git, unmask, read);
  const masked = new Set(files.flatMap(({ path, state }) => (state === 'masked' ? [path] : [])));
  const decoys = new Map<string, readonly Decoy[]>();
  const secrets: TreeSecrets = { found, files, decoys };
  let copied: CopiedValues | undefined;
  const copiedValues = (): CopiedValues => {
    copied ??= valuesOfAll(sourcesOf(found, masked), read);
    return copied;
  };
  if (masked.size === 0) return { ...walked, secrets };
  // What `git add -A` inside would commit.
  const exposed = [...masked].filter((path) => !path.includes('.git/') && !isIgnored(path));
  const excludeLines = exposed.map(excludeLine);
  const isExcluding = excludeLines.length > 0 && rowNamed(walked.snapshot.get('.git/info'), 'exclude')?.kind === 'f';
  const rewritten = isExcluding ? [...masked, EXCLUDE] : [...masked];
  return {
    ...walked,
    secrets,
    snapshot: withRewritten(walked.snapshot, rewritten, numberOf([...excludeLines, ...masked])),
    rewrite(entry, bytes) {
      if (isExcluding && entry === EXCLUDE)
        return { bytes: Buffer.concat([bytes, Buffer.from(`\n${excludeLines.join('\n')}\n`)]), dropped: [] };
      if (!masked.has(entry)) return walked.rewrite(entry, bytes);
      const made = withDecoys(decoyKey(dir), entry, bytes, copiedValues());
      decoys.set(entry, made.decoys);
      return { bytes: made.bytes, dropped: [] };
    },
  };
}

/** What the agent has in place of each file with a secret. `read` throws for what cannot be read. */
export function secretFiles(
  { files }: FoundSecrets,
  git: GitPaths,
  unmask: readonly string[],
  read: (path: string) => Buffer,
): SecretFile[] {
  const stateOf = stateRules(git, unmask);
  let asked = 0;
  return files.map(({ path, reason, isNamed, of }) => {
    const state = stateOf(path, isNamed);
    // The user shows the same elsewhere.
    const isShown = state !== 'tracked' && of !== undefined && !of.some((one) => stateOf(one, true) === 'masked');
    if (isShown) return { path, reason, state: 'unmasked' };
    if ((state !== 'tracked' && state !== 'masked') || asked >= MAX_ASKED_OF_GIT) return { path, reason, state };
    asked += 1;
    try {
      return { path, reason, state, isInGit: git.hasContent(path, read(path)) };
    } catch {
      return { path, reason, state };
    }
  });
}

/** So many files are compared with the objects of git. */
const MAX_ASKED_OF_GIT = 200;

/** The masked files whose secrets are replaced in other masked files too. */
export function sourcesOf({ files }: FoundSecrets, masked: ReadonlySet<string>): readonly string[] {
  return files.flatMap(({ path, of }) => (of === undefined && masked.has(path) ? [path] : []));
}

/** The secrets of these files, without those that cannot be read: they are empty inside. */
export function valuesOfAll(paths: readonly string[], read: (path: string) => Buffer): CopiedValues {
  return new CopiedValues(
    paths.flatMap((path) => {
      try {
        const bytes = read(path);
        return bytes.length > MAX_NAMED_BYTES ? [] : valuesOf(path, bytes);
      } catch {
        return [];
      }
    }),
  );
}

/**
 * The bytes that stand for a masked file, with the decoys in them. A secret of another masked file has the decoy that it
 * has there. Where a secret is written in a way that cannot be replaced, the file is empty. Pure.
 */
export function withDecoys(
  key: Buffer,
  path: string,
  bytes: Buffer,
  copied: CopiedValues,
): { readonly bytes: Buffer; readonly decoys: readonly Decoy[] } {
  const decoys: Decoy[] = [];
  const isSource = secretKind(path) !== undefined;
  const decoyFor = ({ name, value }: SecretValue): string => {
    const place = { path, ...(name === undefined ? {} : { name }) };
    const decoy = deriveDecoy(key, (isSource ? undefined : copied.sourceOf(value)) ?? place, value);
    decoys.push({ ...place, value: decoy });
    return decoy;
  };
  const replaced = maskedBytes(path, bytes.length > MAX_NAMED_BYTES ? NOTHING : bytes, decoyFor, true);
  const first = replaced ?? bytes;
  const whole = copied.replaceIn(first, ({ value, ...place }) => deriveDecoy(key, place, value));
  const isReplaced = replaced !== undefined || whole !== first;
  return { bytes: isReplaced && bytes.length <= MAX_NAMED_BYTES ? (whole ?? NOTHING) : NOTHING, decoys };
}

/** What the copy has in place of a file with a secret. */
function stateRules(
  { isTracked, isIgnored }: GitPaths,
  unmask: readonly string[],
): (path: string, isNamed: boolean) => SecretFile['state'] {
  const shown = new IgnorePatterns({ lines: unmask, ignoreCase: false });
  return (path, isNamed) => {
    if (isTracked(path)) return 'tracked';
    if (shown.ignores(path, false)) return 'unmasked';
    return isNamed || isIgnored(path) ? 'masked' : 'by-content';
  };
}

export const KEY_BYTES = 32;

/** The key from which the decoys of a base follow. Made with the first of them, in the base's directory on the host. */
function decoyKey(baseDir: string): Buffer {
  const file = path.join(baseDir, 'decoy-key');
  const found = existsSync(file) ? readFileSync(file) : undefined;
  if (found?.length === KEY_BYTES) return found;
  const key = randomBytes(KEY_BYTES);
  writeFileAtomic(file, key);
  return key;
}

const NOTHING = Buffer.alloc(0);

/** A line of an ignore file that matches one path alone. */
export const excludeLine = (path: string): string => `/${path.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`;

/** The snapshot in which these files are rewritten. Their rows have a number in place of the count of their links. */
function withRewritten(snapshot: Snapshot, paths: readonly string[], nlink: number): Snapshot {
  const byDirectory = new Map<string, Set<string>>();
  for (const path of paths) {
    const names = byDirectory.get(parentPath(path)) ?? new Set<string>();
    byDirectory.set(parentPath(path), names.add(nameOfPath(path)));
  }
  const changed = new Map(snapshot);
  for (const [dir, names] of byDirectory) {
    const rows = [...rowsOf(snapshot.get(dir))];
    changed.set(dir, packRows(rows.map((row): Row => (names.has(row.name) ? { ...row, kind: 'g', nlink } : row))));
  }
  return changed;
}

function numberOf(lines: readonly string[]): number {
  const text = JSON.stringify([SECRETS_VERSION, ...lines]);
  return createHash('sha256').update(text).digest().readUInt32BE() + 2;
}
