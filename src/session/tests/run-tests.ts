import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import { regularFileBytes } from '../../core/host/regular-file.ts';
import { type ContentStore, openContentStore } from '../../core/store/content.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import type { TestCommand, TestResult } from '../../core/types/test.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { askedTests } from '../plan/asked-tests.ts';
import { withLayerLock } from '../record/layer-lock.ts';
import { readCollected, storeDir } from '../record/session.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { type ChangedContext, changedFiles } from './changed-files.ts';
import { maskValues } from './output-tail.ts';
import { runCommand, type TestPlace } from './run-command.ts';
import { type CommandRun, needsBase, notRun, verdictOn } from './verdict.ts';

const MAX_MANIFEST_BYTES = 1024 * 1024;
/** What an ordinary session changes in a package.json, without changing what its commands run. */
const ORDINARY_KEYS: ReadonlySet<string> = new Set([
  'version',
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'optionalDependencies',
]);

/**
 * Runs the tests of a copy session on its result, each in its own scratch layer. One that fails is run once more on the
 * project as it was. Undefined where there is nothing to test. Never fails: a test without a verdict says why.
 */
export async function runTests(
  record: SessionRecord,
  plan: Plan,
  deps: SessionDeps,
): Promise<readonly TestResult[] | undefined> {
  const tests = askedTests(plan.policy);
  if (tests.length === 0 || plan.mode !== 'copy' || record.workspace === undefined) return undefined;
  const context = await changedContext(plan);
  const place: TestPlace = { plan, workspace: record.workspace, deps };
  const results: TestResult[] = [];
  const runAll = async (): Promise<void> => {
    for (const test of tests) results.push(await runTest(test, place, changedFiles(test.command, context)));
  };
  try {
    await withLayerLock(plan, 'testing it', runAll);
  } catch (error) {
    const why = whyNot(error);
    for (const test of tests.slice(results.length))
      results.push(notRun(test, why, changedFiles(test.command, context)));
  }
  return results;
}

async function runTest(test: TestCommand, place: TestPlace, changed: readonly string[]): Promise<TestResult> {
  const { deps, plan } = place;
  const say = (what: string): void =>
    deps.tell({ kind: 'message', level: 'info', text: `${what}: ${cleanLine(test.name)}` });
  const masked = (run: CommandRun): CommandRun => ({
    ...run,
    lines: maskValues(run.lines, Object.values(plan.policy.env)),
  });
  if (deps.interruption.by() !== undefined) return notRun(test, 'interrupted', changed);
  try {
    say('Testing the result');
    const result = masked(await runCommand(test, 'session', place));
    if (!needsBase(result)) return verdictOn(test, result, undefined, changed);
    say("It failed. Testing the project without the session's changes");
    const base = await runCommand(test, 'base', place).catch(whyNot);
    return verdictOn(test, result, base, changed);
  } catch (error) {
    return notRun(test, whyNot(error), changed);
  }
}

function whyNot(error: unknown): string {
  const text = error instanceof RunClaudeError || error instanceof Error ? error.message : String(error);
  return cleanLine(text.split('\n')[0] ?? text);
}

async function changedContext({ sessionDir, project }: Plan): Promise<ChangedContext> {
  const { changes, withheld } = readCollected(sessionDir);
  const store = openContentStore(storeDir(sessionDir));
  const manifests = changes.filter((one) => path.posix.basename(one.path) === 'package.json');
  const changed = new Set<string>();
  for (const one of manifests) if (await isManifestChanged(one, store)) changed.add(one.path);
  return {
    changes,
    withheld: withheld.map(({ directory }) => directory),
    startIn: project.startIn,
    scripts: scriptsOf(path.join(project.root, project.startIn, 'package.json')),
    isManifestChanged: (at) => changed.has(at),
  };
}

/** Commands that a package.json of the user's own project names. */
function scriptsOf(file: string): readonly string[] {
  const scripts: unknown = objectOf(regularFileBytes(file, MAX_MANIFEST_BYTES)?.toString())?.['scripts'];
  return typeof scripts === 'object' && scripts !== null
    ? Object.values(scripts).filter((one): one is string => typeof one === 'string')
    : [];
}

async function isManifestChanged({ before, after }: Change, store: ContentStore): Promise<boolean> {
  const sides = await Promise.all([before, after].map((entry) => ruling(entry, store)));
  return sides.includes(undefined) || sides[0] !== sides[1];
}

/** What a package.json holds besides {@link ORDINARY_KEYS}; undefined where that cannot be read. */
async function ruling(entry: Change['before'], store: ContentStore): Promise<string | undefined> {
  if (entry?.kind !== 'file' || entry.digest === undefined || entry.size > MAX_MANIFEST_BYTES) return undefined;
  const text = await store.read(entry.digest).catch(() => undefined);
  const manifest = objectOf(text?.toString());
  return manifest && JSON.stringify(Object.entries(manifest).filter(([key]) => !ORDINARY_KEYS.has(key)));
}

function objectOf(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
