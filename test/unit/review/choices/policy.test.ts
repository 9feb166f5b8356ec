import { describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import { buildReview, matcher } from '../../../../src/review/choices/build-review.ts';
import { heldRemoval } from '../../../../src/review/choices/decisions.ts';
import { heldBack } from '../../../../src/review/choices/held-back.ts';
import {
  choose,
  chooseClean,
  chooseHeld,
  chooseNothing,
  leakOf,
  madeCommits,
  pathFilter,
} from '../../../../src/review/choices/policy.ts';
import { summaryLines } from '../../../../src/review/screen/summary.ts';

const entry: Entry = { kind: 'file', mode: 0o644, size: 1, mtimeNs: '0' };
const change = (path: string, more: Partial<Change> = {}): Change => ({
  path: path as RelPath,
  kind: 'created',
  after: entry,
  ...more,
});
const finding = (path: string, severity: Finding['severity']): Finding => ({
  rule: 'r',
  severity,
  path: path as RelPath,
  title: 't',
  why: severity,
});
const review = (
  changes: readonly Change[],
  findings: readonly Finding[] = [],
  allowSuspect: readonly string[] = [],
  baseEntries = 1000,
) =>
  buildReview({
    collected: { changes, problems: [], withheld: [], baseEntries },
    findings,
    allowSuspect,
    includeIgnored: false,
  });

const CHANGES = [
  change('clean'),
  change('suspect'),
  change('blocked'),
  change('problem', { problem: 'unreadable' }),
  change('ignored', { ignored: true }),
  change('.git/x', { inGit: true }),
];
const FINDINGS = [finding('suspect', 'suspect'), finding('blocked', 'blocked'), finding('clean', 'note')];

describe('the choice without a terminal', () => {
  it('contains clean changes, and nothing that the audit or the ignore rules hold back', () => {
    const { chosen, left } = chooseClean(review(CHANGES, FINDINGS));
    expect(chosen.map((one) => one.change.path)).toEqual(['clean']);
    expect(left.map(({ path, verdict }) => [path, verdict])).toEqual([
      ['suspect', 'suspect'],
      ['blocked', 'blocked'],
      ['problem', 'blocked'],
      ['ignored', 'withheld'],
    ]);
  });

  it('contains nothing after a session that sent a decoy, whether or not it changed a file', () => {
    const sent = { ...finding('.env', 'blocked'), rule: 'decoy-sent', title: 'Decoy sent' };
    const leaked = review(CHANGES, [...FINDINGS, sent]);
    expect(leakOf(leaked)).toBe(sent);
    const choice = chooseHeld(leaked, 'Decoy sent');
    expect([choice.decided, choice.chosen]).toEqual([true, []]);
    expect(choice.left[0]).toEqual({ path: 'clean', verdict: 'suspect', why: 'Decoy sent' });
    const unchanged = review([], [sent]);
    const held = heldBack(unchanged, { changes: chooseHeld(unchanged, 'Decoy sent').left });
    expect(held).toEqual([{ path: '.env', verdict: 'blocked', why: 'Decoy sent' }]);
    for (const other of [{ ...sent, severity: 'note' as const }, finding('.env', 'blocked')])
      expect(leakOf(review(CHANGES, [other]))).toBeUndefined();
  });

  it('contains suspect changes that were allowed by name, and never blocked ones', () => {
    const { items } = review(CHANGES, FINDINGS, ['suspect', 'blocked', 'problem', 'ignored']);
    expect(Object.fromEntries(items.map((item) => [item.change.path, item.state]))).toEqual({
      clean: 'clean',
      suspect: 'clean',
      blocked: 'blocked',
      problem: 'blocked',
      ignored: 'withheld',
      '.git/x': 'git',
    });
  });

  it('is empty if the session deletes most of the project', () => {
    const gone = Array.from(
      { length: 21 },
      (_, n): Change => ({ path: `f${n}` as RelPath, kind: 'deleted', before: entry }),
    );
    const all = [...gone, change('new')];
    expect(chooseClean(review(all, [], [], 41)).chosen).toEqual([]);
    expect(chooseClean(review(all, [], [], 42)).chosen).toHaveLength(22);
    expect(chooseNothing(review(all)).chosen).toEqual([]);
  });

  it('contains all changes of a project whose files were only renamed', () => {
    const moved = Array.from({ length: 30 }, (_, n): Change[] => {
      const one: Entry = { ...entry, digest: `${n}` };
      return [
        { path: `a/${n}` as RelPath, kind: 'deleted', before: one },
        { path: `b/${n}` as RelPath, kind: 'created', after: one },
      ];
    });
    expect(chooseClean(review(moved.flat(), [], [], 30)).chosen).toHaveLength(60);
    // Content that is under no new name is deleted.
    const withheld = moved.flatMap(([gone, made]) => [gone as Change, { ...(made as Change), ignored: true }]);
    expect(chooseClean(review(withheld, [], [], 30)).chosen).toEqual([]);
  });
});

describe('changes that belong together', () => {
  const file = (digest: string): Entry => ({ ...entry, digest });
  const dir: Entry = { ...entry, kind: 'dir' };
  const link: Entry = { ...entry, kind: 'symlink', target: '/elsewhere' };
  const gone = (path: string, before: Entry = file(path)): Change =>
    change(path, { kind: 'deleted', before, after: undefined as never });
  const verdicts = ({ chosen, left }: ReturnType<typeof chooseClean>) => ({
    chosen: chosen.map((one) => one.change.path),
    left: left.map(({ path, verdict }) => `${path} ${verdict}`),
  });

  it('a folder stays while a pending change keeps something in it', () => {
    const changes = [gone('a', dir), gone('a/b', dir), gone('a/b/suspect'), gone('a/clean'), gone('a/c', dir)];
    expect(verdicts(chooseClean(review(changes, [finding('a/b/suspect', 'suspect')])))).toEqual({
      chosen: ['a/clean', 'a/c'],
      left: ['a/b/suspect suspect', 'a/b suspect', 'a suspect'],
    });
    const ignored = [gone('a', dir), { ...gone('a/node_modules', dir), ignored: true }, gone('a/x')];
    expect(verdicts(chooseClean(review(ignored)))).toEqual({
      chosen: ['a/x'],
      left: ['a/node_modules withheld', 'a withheld'],
    });
  });

  it('a renamed file or link is not removed while its new name is held back', () => {
    const changes = [
      ...[gone('old/a', file('1')), gone('old/b', file('2')), gone('old/link', link)],
      ...[
        change('new/a', { after: file('1') }),
        change('new/b', { after: file('2') }),
        change('new/link', { after: link }),
      ],
    ];
    const held = review(changes, [finding('new/a', 'suspect'), finding('new/link', 'blocked')]);
    expect(verdicts(chooseClean(held))).toEqual({
      chosen: ['old/b', 'new/b'],
      left: ['old/a suspect', 'old/link suspect', 'new/a suspect', 'new/link blocked'],
    });
    // Who names the new name takes both.
    expect(choose(held, () => 'apply').chosen.map((one) => one.change.path)).not.toContain('old/link');
    expect(choose(held, () => 'apply').chosen.map((one) => one.change.path)).toContain('old/a');
  });
});

describe('a file that a link or a folder replaced, with its content under a withheld name', () => {
  const file = (digest: string): Entry => ({ ...entry, size: 100, digest });
  const dir: Entry = { ...entry, kind: 'dir' };
  const link: Entry = { ...entry, kind: 'symlink', target: '.local/conf.json' };
  const type = (path: string, after: Entry): Change => change(path, { kind: 'type', before: file(path), after });
  const hidden = (path: string, of: string): Change => change(path, { after: file(of), ignored: true });
  const CHANGED = [
    hidden('.local/conf.json', 'conf.json'),
    type('conf.json', link),
    type('data', dir),
    change('data/main', { after: file('new') }),
    hidden('data/x.log', 'data'),
  ];
  const paths = ({ chosen }: ReturnType<typeof chooseClean>): string[] => chosen.map((one) => one.change.path);

  it('is held back, and applied as a whole after a yes', () => {
    const held = review(CHANGED);
    const { chosen, left } = chooseClean(held);
    expect(chosen).toEqual([]);
    expect(left.filter(({ verdict }) => verdict === 'suspect')).toEqual([
      {
        path: 'conf.json',
        verdict: 'suspect',
        why: 'its content is left only in .local/conf.json, which is withheld',
      },
      { path: 'data', verdict: 'suspect', why: 'its content is left only in data/x.log, which is withheld' },
      { path: 'data/main', verdict: 'suspect', why: 'it is one change with data/x.log, which is held back' },
    ]);
    const warnings = summaryLines(held).filter(({ severity }) => severity === 'suspect');
    expect(warnings.map(({ text }) => text)).toEqual([
      'WARNING: Moved to a withheld name: conf.json stays; what it held is only in .local/conf.json',
      'WARNING: Moved to a withheld name: data stays; what it held is only in data/x.log',
    ]);
    const removals = held.decisions.map(heldRemoval);
    expect(removals.map((one) => [one?.kind, one?.contentIn])).toEqual([
      ['replace', '.local/conf.json'],
      ['replace', 'data/x.log'],
    ]);
    const taken = choose(held, () => 'delete').chosen;
    expect(taken.map((one) => [one.change.path, one.together])).toEqual([
      ['conf.json', undefined],
      ['data', 'data'],
      ['data/main', 'data'],
    ]);
  });

  it('is applied with its content, and where the content is also under a name that is not withheld', () => {
    const released = buildReview({
      collected: { changes: CHANGED, problems: [], withheld: [], baseEntries: 100 },
      findings: [],
      allowSuspect: [],
      includeIgnored: false,
      release: true,
    });
    expect(paths(chooseClean(released))).toEqual(CHANGED.map(({ path }) => path));
    const copies = [change('a', { after: file('conf.json') }), change('b', { after: file('data') })];
    expect(paths(chooseClean(review([...copies, ...CHANGED])))).toEqual(['a', 'b', 'conf.json', 'data', 'data/main']);
  });

  it('is not asked for if something else of its folder cannot be applied', () => {
    const inside = change('data/.git/HEAD', { inGit: true });
    const { decisions } = review([...CHANGED, inside]);
    expect(decisions.map((one) => heldRemoval(one)?.contentIn)).toEqual(['.local/conf.json', undefined]);
  });
});

describe('--only, --skip and --allow-suspect', () => {
  const HOSTILE = [
    '-rf',
    '!x',
    '#x',
    'a\nb',
    'a ',
    '\\',
    '*',
    '[a]',
    '**',
    'a\tb',
    '...',
    '.. ',
    'x'.repeat(4000),
    '\udcff',
    'con',
    '__proto__',
    'A/B',
  ];

  it('select exactly the named changes', () => {
    const passes = pathFilter({ only: ['src/**', '/a'], skip: ['*.lock'] });
    for (const path of HOSTILE) expect([path, passes(path)]).toEqual([path, false]);
    expect(['src/x', 'src/y.lock', 'a', 'b/a', 'SRC/x', 'A'].filter(passes)).toEqual(['src/x', 'a']);
    expect(HOSTILE.filter(matcher(['src/**']))).toEqual([]);
  });
});

it('counts suspect changes in git as held back, not notes of what git writes by itself', () => {
  const inGit = [change('.git/config', { inGit: true }), change('.git/index', { inGit: true }), change('a')];
  const findings = [finding('.git/config', 'suspect'), finding('.git/index', 'note'), finding('a', 'suspect')];
  const nothing = { changes: [] };
  expect(heldBack(review(inGit, findings), nothing)).toHaveLength(1);
  expect(heldBack(review(inGit, findings.slice(1)), nothing)).toEqual([]);
});

it('commits are a changed branch or HEAD together with new objects: a checkout or a new branch is none', () => {
  const made = (...paths: string[]): boolean => madeCommits(review(paths.map((one) => change(one, { inGit: true }))));
  const object = '.git/objects/0f/e8c1';
  expect(made('.git/refs/heads/main', '.git/logs/HEAD', object)).toBe(true);
  expect(made('.git/logs/HEAD', '.git/objects/pack/pack-1.pack')).toBe(true);
  expect(made('lib/.git/refs/heads/main', `lib/${object}`)).toBe(true);
  // git checkout main, git checkout -b other, git add.
  expect(made('.git/logs/HEAD', '.git/index')).toBe(false);
  expect(made('.git/logs/HEAD', '.git/refs/heads/other', '.git/objects/0f', '.git/objects/pack')).toBe(false);
  expect(made('.git/index', object)).toBe(false);
});
