import { describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../../src/core/types/entry.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import {
  conflictMember,
  fileSets,
  inUseStart,
  isScratchMember,
  neededOf,
  possibleMembers,
} from '../../../../src/review/choices/file-sets.ts';
import { chooseClean } from '../../../../src/review/choices/policy.ts';
import { decisionWords } from '../../../../src/review/screen/decision-words.ts';
import { summaryLines } from '../../../../src/review/screen/summary.ts';

const HASH = 'a'.repeat(40);

describe('files that are one thing', () => {
  it.each<[string, string, string[], string[]]>([
    ['SQLite database', 'app.db', ['app.db', 'app.db-wal', 'app.db-shm'], ['app.db2', 'app.db-wal2', 'x/app.db-wal']],
    ['SQLite database', 'd/app.db', ['d/app.db', 'd/app.db-journal'], ['app.db', 'd/app-journal']],
    ['SQLite database', 'Cookies', ['Cookies', 'Cookies-wal'], ['Cookies-walk']],
    ['DuckDB database', 'x.duckdb', ['x.duckdb', 'x.duckdb.wal'], ['x.duckdb.walk']],
    [
      'LevelDB or RocksDB database',
      'cache',
      ['cache/CURRENT', 'cache/MANIFEST-000004', 'cache/000005.ldb', 'cache/000006.log', 'cache/LOCK', 'cache/LOG.old'],
      ['cache/readme.md', 'other/CURRENT', 'CURRENT', 'cache/sub/CURRENT'],
    ],
    ['LevelDB or RocksDB database', '', ['CURRENT', 'MANIFEST-000004', '000005.sst', 'OPTIONS-000007'], ['x.sst']],
    [
      'MongoDB (WiredTiger) database',
      'data/db',
      ['data/db/WiredTiger', 'data/db/collection-0--1.wt', 'data/db/journal/WiredTigerLog.0000000001'],
      ['data/db/diagnostic.data/metrics'],
    ],
    [
      'PostgreSQL data directory',
      'pg',
      ['pg/global/pg_control', 'pg/base/5/1259', 'pg/pg_wal/000000010000000000000001', 'pg/PG_VERSION'],
      ['pg/postgresql.conf', 'base/5/1259'],
    ],
    [
      'git repository',
      'fixtures/info/x.git',
      [
        `fixtures/info/x.git/objects/ab/${'c'.repeat(38)}`,
        'fixtures/info/x.git/refs/heads/main',
        'fixtures/info/x.git/HEAD',
        `fixtures/info/x.git/objects/pack/pack-${HASH}.idx`,
      ],
      ['fixtures/info/readme', 'HEAD', 'fixtures/refs/x'],
    ],
    [
      'git pack',
      `packs/pack-${HASH}`,
      [`packs/pack-${HASH}.pack`, `packs/pack-${HASH}.rev`],
      [`packs/pack-${HASH}.txt`],
    ],
    [
      'shapefile',
      'gis/roads',
      ['gis/roads.shp', 'gis/roads.dbf', 'gis/roads.PRJ', 'gis/roads.shp.xml'],
      ['gis/roads.md'],
    ],
    ['TensorFlow checkpoint', 'm/ckpt-1', ['m/ckpt-1.index', 'm/ckpt-1.data-00000-of-00002'], ['m/ckpt-10.index']],
    [
      'set of weight files',
      'model',
      ['model-00001-of-00002.safetensors', 'model.safetensors.index.json'],
      ['model.json'],
    ],
  ])('%s %s', (what, thing, members, others) => {
    const found = fileSets([...members, ...others]);
    expect(found.map((set) => [set.what, set.thing, [...set.members].sort()])).toEqual([
      [what, thing, [...members].sort()],
    ]);
  });

  it('are none where only one of them is there, or only names that other files have too', () => {
    for (const paths of [
      ['app.db'],
      ['app.db-wal'],
      ['roads.dbf', 'roads.prj'],
      ['notes', 'notes-journal'],
      ['CURRENT', 'LOG'],
      ['package.json', 'package-lock.json'],
      ['a/HEAD', 'a/config', 'a/refs/x'],
    ])
      expect([paths, fileSets(paths)]).toEqual([paths, []]);
  });

  it('are not searched for further above a file than any of them is deep', () => {
    const sign = `objects/ab/${'c'.repeat(38)}`;
    const below = (levels: number): string => `refs/${'x/'.repeat(levels)}y`;
    expect(fileSets([sign, below(10)])).toHaveLength(1);
    expect(fileSets([sign, below(2000)])).toEqual([]);
  });

  it('are found by what is next to a changed file, and only where a changed file is among them', () => {
    expect(fileSets(['app.db'], ['app.db-wal', 'app.db']).map(({ members }) => members)).toEqual([
      ['app.db', 'app.db-wal'],
    ]);
    expect(fileSets(['x'], ['app.db', 'app.db-wal'])).toEqual([]);
  });

  it('name what their program makes again, what shows that they are open, and a name next to each', () => {
    const [set] = fileSets(['d/app.db', 'd/app.db-wal', 'd/app.db-shm', 'd/app.db-journal']);
    if (set === undefined) throw new Error('no set');
    expect(set.members.filter((path) => isScratchMember(set, path))).toEqual(['d/app.db-shm']);
    expect(set.members.map((path) => inUseStart(set, path)?.length)).toEqual([undefined, 0, undefined, 8]);
    expect(conflictMember(set, 'd/app.db-wal')).toBe('d/app.db.session-wal');
    expect(possibleMembers(['d/app.db-wal', 'x']).sort()).toEqual(['d/app.db', 'd/app.db-journal', 'd/app.db-shm']);
    const [folder] = fileSets(['CURRENT', 'MANIFEST-000004']);
    expect(folder && conflictMember(folder, 'CURRENT')).toBeUndefined();
  });
});

describe('the decision about one thing', () => {
  const entry = (size = 1): Entry => ({ kind: 'file', mode: 0o644, size, mtimeNs: '0' });
  const made = (path: string, more: Partial<Change> = {}): Change => ({
    path: path as RelPath,
    kind: 'created',
    after: entry(),
    ...more,
  });
  const removed = (path: string, more: Partial<Change> = {}): Change => {
    return { path: path as RelPath, kind: 'deleted', before: entry(), ...more };
  };
  const suspect = (path: string): Finding => {
    return { rule: 'r', severity: 'suspect', path: path as RelPath, title: 't', why: 'because' };
  };
  const review = (changes: readonly Change[], findings: readonly Finding[] = [], release: readonly string[] = []) =>
    buildReview({
      collected: { changes, problems: [], withheld: [], baseEntries: 100 },
      findings,
      allowSuspect: [],
      includeIgnored: false,
      release,
    });
  const DATABASE = [made('app.db', { kind: 'modified', before: entry() }), made('app.db-wal'), removed('other')];

  it('names it, and is made for all of its files', () => {
    const one = review(DATABASE);
    expect(one.decisions.map(decisionWords)).toEqual(['Take SQLite database app.db (2 files)', 'Delete other']);
    expect(summaryLines(one).map(({ text }) => text)).toContain('one change: SQLite database app.db (2 files)');
    expect(chooseClean(one).chosen.map(({ change }) => change.path)).toEqual(['app.db', 'app.db-wal', 'other']);
    const filters = [
      { only: ['app.db-wal'], skip: [] },
      { only: [], skip: ['app.db-wal'] },
      { only: ['other'], skip: [] },
    ];
    for (const filter of filters)
      expect(chooseClean(one, filter).chosen.map(({ change }) => change.path)).toEqual(
        filter.only[0] === 'app.db-wal' ? [] : ['other'],
      );
    const held = chooseClean(review(DATABASE, [suspect('app.db-wal')]));
    expect(held.left.map(({ path, verdict }) => [path, verdict])).toEqual([
      ['app.db', 'suspect'],
      ['app.db-wal', 'suspect'],
    ]);
  });

  it('is not made for a repository in the project: its .git is never applied, and a line says so', () => {
    const folder: Entry = { ...entry(), kind: 'dir' };
    const repository = [
      ...[made('lib', { after: folder }), made('lib/.git', { after: folder, inGit: true })],
      ...[made('lib/.git/HEAD', { inGit: true }), made('lib/a'), made('lib/b')],
    ];
    const one = review(repository, [suspect('lib/b')]);
    expect(chooseClean(one).chosen.map(({ change }) => change.path)).toEqual(['lib', 'lib/a']);
    expect(summaryLines(one).map(({ text }) => text)).toContain(
      'WARNING: New nested repository: lib/.git: 2 files come without it (BLOCKED — not synced)',
    );
  });

  it('holds it back where an ignored file has a part of it, and only then', () => {
    const ignored = [made('app.db'), made('app.db-wal', { ignored: true }), made('app.db-shm', { ignored: true })];
    const { chosen, left } = chooseClean(review(ignored));
    expect(chosen).toEqual([]);
    expect(left.find(({ path }) => path === 'app.db')?.why).toBe(
      'it is one SQLite database with app.db-wal, which is ignored: --include-ignored=app.db-wal takes both',
    );
    const released = chooseClean(review(ignored, [], ['app.db-wal']));
    expect(released.chosen.map(({ change }) => change.path)).toEqual(['app.db', 'app.db-wal']);
    for (const [log, count] of [
      [removed('app.db-wal', { ignored: true }), 1],
      [made('app.db-wal', { ignored: true, after: entry(0) }), 1],
      [made('app.db-wal', { ignored: true }), 0],
    ] as const)
      expect(chooseClean(review([made('app.db'), log])).chosen).toHaveLength(count);
  });

  it('needs the withheld files that have a part of it', () => {
    const file = (path: string, size: number) => ({ path: path as RelPath, kind: 'file' as const, size });
    const withheld = [file('app.db-wal', 9), file('app.db-shm', 9), file('b.db-wal', 9), file('db/000003.log', 9)];
    expect(neededOf(['app.db', 'c.db', 'db/MANIFEST-000004', 'db/CURRENT'], withheld).sort()).toEqual([
      ...['app.db-wal', 'db/000003.log'],
    ]);
    expect(neededOf(['app.db'], [file('app.db-wal', 0)])).toEqual([]);
  });
});
