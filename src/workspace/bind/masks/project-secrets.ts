import { randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { secretKind } from '../../../core/secrets/kinds.ts';
import { maskedBytes } from '../../../core/secrets/masked-bytes.ts';
import { IgnorePatterns } from '../../../core/text/patterns/ignore-patterns.ts';
import { selectPaths } from '../../../core/text/selection.ts';
import type { Policy } from '../../../core/types/policy.ts';
import type { Decoy } from '../../../core/types/secret/decoy.ts';
import type { ProjectSecrets, SecretFile } from '../../../core/types/secret/secret-file.ts';
import { gitPathsOnDisk } from '../../scan/project-ignores.ts';
import { findSecretsOf } from '../../secrets/find-secrets.ts';
import { excludeLine, KEY_BYTES, secretFiles, valuesOfAll, withDecoys } from '../../secrets/mask-secrets.ts';
import { MAX_NAMED_BYTES, valuesOf } from '../../secrets/search.ts';
import { absolutePath, type HostEntry, readRegularFile } from '../scan-project.ts';
import type { MaskedFile } from './mask-record.ts';

/** What a session wants of the secrets of a project. */
export type SecretPolicy = Pick<Policy, 'mask' | 'unmask'>;

/**
 * The files of a scanned project that hold secrets, as in a copy. Without those that `--mask` names, which are empty inside.
 * Precondition: no agent writes there now.
 */
export function findProjectSecrets(
  root: string,
  entries: ReadonlyMap<string, HostEntry>,
  { mask, unmask = [] }: SecretPolicy,
  git = gitPathsOnDisk(root),
): ProjectSecrets {
  const { masked } = selectPaths({ exclude: [], include: [], mask });
  const read = (one: string): Buffer => readAsScanned(root, one, entries.get(one));
  const found = findSecretsOf(filesIn(entries, masked), { ...git, read });
  return { files: secretFiles(found, git, unmask, read), unsearched: found.unsearched ?? [] };
}

function* filesIn(
  entries: ReadonlyMap<string, HostEntry>,
  masked: (path: string) => boolean,
): Generator<{ readonly path: string; readonly size: number }> {
  for (const [one, { kind, size }] of entries) if (kind === 'file' && !masked(one)) yield { path: one, size };
}

/** The texts with decoys that cover these secrets, as the files are now. What cannot be read is empty inside. */
export function textsWithDecoys(
  root: string,
  entries: ReadonlyMap<string, HostEntry>,
  masked: readonly string[],
): { readonly files: readonly MaskedFile[]; readonly decoys: readonly Decoy[] } {
  // Of this session alone: nothing derives them a second time.
  const key = randomBytes(KEY_BYTES);
  const decoys: Decoy[] = [];
  // Of two files with one secret, the one that is named after it has its own decoy.
  const sources = [...masked.filter(isSecretName), ...masked.filter((one) => !isSecretName(one))];
  const copied = valuesOfAll(sources, (one) => bytesOrNothing(root, one, entries.get(one)));
  const files = masked.map((one): MaskedFile => {
    const made = withDecoys(key, one, bytesOrNothing(root, one, entries.get(one)), copied);
    for (const decoy of made.decoys) decoys.push(decoy);
    return { path: one, text: made.bytes, mode: entries.get(one)?.mode ?? 0o600 };
  });
  return { files, decoys };
}

/**
 * Whether a file that is new since the start would be masked, had it been there. Reads it: the agent may have made it, so
 * no index and no ignore rule has a say. Nobody can tell who wrote a file, but a value that the agent could read before is
 * no loss: a copy of a masked file has decoys. `known`: such values.
 */
export function isNewSecret(
  root: string,
  { unmask = [] }: SecretPolicy,
  known: ReadonlySet<string>,
): (path: string) => boolean {
  const shown = new IgnorePatterns({ lines: unmask, ignoreCase: false });
  return (one) => {
    if (secretKind(one) === undefined || shown.ignores(one, false)) return false;
    const bytes = readRegularFile(root, one, MAX_NAMED_BYTES);
    if (bytes === undefined) return true;
    if (maskedBytes(one, bytes, () => '') === undefined) return false;
    const values = valuesOf(one, bytes);
    // A key store is a secret without a value that could be compared.
    return values.length === 0 || !values.every(({ value }) => known.has(value));
  };
}

/**
 * The values that the agent of a session can read from its start: decoys, variables, and the secrets of files that are as
 * they are inside.
 */
export function readableValues(
  root: string,
  entries: ReadonlyMap<string, HostEntry>,
  { secrets, decoys, env }: ReadableFrom,
): ReadonlySet<string> {
  const values = new Set([...decoys.map(({ value }) => value), ...Object.values(env)]);
  for (const { path: one, state } of secrets) {
    if (state === 'masked') continue;
    for (const { value } of valuesOf(one, bytesOrNothing(root, one, entries.get(one)))) values.add(value);
  }
  return values;
}

interface ReadableFrom {
  readonly secrets: readonly SecretFile[];
  readonly decoys: readonly Decoy[];
  readonly env: Readonly<Record<string, string>>;
}

const isSecretName = (one: string): boolean => secretKind(one) !== undefined;

/** Keeps `git add -A` inside from what only the user's care kept out of git. `gitDir`: no agent has written there. */
export function excludeInGit(gitDir: string, root: string, masked: readonly string[]): void {
  const { isIgnored } = gitPathsOnDisk(root);
  const lines = masked.filter((one) => !one.includes('.git/') && !isIgnored(one)).map(excludeLine);
  if (lines.length === 0) return;
  mkdirSync(path.join(gitDir, 'info'), { recursive: true, mode: 0o755 });
  appendFileSync(path.join(gitDir, 'info/exclude'), `\n${lines.join('\n')}\n`);
}

/** Empty for what cannot be read, or is another file than at the scan. */
export function bytesOrNothing(root: string, one: string, entry: HostEntry | undefined): Buffer {
  try {
    return readAsScanned(root, one, entry);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Throws where the file is not the one of the scan: an agent of another session may put a link on the way to it. */
function readAsScanned(root: string, one: string, entry: HostEntry | undefined): Buffer {
  const file = openSync(absolutePath(root, one), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!stat.isFile() || String(stat.ino) !== entry?.ino) throw new Error('replaced');
    return stat.size > MAX_NAMED_BYTES ? Buffer.alloc(0) : readFileSync(file);
  } finally {
    closeSync(file);
  }
}
