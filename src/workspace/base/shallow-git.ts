import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { parseConfig } from '../../core/git/config-parse.ts';
import { writeConfig } from '../../core/git/config-write.ts';
import { removeTreeSync } from '../../core/host/files/remove-tree.ts';
import { type GitArguments, runGit } from '../../core/host/git.ts';
import { makePrivateDir } from '../../core/store/record.ts';

/** Commits that a shallow copy has. */
export const SHALLOW_COMMITS = 50;

/** A large work tree takes minutes to pack. */
const PACK_TIMEOUT_MS = 30 * 60_000;

/** Left out of a shallow copy, unless --include names them: what package managers fetch again. */
export const VENDORED: readonly string[] = [
  'node_modules/',
  'bower_components/',
  'jspm_packages/',
  'vendor/',
  'third_party/',
  '.venv/',
  'venv/',
  '.tox/',
  'Pods/',
];

export interface ShallowOptions {
  /** `.git` of this worktree, and the directory that all its worktrees share. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Directory of run-claude's; `git` in it is the result. */
  readonly dir: string;
}

/**
 * A self-contained `.git` with the last commits of HEAD, what the index holds, and the refs that point into that. Its
 * objects are packed only when HEAD, the index or the refs changed; its settings are always those of now. Throws
 * RunClaudeError SHALLOW_FAILED.
 */
export async function shallowGit(options: ShallowOptions): Promise<string> {
  const { gitDir, dir } = options;
  const target = path.join(dir, 'git');
  try {
    const newest: GitArguments = ['rev-list', '--parents', `--max-count=${SHALLOW_COMMITS}`, 'HEAD'];
    const head = (await runGit(newest, { gitDir })).toString();
    const commits = new Map(
      head
        .trim()
        .split('\n')
        .map((line) => [
          line.slice(0, line.indexOf(' ') < 0 ? undefined : line.indexOf(' ')),
          line.split(' ').slice(1),
        ]),
    );
    const refs = (await runGit(['for-each-ref', '--format=%(objectname) %(refname)'], { gitDir }))
      .toString()
      .split('\n')
      .filter((line) => commits.has(line.slice(0, line.indexOf(' '))));
    const state = JSON.stringify([head, refs, fileState(path.join(gitDir, 'index'))]);
    const stateFile = path.join(dir, 'git-state');
    if (existsSync(target) && existsSync(stateFile) && readFileSync(stateFile, 'utf8') === state) {
      copySettings(options, target);
      return target;
    }
    makePrivateDir(dir);
    const fresh = path.join(dir, 'git.new');
    removeTreeSync(fresh);
    const cut = boundary(commits, options.commonDir);
    await build(options, fresh, { tip: [...commits.keys()][0] as string, cut, refs });
    copySettings(options, fresh);
    removeTreeSync(target);
    renameSync(fresh, target);
    writeFileSync(stateFile, state, { mode: 0o600 });
    return target;
  } catch (cause) {
    throw new RunClaudeError('SHALLOW_FAILED', `git's history could not be cut: ${(cause as Error).message}`, {
      cause,
      hint: 'Without --shallow the whole history is copied.',
    });
  }
}

/** Commits that git must treat as parentless, because one of their parents is not in the copy. */
function boundary(commits: ReadonlyMap<string, readonly string[]>, commonDir: string): string[] {
  const file = path.join(commonDir, 'shallow');
  const already = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
  return [...commits]
    .filter(([commit, parents]) => already.has(commit) || parents.some((one) => !commits.has(one)))
    .map(([commit]) => commit);
}

function fileState(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

interface Cut {
  readonly tip: string;
  readonly cut: readonly string[];
  readonly refs: readonly string[];
}

async function build({ gitDir }: ShallowOptions, into: string, { tip, cut, refs }: Cut): Promise<void> {
  for (const one of ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(path.join(into, one), { recursive: true, mode: 0o700 });
  }
  await pack(gitDir, path.join(into, 'objects', 'pack', 'pack'), [...cut.map((one) => `--shallow ${one}`), tip]);
  writeFileSync(path.join(into, 'packed-refs'), refs.map((line) => `${line}\n`).join(''));
  if (cut.length > 0) writeFileSync(path.join(into, 'shallow'), cut.map((one) => `${one}\n`).join(''));
  const index = path.join(gitDir, 'index');
  if (!existsSync(index)) return;
  copyFileSync(index, path.join(into, 'index'));
  if (!readdirSync(gitDir).some((name) => name.startsWith('sharedindex.'))) return;
  // Writing the index joins a split index into one file: its shared part is not copied.
  await runGit(['update-index', '--no-split-index'], {
    gitDir,
    workTree: path.dirname(into),
    indexFile: path.join(into, 'index'),
  });
}

const SHARED_SETTINGS = ['config', 'description', 'info/exclude', 'info/attributes'];
const OWN_SETTINGS = ['HEAD', 'config.worktree', 'info/sparse-checkout'];

/** Files of git that hold no object. One that is as it was stays untouched, so that the copy of it does too. */
function copySettings({ gitDir, commonDir }: ShallowOptions, into: string): void {
  const copy = (from: string, name: string): void => {
    const source = path.join(from, name);
    const target = path.join(into, name);
    if (lstatSync(source, { throwIfNoEntry: false })?.isFile() !== true) {
      rmSync(target, { force: true });
      return;
    }
    const bytes = readFileSync(source);
    const wanted = /^config/.test(name) ? adaptConfig(bytes, name, gitDir, commonDir) : bytes;
    if (existsSync(target) && readFileSync(target).equals(wanted)) return;
    // Replaced whole: a killed command leaves no half of a file that looks like the newest.
    writeFileSync(`${target}.new`, wanted);
    renameSync(`${target}.new`, target);
  };
  for (const name of SHARED_SETTINGS) copy(commonDir, name);
  for (const name of OWN_SETTINGS) copy(gitDir, name);
}

/**
 * A configuration as that of this work tree: what the shared one says of the main work tree is left out, and a work tree is
 * named from the root, since the configuration is elsewhere now.
 */
function adaptConfig(bytes: Buffer, name: string, gitDir: string, commonDir: string): Buffer {
  const { entries, error } = parseConfig(bytes.toString('utf8'));
  // Cut and reported when it is copied.
  if (error !== undefined) return bytes;
  const isOfMainTree = name === 'config' && realpathSync(gitDir) !== realpathSync(commonDir);
  const adapted = entries.flatMap((entry) => {
    if (entry.key === 'core.bare' && isOfMainTree) return [{ ...entry, value: 'false' }];
    if (entry.key !== 'core.worktree') return [entry];
    return isOfMainTree ? [] : [{ ...entry, value: path.resolve(gitDir, entry.value ?? '') }];
  });
  return Buffer.from(writeConfig(adapted));
}

async function pack(gitDir: string, prefix: string, lines: readonly string[]): Promise<void> {
  const args: GitArguments = ['pack-objects', '-q', '--revs', '--indexed-objects', '--delta-base-offset', prefix];
  await runGit(args, { gitDir, input: `${lines.join('\n')}\n`, timeoutMs: PACK_TIMEOUT_MS });
}
