import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openInstance } from '../../../../src/agents/claude/instances/instance.ts';
import { applyCommand } from '../../../../src/cli/commands/review/apply.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { COMMANDS } from '../../../../src/cli/grammar/commands.ts';
import { type CommandLineOfCommand, parseCommandLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { writeJsonAtomic } from '../../../../src/core/store/record.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ClaudeChange } from '../../../../src/core/types/agent/claude-data.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { ApplyOutcome, ChangeOutcome, CollectedRecord } from '../../../../src/core/types/session.ts';
import { writeCollected } from '../../../../src/session/record/session.ts';
import { dir, file, layApply, type Sides } from '../../../support/apply/lay.ts';
import { sessionRecord } from '../../../support/session-record.ts';

// Every option of `apply`, to every target: status, lines, listed outcome and report have to be the same.

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-targets-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const ID = '261121-140512-k7p';
const BRANCH = 'work';
const ENV: NodeJS.ProcessEnv = {
  PATH: `${path.join(root, 'bin')}:${process.env['PATH']}`,
  HOME: path.join(root, 'home'),
  GIT_CONFIG_NOSYSTEM: '1',
  ...{ GIT_AUTHOR_NAME: 'You', GIT_AUTHOR_EMAIL: 'you@example.org' },
  ...{ GIT_COMMITTER_NAME: 'You', GIT_COMMITTER_EMAIL: 'you@example.org' },
};

/** The words that give a target. */
const TARGETS = { files: [], branch: ['--branch', BRANCH] } as const;
type Name = keyof typeof TARGETS;
/** What a target refuses, with the reason. */
const REFUSED: Readonly<Record<Name, readonly [words: RegExp, why: RegExp][]>> = {
  files: [[/^--(push|pr|title)/, /needs --branch/]],
  branch: [[/^--conflict (markers|file)/, /cannot hold --conflict=/]],
};

interface Scene {
  readonly sides: Sides;
  readonly findings?: readonly Finding[];
  /** Changes besides those of the sides. */
  readonly more?: readonly Change[];
  readonly collected?: Partial<CollectedRecord>;
  readonly policy?: Partial<Policy>;
  /** Paths that are ignored, by the pattern that the session removed; '' where it is there still. */
  readonly ignored?: Readonly<Record<string, string>>;
  readonly claude?: ClaudeChange['verdict'];
  /** What the project's own data has for the same file. */
  readonly ownPlan?: string;
  /** Options of an earlier apply. */
  readonly earlier?: readonly string[];
}

const found = (at: string, severity: Finding['severity']): Finding => ({
  rule: 'x',
  path: at as RelPath,
  severity,
  title: 'Title',
  why: `Why ${at}.`,
});
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const clean: Sides = { base: { 'b.txt': file('b\n') }, session: { 'b.txt': file('B\n'), 's.sh': file('s\n') } };
const hook: Change = { path: '.git/hooks/x' as RelPath, kind: 'created', inGit: true };

const SCENES: Readonly<Record<string, Scene>> = {
  'clean changes': { sides: clean },
  'no change': { sides: { base: { 'b.txt': file('b\n') }, session: { 'b.txt': file('b\n') } } },
  'a suspect change': { sides: clean, findings: [found('s.sh', 'suspect')] },
  'a blocked change': { sides: clean, findings: [found('s.sh', 'blocked')] },
  'a hook in .git': { sides: clean, findings: [found(hook.path, 'suspect')], more: [hook] },
  'a note, with --fail-on': { sides: clean, findings: [found('s.sh', 'note')], policy: { failOn: 'note' } },
  'a suspect change, with --fail-on': {
    sides: clean,
    findings: [found('s.sh', 'suspect')],
    policy: { failOn: 'suspect' },
  },
  'a conflict': {
    sides: {
      ...clean,
      base: { ...clean.base, 's.sh': file('old\n') },
      host: { 'b.txt': file('b\n'), 's.sh': file('mine\n') },
    },
  },
  'only a conflict': {
    sides: { base: { 'b.txt': file('b\n') }, session: { 'b.txt': file('B\n') }, host: { 'b.txt': file('mine\n') } },
  },
  'a clean merge': {
    sides: {
      base: { 'b.txt': file('1\n2\n3\n4\n5\n') },
      session: { 'b.txt': file('1\n2\n3\n4\nfive\n') },
      host: { 'b.txt': file('one\n2\n3\n4\n5\n') },
    },
  },
  'what is there already': { sides: { ...clean, host: clean.session } },
  'ignored files': {
    sides: { base: {}, session: { 'b.txt': file('B\n'), vim: dir, 'vim/one': file('1\n'), log: file('l\n') } },
    ignored: { vim: 'vim', 'vim/one': 'vim', log: '' },
    collected: { withheld: [{ directory: 'node_modules', entries: 9, bytes: 9 }] },
  },
  "a plan in the agent's data": { sides: clean, claude: 'clean' },
  "a suspect file in the agent's data": { sides: clean, claude: 'suspect' },
  "a conflict in the agent's data": { sides: clean, claude: 'clean', ownPlan: 'another plan\n' },
  'a shapefile of which the host changed another file': {
    sides: {
      base: { 'b.txt': file('b\n'), 'm.shp': file('1'), 'm.dbf': file('1') },
      session: { 'b.txt': file('B\n'), 'm.shp': file('2'), 'm.dbf': file('1') },
      host: { 'b.txt': file('b\n'), 'm.shp': file('1'), 'm.dbf': file('3') },
    },
    collected: {
      leftMembers: [
        {
          path: 'm.dbf' as RelPath,
          entry: { kind: 'file', mode: 0o644, size: 1, mtimeNs: '1', digest: sha256('1') },
        },
      ],
    },
  },
  'a session that is applied in part, and committed': { sides: clean, earlier: ['--only', 'b.txt'] },
  'a session that is applied, and committed': { sides: clean, earlier: ['--yes'] },
};

type Way = readonly [words: string, ...scenes: readonly string[]];
/** The options of `apply`, each in the ways in which it is given and the scenes that it is for. */
const WAYS: Readonly<Record<string, readonly Way[]>> = {
  // The target itself, and what is in every run.
  branch: [],
  'dry-run': [],
  json: [],
  yes: [
    ['--yes', ...Object.keys(SCENES)],
    ['', 'clean changes', 'ignored files', 'a session that is applied, and committed'],
  ],
  only: [
    [
      '--yes --only b.txt',
      'a blocked change',
      'a suspect change, with --fail-on',
      "a suspect file in the agent's data",
    ],
    ['--yes --only b.txt', 'a hook in .git', 'a conflict', 'a session that is applied, and committed'],
    ['--only nosuch', 'a suspect change', 'clean changes'],
  ],
  skip: [
    ['--skip b.txt', 'a blocked change', 'a note, with --fail-on'],
    ['--yes --skip nosuch', 'clean changes', "a plan in the agent's data"],
  ],
  'allow-suspect': [
    ['--yes --allow-suspect /s.sh', 'a suspect change', 'a suspect change, with --fail-on'],
    ['--yes --allow-suspect b.txt', 'a suspect change'],
  ],
  'include-ignored': [
    ['--yes --include-ignored', 'ignored files'],
    ['--yes --include-ignored=vim', 'ignored files'],
    ['--yes --include-ignored=nosuch', 'ignored files'],
  ],
  conflict: [
    ['--conflict keep --yes', 'a conflict'],
    ['--conflict theirs --yes', 'a conflict', 'a shapefile of which the host changed another file'],
    ['--conflict markers --yes', 'a conflict'],
    ['--conflict file --yes', 'a conflict'],
  ],
  push: [
    ['--push --yes', 'clean changes'],
    ['--push=origin --yes', 'a conflict'],
  ],
  pr: [
    ['--pr --yes', 'clean changes'],
    ['--pr=main --yes', 'a conflict'],
  ],
  title: [['--title A --yes', 'clean changes']],
};

const git = (cwd: string, ...words: string[]): string =>
  execFileSync('git', words, { cwd, env: ENV, encoding: 'utf8', stdio: 'pipe' });

function line(words: readonly string[]): CommandLineOfCommand {
  const parsed = parseCommandLine(['apply', ID, ...words], () => false);
  if (parsed.kind !== 'command') throw new TypeError(`not a command: ${parsed.kind}`);
  return parsed;
}

/** A scene in a folder: a repository whose HEAD and work tree are the host's side, and a session that is pending. */
async function lay(place: string, { sides, more = [], ignored = {}, ...scene }: Scene): Promise<void> {
  const laid = await layApply(path.join(place, 'project'), path.join(place, 'state'), sides);
  const { project, changes } = laid;
  const sessionDir = path.join(path.dirname(laid.sessionDir), ID);
  renameSync(laid.sessionDir, sessionDir);
  git(place, 'init', '-q', '--bare', 'remote.git');
  git(project, 'init', '-q', '-b', 'main');
  git(project, 'remote', 'add', 'origin', path.join(place, 'remote.git'));
  git(project, 'add', '-A');
  git(project, 'commit', '-q', '--allow-empty', '-m', 'first');
  const marked = changes.map((change) => {
    const pattern = ignored[change.path];
    return pattern === undefined ? change : { ...change, ignored: true, ...(pattern !== '' && { unignored: pattern }) };
  });
  writeCollected(sessionDir, {
    version: 1,
    changes: [...marked, ...more],
    findings: scene.findings ?? [],
    problems: [],
    withheld: [],
    baseEntries: 99,
    ...scene.collected,
    ...(scene.claude && { claude: await agentData(sessionDir, scene.claude) }),
  });
  if (scene.ownPlan !== undefined) {
    const { dir: own } = await openInstance(path.join(place, 'data'), project);
    mkdirSync(path.join(own, 'plans'));
    writeFileSync(path.join(own, 'plans/a.md'), scene.ownPlan);
  }
  const plan = { sessionId: ID, sessionDir, project: { root: project }, policy: scene.policy ?? {} };
  writeJsonAtomic(path.join(sessionDir, 'session.json'), sessionRecord({ stage: 'pending', plan }));
  if (scene.earlier === undefined) return;
  await run(place, ['--yes', ...scene.earlier]);
  git(project, 'add', '-A');
  git(project, 'commit', '-qm', 'applied');
}

async function agentData(sessionDir: string, verdict: ClaudeChange['verdict']) {
  const { digest } = await openContentStore(path.join(sessionDir, 'store')).put([Buffer.from('a plan\n')]);
  const change = { path: 'plans/a.md', how: 'create', verdict, digest, size: 7 } as const;
  const finding = found('~/.claude/plans/a.md', 'suspect');
  return { changes: [change], attempts: [], findings: verdict === 'clean' ? [] : [finding], dropped: {} };
}

interface Ran {
  readonly status: number;
  readonly lines: readonly string[];
  readonly listed: ApplyOutcome | undefined;
  readonly report: object | undefined;
  readonly stage: string;
}

/** The command with these options, in a folder that {@link lay} filled. What it refuses is thrown. */
async function run(place: string, words: readonly string[]): Promise<Ran> {
  const lines: string[] = [];
  let written = '';
  const context = {
    env: ENV,
    cwd: path.join(place, 'project'),
    places: {
      stateDir: path.join(place, 'state'),
      dataDir: path.join(place, 'data'),
      cacheDir: path.join(place, 'cache'),
    },
    tell: (event: { readonly kind: string; readonly text?: string }) =>
      void (event.kind === 'message' && lines.push(event.text ?? '')),
    write: (text: string) => {
      written += text;
    },
    interruption: {
      signal: new AbortController().signal,
      by: () => undefined,
      next: () => new AbortController().signal,
    },
  } as unknown as CommandContext;
  const status = await applyCommand(line([...words, '--json']), context);
  const sessionDir = path.join(place, 'state/sessions', ID);
  const read = (name: string): object | undefined =>
    existsSync(path.join(sessionDir, name)) ? JSON.parse(readFileSync(path.join(sessionDir, name), 'utf8')) : undefined;
  return {
    status,
    lines,
    listed: written === '' ? undefined : JSON.parse(written),
    report: read('report.json'),
    stage: (read('session.json') as { stage: string }).stage,
  };
}

/** The words of each target that stand for one another. Lines that only one target has are removed. */
const OWN_LINES =
  /^(The changes go to the new branch|Made branch|Branch \S+ was not made|Pushed branch|Opened a pull request| .* --conflict (markers|file))/;
const WORDS: readonly [branch: RegExp, files: string][] = [
  [/in HEAD already/g, 'in the project already'],
  [/in HEAD/g, 'on the host'],
  [/HEAD (has|changed)/g, 'the host $1'],
  [/HEAD's version(s?)/g, 'Your version$1'],
  [/ --branch work(-2)?(?= |$)/g, ''],
];
const inWords = (text: string): string => WORDS.reduce((now, [own, other]) => now.replace(own, other), text);

/** What both targets have to say alike. */
function alike({ status, lines, listed, report, stage }: Ran): object {
  const change = ({ ways, why, ...one }: ChangeOutcome): object => ({
    ...one,
    // A branch holds no markers and no second file. That a change is on a branch is the reason of no other target.
    ...(ways?.includes('theirs') && { ways: ['theirs'] }),
    ...(why !== undefined && one.verdict !== 'same' && !/^on branch /.test(why) && { why: inWords(why) }),
  });
  const { outcome, ...rest } = (report ?? {}) as { readonly outcome?: readonly ChangeOutcome[] };
  return {
    status,
    stage,
    lines: lines.filter((text) => !OWN_LINES.test(text)).map(inWords),
    listed: listed?.changes.map(change),
    agentData: listed?.claude,
    report: { ...rest, outcome: outcome?.map(change), project: undefined },
  };
}

/** `gh`, for --pr: it opens nothing. */
const GH = '#!/bin/sh\ncat > /dev/null\necho https://example.org/pull/1\n';
mkdirSync(path.join(root, 'bin'), { recursive: true });
mkdirSync(path.join(root, 'home'), { recursive: true });
writeFileSync(path.join(root, 'bin/gh'), GH, { mode: 0o755 });

/** What became of the scene, first in a dry run and then in earnest; or why the target refuses the options. */
async function both(laid: string, place: string, words: readonly string[]): Promise<readonly Ran[] | RunClaudeError> {
  rmSync(place, { recursive: true, force: true });
  cpSync(laid, place, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  try {
    return [await run(place, [...words, '--dry-run']), await run(place, words)];
  } catch (error) {
    if (error instanceof RunClaudeError) return error;
    throw error;
  }
}

const names = Object.keys(TARGETS) as Name[];

it('has a row for every option of apply', () => {
  const options = COMMANDS.find(({ name }) => name === 'apply')?.options ?? [];
  expect(Object.keys(WAYS).sort()).toEqual(options.map(({ name }) => name).sort());
});

it.each(Object.entries(SCENES))(
  'has one status, report and wording for all targets: %s',
  async (name, scene) => {
    const laid = path.join(root, name.replaceAll(/\W+/g, '-'));
    const place = path.join(root, 'now');
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
    await lay(place, scene);
    cpSync(place, laid, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const ways = Object.values(WAYS)
      .flat()
      .filter(([, ...scenes]) => scenes.includes(name));
    for (const [given] of ways) {
      const words = given.split(' ').filter((word) => word !== '');
      const ran = new Map<Name, readonly Ran[]>();
      for (const target of names) {
        const what = `${given} to ${target}`;
        const why = REFUSED[target].find(([refused]) => refused.test(given))?.[1];
        const found = await both(laid, place, [...words, ...TARGETS[target]]);
        if (found instanceof RunClaudeError) expect(found.message, what).toMatch(why ?? /^is not refused$/);
        else {
          expect(why, what).toBeUndefined();
          ran.set(target, found);
          const [dry, real] = found;
          // Without a terminal nothing is decided, where a dry run shows what a yes would do.
          if (words.length > 0) {
            expect.soft(dry?.status, `${what}: a dry run and the apply`).toBe(real?.status);
            expect
              .soft(dry?.listed, `${what}: a dry run and the apply`)
              .toEqual({ ...real?.listed, at: dry?.listed?.at });
          }
        }
      }
      const [first, ...others] = ran.values();
      for (const other of others) expect.soft(other.map(alike), given).toEqual(first?.map(alike));
    }
  },
  120_000,
);
