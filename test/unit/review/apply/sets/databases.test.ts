import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RelPath } from '../../../../../src/core/text/path.ts';
import type { HostWalker } from '../../../../../src/review/apply/disk/host/host-path.ts';
import { WholeSteps } from '../../../../../src/review/apply/disk/whole-things.ts';
import { isTogetherReason } from '../../../../../src/review/apply/sets/in-use.ts';
import { BinaryScene, OpenDatabase, queryDatabase } from '../../../../support/apply/binary-scene.ts';

function scene(): BinaryScene {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-sets-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return new BinaryScene(root);
}

const FILES = ['app.db', 'app.db-shm', 'app.db-wal'];
const OPEN = 'the SQLite database app.db is open on this machine, or was not closed: app.db-wal is not empty';

/** A database with one row, with its log. */
async function openIn(folder: string): Promise<OpenDatabase> {
  const database = new OpenDatabase(path.join(folder, 'app.db'));
  await database.run('pragma journal_mode = wal');
  await database.run('create table t (x)');
  await database.run('insert into t values (1)');
  return database;
}

const rowsIn = (folder: string): string[] =>
  queryDatabase(path.join(folder, 'app.db'), 'select x from t order by x', 'pragma integrity_check');

describe('a SQLite database that the host has open', () => {
  it('stays as it is, all of its files, while the host goes on writing', async () => {
    const one = scene();
    const database = await openIn(one.project);
    one.begin();
    expect(queryDatabase(path.join(one.session, 'app.db'), 'vacuum', 'insert into t values (7)')).toHaveLength(2);
    expect(existsSync(path.join(one.session, 'app.db-wal'))).toBe(false);
    writeFileSync(path.join(one.session, 'other.txt'), 'new');
    await database.run('insert into t values (2)');
    const said = await one.apply();
    expect(said).toEqual({
      ...Object.fromEntries(FILES.map((name) => [name, `conflict: ${OPEN}`])),
      'other.txt': 'applied',
    });
    // The session's version decides nothing while a program has it open: it removes the log that the program writes to.
    if (process.platform === 'linux')
      expect((await one.apply({ conflict: 'theirs' }))['app.db']).toBe(`conflict: ${OPEN}`);
    expect(await database.run('insert into t values (3)')).toBe('[]');
    await database.close();
    expect(rowsIn(one.project)).toEqual(['[(1,), (2,), (3,)]', "[('ok',)]"]);
  });

  it('is seen by the lock of a program that wrote nothing yet', async () => {
    const one = scene();
    await (await openIn(one.project)).close();
    one.begin();
    queryDatabase(path.join(one.session, 'app.db'), 'insert into t values (7)');
    const reader = new OpenDatabase(path.join(one.project, 'app.db'));
    await reader.run('select x from t');
    if (process.platform === 'linux') {
      const said = await one.apply({ conflict: 'theirs' });
      expect(said['app.db']).toMatch(
        /^conflict: the SQLite database app.db is open on this machine: a program holds a lock/,
      );
    }
    await reader.close();
    expect(await one.apply()).toEqual({ 'app.db': 'applied' });
    expect(rowsIn(one.project)).toEqual(['[(1,), (7,)]', "[('ok',)]"]);
  });

  it('is taken as one with the rule theirs where a killed program left its log, and undone as one', async () => {
    const one = scene();
    await (await openIn(one.project)).kill();
    const before = FILES.map((name) => readFileSync(path.join(one.project, name)));
    one.begin();
    queryDatabase(path.join(one.session, 'app.db'), 'vacuum', 'insert into t values (7)');
    expect((await one.apply())['app.db']).toBe(`conflict: ${OPEN}`);
    expect(await one.apply({ conflict: 'theirs' })).toEqual(Object.fromEntries(FILES.map((name) => [name, 'applied'])));
    expect(one.names()).toEqual(['app.db']);
    expect(await one.undo()).toEqual(Object.fromEntries(FILES.map((name) => [name, 'applied'])));
    expect(FILES.map((name) => readFileSync(path.join(one.project, name)))).toEqual(before);
    expect(rowsIn(one.project)).toEqual(['[(1,)]', "[('ok',)]"]);
  });

  it('is not undone while it is open, and writes next to it one database that can be opened', async () => {
    const one = scene();
    await (await openIn(one.project)).close();
    one.begin();
    queryDatabase(path.join(one.session, 'app.db'), 'insert into t values (7)');
    expect(await one.apply()).toEqual({ 'app.db': 'applied' });
    const database = new OpenDatabase(path.join(one.project, 'app.db'));
    await database.run('insert into t values (8)');
    expect((await one.undo())['app.db']).toMatch(/^conflict: the SQLite database app.db is open/);
    await database.close();
    expect(rowsIn(one.project)[0]).toBe('[(1,), (7,), (8,)]');

    const two = scene();
    const open = await openIn(two.project);
    two.begin();
    const left = new OpenDatabase(path.join(two.session, 'app.db'));
    await left.run('insert into t values (7)');
    await left.run('pragma wal_checkpoint');
    await left.run('insert into t values (9)');
    await left.kill();
    await open.run('insert into t values (2)');
    await two.apply({ conflict: 'file' });
    expect(two.names().filter((name) => !name.includes('-shm'))).toEqual([
      ...['app.db', 'app.db-wal', 'app.db.session', 'app.db.session-wal'],
    ]);
    expect(queryDatabase(path.join(two.project, 'app.db.session'), 'select x from t')).toEqual(['[(1,), (7,), (9,)]']);
    await open.close();
  });
});

it('a database that a session left with its log is applied with it, and undone as one', async () => {
  const one = scene();
  one.begin();
  await (await openIn(one.session)).kill();
  const names = ['app.db', 'app.db-shm', 'app.db-wal'];
  expect(await one.apply()).toEqual(Object.fromEntries(names.map((name) => [name, 'applied'])));
  expect(await one.undo()).toEqual(Object.fromEntries(names.map((name) => [name, 'applied'])));
  expect(one.names()).toEqual([]);
  await one.apply();
  expect(rowsIn(one.project)).toEqual(['[(1,)]', "[('ok',)]"]);
});

describe('undo of a database whose log the host took into it since', () => {
  it.each([
    ['the log alone was applied', true],
    ['the database was applied with its log', false],
  ])('is a conflict of all of its files, and changes none: %s', async (_, isThere) => {
    const one = scene();
    if (isThere) await (await openIn(one.project)).close();
    one.begin();
    const left = isThere ? new OpenDatabase(path.join(one.session, 'app.db')) : await openIn(one.session);
    await left.run('insert into t values (7)');
    await left.kill();
    await one.apply();
    const rows = rowsIn(one.project);
    expect(one.names()).toEqual(['app.db']);
    const said = await one.undo();
    expect(said['app.db-wal']).toMatch(/^(conflict: it is one SQLite database with app.db|same)/);
    expect(said[isThere ? 'app.db-wal' : 'app.db']).toMatch(/^conflict: .*since the apply$/);
    expect(rowsIn(one.project)).toEqual(rows);
  });

  it('and of a thing that got another file since', async () => {
    const one = scene();
    mkdirSync(path.join(one.project, 'db'));
    const put = (folder: string, name: string, text: string) => writeFileSync(path.join(folder, 'db', name), text);
    for (const name of ['CURRENT', 'MANIFEST-000001']) put(one.project, name, 'old');
    one.begin();
    put(one.session, '000005.ldb', 'new');
    await one.apply();
    put(one.project, '000006.ldb', 'mine');
    expect(await one.undo()).toEqual({
      'db/000005.ldb':
        'conflict: it is one LevelDB or RocksDB database with db/000006.ldb, which was changed since the apply',
    });
    rmSync(path.join(one.project, 'db/000006.ldb'));
    expect(await one.undo()).toEqual({ 'db/000005.ldb': 'applied' });
  });
});

it('a file of a thing that cannot be written at the last moment leaves all of them as they were', async () => {
  const one = scene();
  const put = (folder: string, name: string, text: string) => writeFileSync(path.join(folder, name), text);
  for (const ending of ['shp', 'shx', 'dbf']) put(one.project, `r.${ending}`, 'old');
  put(one.project, 'other.txt', 'old');
  one.begin();
  for (const name of ['r.shp', 'r.shx', 'r.dbf', 'other.txt']) put(one.session, name, 'new');
  const said = await one.apply({
    tell: (event) => {
      // The folder takes the name between two renames.
      if (event.kind !== 'progress' || readFileSync(path.join(one.project, 'r.dbf'), 'utf8') === 'old') return;
      if (existsSync(path.join(one.project, 'r.shx')) && event.done === 3) {
        rmSync(path.join(one.project, 'r.shx'));
        mkdirSync(path.join(one.project, 'r.shx'));
      }
    },
  });
  expect(isTogetherReason(said['r.dbf']?.replace('conflict: ', '') ?? '')).toBe(true);
  expect(isTogetherReason(said['r.shx']?.replace('conflict: ', '') ?? '')).toBe(false);
  expect(said).toEqual({
    'other.txt': 'applied',
    'r.dbf': 'conflict: it is one change with r.shx, which could not be applied',
    'r.shp': 'conflict: it is one change with r.shx, which could not be applied',
    'r.shx': 'conflict: changed on the host while applying',
  });
  expect(['r.dbf', 'r.shp'].map((name) => readFileSync(path.join(one.project, name), 'utf8'))).toEqual(['old', 'old']);
  rmSync(path.join(one.project, 'r.shx'), { recursive: true });
  put(one.project, 'r.shx', 'old');
  expect(await one.apply()).toEqual({
    ...{ 'other.txt': 'same: the host has it already', 'r.dbf': 'applied', 'r.shp': 'applied', 'r.shx': 'applied' },
  });
});

describe('files of one thing that both sides changed', () => {
  it('a log alone is not brought to a database that the host changed since', async () => {
    const one = scene();
    await (await openIn(one.project)).close();
    one.begin();
    const left = new OpenDatabase(path.join(one.session, 'app.db'));
    await left.run('insert into t values (7)');
    await left.kill();
    queryDatabase(path.join(one.project, 'app.db'), 'insert into t values (2)');
    const said = await one.apply({ conflict: 'theirs' });
    expect(said['app.db-wal']).toBe('conflict: it is one SQLite database with app.db, which the host changed');
    expect(rowsIn(one.project)).toEqual(['[(1,), (2,)]', "[('ok',)]"]);
  });

  it('a shapefile is not mixed, nor merged by lines', async () => {
    const one = scene();
    const put = (folder: string, name: string, text: string) => writeFileSync(path.join(folder, name), text);
    for (const ending of ['shp', 'shx', 'dbf', 'prj']) put(one.project, `r.${ending}`, 'a\nb\nc\nd\ne\nf\n');
    one.begin();
    put(one.session, 'r.shp', 'A\nb\nc\nd\ne\nf\n');
    put(one.session, 'r.shx', 'A\nb\nc\nd\ne\nf\n');
    put(one.project, 'r.shp', 'a\nb\nc\nd\ne\nF\n');
    expect(await one.apply()).toEqual({
      'r.shp': 'conflict: changed on both sides',
      'r.shx': 'conflict: it is one change with r.shp, which could not be applied',
    });
    put(one.project, 'r.shp', 'a\nb\nc\nd\ne\nf\n');
    put(one.project, 'r.dbf', 'other');
    expect(await one.apply({ conflict: 'theirs' })).toEqual({
      'r.shp': 'conflict: it is one shapefile with r.dbf, which the host changed',
      'r.shx': 'conflict: it is one shapefile with r.dbf, which the host changed',
    });
  });

  it('a LevelDB folder is applied whole or not at all, also where the host changes it at the last moment', async () => {
    const one = scene();
    mkdirSync(path.join(one.project, 'db'));
    const put = (folder: string, name: string, text: string) => writeFileSync(path.join(folder, 'db', name), text);
    for (const name of ['CURRENT', 'MANIFEST-000001', '000003.log']) put(one.project, name, 'old');
    one.begin();
    for (const name of ['CURRENT', 'MANIFEST-000004', '000005.ldb']) put(one.session, name, 'new');
    rmSync(path.join(one.session, 'db/MANIFEST-000001'));
    const said = await one.apply({
      tell: (event) => {
        if (event.kind === 'progress' && event.done === undefined) put(one.project, 'MANIFEST-000001', 'mine');
      },
    });
    expect(new Set(Object.values(said))).toEqual(
      new Set([
        'conflict: changed on the host while applying',
        'conflict: it is one change with db/MANIFEST-000001, which could not be applied',
      ]),
    );
    expect(readdirSync(path.join(one.project, 'db')).sort()).toEqual(['000003.log', 'CURRENT', 'MANIFEST-000001']);
    expect(readFileSync(path.join(one.project, 'db/CURRENT'), 'utf8')).toBe('old');
    put(one.project, 'MANIFEST-000001', 'old');
    expect(new Set(Object.values(await one.apply()))).toEqual(new Set(['applied']));
    expect(readdirSync(path.join(one.project, 'db')).sort()).toEqual([
      ...['000003.log', '000005.ldb', 'CURRENT', 'MANIFEST-000004'],
    ]);
  });

  it('are compared with the host a number of times that grows with their number', async () => {
    for (const count of [50, 100]) {
      const paths = Array.from({ length: count }, (_, at) => `db/${String(at).padStart(6, '0')}.ldb`);
      const steps = paths.map((name) => ({ path: name, thing: 'db' }));
      let looks = 0;
      const walker = { enter: () => Buffer.from(`/nowhere${looks++}`) } as unknown as HostWalker;
      const whole = new WholeSteps(steps, { walker, resumed: false });
      for (const step of steps) expect(whole.reasonAgainst(step, false)).toBeUndefined();
      for (const step of steps) {
        expect(whole.reasonAgainst(step, true)).toBeUndefined();
        whole.note(step, { path: step.path as RelPath, verdict: 'applied' });
      }
      expect(looks).toBe(2 * count);
    }
  });
});
