import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { OpenDatabase, queryDatabase } from '../../../../support/apply/binary-scene.ts';
import { Scene } from '../../../../support/scene.ts';

it('a SQLite database that the host has open stays as it is, whatever the session made of its files', async () => {
  await using scene = new Scene();
  const file = path.join(scene.project, 'app.db');
  const database = new OpenDatabase(file);
  for (const sql of ['pragma journal_mode = wal', 'create table t (x)', 'insert into t values (1)'])
    await database.run(sql);
  // The copy has all three files.
  expect(['-wal', '-shm'].map((suffix) => existsSync(file + suffix))).toEqual([true, true]);
  const work = "import sqlite3; c = sqlite3.connect('app.db', isolation_level=None); c.execute('vacuum'); c.close()";
  const made = await scene.run(['exec', '--yes', '--', 'sh', '-c', `python3 -c "${work}"; echo x >> README.md`]);
  expect(made.stderr).toContain('one change: SQLite database app.db (3 files)');
  await database.run('insert into t values (2)');
  const applied = await scene.run(['apply', '--yes']);
  expect([applied.status, applied.stderr]).toEqual([
    122,
    expect.stringContaining('conflict: app.db, app.db-shm, app.db-wal (the SQLite database app.db is open on this'),
  ]);
  expect(applied.stderr).toContain('Close the program that has it open');
  // One reason for the three files, and no advice that would be refused.
  expect(applied.stderr.match(/is open on this machine/g)).toHaveLength(1);
  expect(applied.stderr).not.toMatch(/markers|--conflict theirs/);
  await database.run('insert into t values (3)');
  await database.close();
  expect(queryDatabase(file, 'select x from t order by x', 'pragma integrity_check')).toEqual([
    '[(1,), (2,), (3,)]',
    "[('ok',)]",
  ]);
});
