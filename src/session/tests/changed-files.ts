import path from 'node:path/posix';
import type { Change } from '../../core/types/entry.ts';
import { cleanLine } from '../../terminal/clean.ts';

/** What is known of a session's changes, besides their paths. */
export interface ChangedContext {
  readonly changes: readonly Pick<Change, 'path' | 'kind' | 'ignored' | 'inGit'>[];
  /** Directories with output that ignore rules match. */
  readonly withheld: readonly string[];
  /** The folder of the project in which commands start. */
  readonly startIn: string;
  /** Commands of the project's package.json. */
  readonly scripts: readonly string[];
  /** Whether more than the dependencies and the version of a package.json is different. */
  readonly isManifestChanged: (path: string) => boolean;
}

const MAX_NAMED = 20;

/** Names of files that decide what a test runner runs, in any folder. */
const CONFIGURATION: readonly RegExp[] = [
  // jest.config.js, .mocharc.yml, vitest.workspace.ts, karma.conf.js, playwright.config.ts, ava.config.js, .nycrc
  /^\.?(?:jest|vitest|vite|mocha|karma|ava|playwright|cypress|wdio|jasmine|babel|nyc|c8)(?:rc|\.(?:config|conf|workspace|setup))?(?:\.\w+)?$/,
  /^\.(?:mocha|nyc|babel|c8)rc(?:\.\w+)?$/,
  /^(?:conftest\.py|pytest\.ini|\.?pytest\.toml|tox\.ini|setup\.cfg|noxfile\.py|\.coveragerc|pyproject\.toml|sitecustomize\.py)$/,
  /^(?:GNUm|M|m)akefile$|\.mk$|^[Jj]ustfile$|^Taskfile\.ya?ml$|^Rakefile$|^\.rspec$/,
  /^(?:CMakeLists\.txt|CTest\w*\.cmake|meson\.build|build\.rs|pom\.xml|phpunit\.xml(?:\.dist)?|\.?bunfig\.toml|deno\.jsonc?)$/,
  /^(?:build|settings)\.gradle(?:\.kts)?$/,
  /^(?:test|spec)[_-]?helper\.\w+$/,
];

/** Names of tests and of folders of tests, as their runners find them. */
const TEST_FILE =
  /(?:^|\/)(?:tests?|specs?|__tests__|e2e)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_[^/]*\.py$|_(?:test|spec)\.\w+$|Tests?\.\w+$/;

/** Folders with programs of others that tests run, and that ignore rules usually match. */
const PROGRAMS = /^(.*\/)?(?:node_modules|\.?venv|\.tox|vendor|target|\.gradle)(?=\/|$)/;

/**
 * Files that decide what a command tests, and that the session changed: those that it names, the configuration of test
 * runners, and tests that were there before. Programs that ignore rules match count by their folder. Cleaned; what does
 * not fit is counted. Pure.
 */
export function changedFiles(command: string, context: ChangedContext): readonly string[] {
  const { changes, startIn, scripts, isManifestChanged } = context;
  const texts = /\b(?:npm|npx|yarn|pnpm|bun)\b/.test(command) ? [command, ...scripts] : [command];
  const named = new Set(texts.flatMap(words).map((word) => path.join(startIn, word)));
  const found = new Set<string>();
  for (const { path: at, kind, ignored, inGit } of changes) {
    if (inGit === true) continue;
    if (ignored === true) {
      const folder = PROGRAMS.exec(at)?.[0];
      if (folder !== undefined) found.add(`${folder}/ (ignored)`);
      continue;
    }
    const name = path.basename(at);
    const isManifest = name === 'package.json' && isManifestChanged(at);
    const isOld = kind !== 'created';
    const counts =
      isManifest ||
      isNamed(at, named, isOld) ||
      CONFIGURATION.some((one) => one.test(name)) ||
      (isOld && TEST_FILE.test(at));
    if (counts) found.add(`${at}${kind === 'deleted' ? ' (deleted)' : ''}`);
  }
  for (const directory of context.withheld) {
    const folder = PROGRAMS.exec(directory)?.[0];
    if (folder !== undefined) found.add(`${folder}/ (ignored)`);
  }
  const all = [...found].map(cleanLine);
  const more = all.length - MAX_NAMED;
  return more > 0 ? [...all.slice(0, MAX_NAMED), `${more} more`] : all;
}

/** A file by its path; a file that was there before also by a folder above it. */
function isNamed(at: string, named: ReadonlySet<string>, isOld: boolean): boolean {
  if (named.has(at)) return true;
  if (!isOld) return false;
  for (let folder = path.dirname(at); folder !== '.'; folder = path.dirname(folder)) if (named.has(folder)) return true;
  return false;
}

/** The parts of a shell's command that could be paths. */
function words(text: string): readonly string[] {
  return text
    .split(/[\s"'`;&|<>()=,]+/)
    .map((word) => word.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''))
    .filter((word) => word !== '' && word !== '.' && !word.startsWith('-'));
}
