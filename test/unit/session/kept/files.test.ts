import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openKeptDoor } from '../../../support/kept-door.ts';

describe('files through the runner', () => {
  it('are written, edited and read with numbers of lines, and keep their mode', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const file = path.join(kept.dir, 'new/dir/a.sh');
    await connection.ask({ kind: 'write', path: 'new/dir/a.sh', content: 'one\ntwo\ntwo\n' });
    execFileSync('chmod', ['750', file]);
    await expect(connection.ask({ kind: 'edit', path: file, before: 'two', after: 'x' })).rejects.toThrow('2 times');
    await expect(connection.ask({ kind: 'edit', path: file, before: 'no', after: 'x' })).rejects.toThrow('is not in');
    await connection.ask({ kind: 'edit', path: file, before: 'one', after: "$& $' $1" });
    await connection.ask({ kind: 'edit', path: file, before: 'two', after: '2', all: true });
    expect(readFileSync(file, 'utf8')).toBe("$& $' $1\n2\n2\n");
    expect(statSync(file).mode & 0o777).toBe(0o750);
    expect(readdirSync(path.dirname(file))).toEqual(['a.sh']);
    expect(await connection.ask({ kind: 'read', path: file, offset: 2, limit: 1 })).toEqual({
      text: '     2\t2',
      isCut: true,
    });
    connection.close();
  });

  it('that are no text of a bounded size are refused, and none blocks', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    execFileSync('mkfifo', [path.join(kept.dir, 'fifo')]);
    writeFileSync(path.join(kept.dir, 'binary'), Buffer.from([1, 0, 2]));
    writeFileSync(path.join(kept.dir, 'latin1'), Buffer.from([0xe4, 0x0a]));
    writeFileSync(path.join(kept.dir, 'large'), '');
    truncateSync(path.join(kept.dir, 'large'), 2 ** 40);
    symlinkSync('/dev/zero', path.join(kept.dir, 'zero'));
    for (const [name, why] of [
      ['fifo', 'not a regular file'],
      ['zero', 'not a regular file'],
      ['binary', 'not a text file'],
      ['latin1', 'not UTF-8'],
      ['large', 'larger than'],
      ['missing', 'ENOENT'],
    ] as const)
      await expect(connection.ask({ kind: 'read', path: name }), name).rejects.toThrow(why);
    await expect(connection.ask({ kind: 'write', path: 'fifo', content: '' })).rejects.toThrow('not a regular file');
    connection.close();
  });

  it('leave nothing next to them after a write that failed, and may have the longest name', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    const name = 'ü'.repeat(127);
    await connection.ask({ kind: 'write', path: name, content: 'a' });
    await expect(connection.ask({ kind: 'write', path: `${name}üü`, content: 'a' })).rejects.toThrow('ENAMETOOLONG');
    await expect(connection.ask({ kind: 'write', path: 'x'.repeat(256), content: 'a' })).rejects.toThrow();
    expect(readdirSync(kept.dir).filter((one) => one.endsWith('.new'))).toEqual([]);
    expect(readFileSync(path.join(kept.dir, name), 'utf8')).toBe('a');
    connection.close();
  });

  it('are found by name and by content', async () => {
    await using kept = await openKeptDoor();
    const connection = await kept.connect();
    for (const name of ['src/a.ts', 'src/deep/b.ts', 'src/c.js', '.git/d.ts', 'node_modules/e.ts']) {
      mkdirSync(path.dirname(path.join(kept.dir, name)), { recursive: true });
      writeFileSync(path.join(kept.dir, name), `needle in ${name}\n`);
    }
    const glob = async (pattern: string) => (await connection.ask({ kind: 'glob', pattern })).text.split('\n');
    expect(await glob('*.ts')).toEqual(['src/a.ts', 'src/deep/b.ts']);
    expect(await glob('src/*.{ts,js}')).toEqual(['src/a.ts', 'src/c.js']);
    expect(
      (await connection.ask({ kind: 'grep', pattern: 'NEEDLE in src/.', ignoreCase: true, path: 'src' })).text,
    ).toBe(
      [
        'src/a.ts:1:needle in src/a.ts',
        'src/c.js:1:needle in src/c.js',
        'src/deep/b.ts:1:needle in src/deep/b.ts',
      ].join('\n'),
    );
    expect((await connection.ask({ kind: 'grep', pattern: '-e', path: 'src' })).text).toBe('');
    await expect(connection.ask({ kind: 'grep', pattern: '(', path: 'src' })).rejects.toThrow(
      /paren|unclosed|Unmatched/i,
    );
    await expect(connection.ask({ kind: 'glob', pattern: '*', path: 'missing' })).rejects.toThrow('ENOENT');
    connection.close();
  });
});
