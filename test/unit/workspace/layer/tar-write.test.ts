import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type TarItem, writeTar } from '../../../../src/workspace/layer/volumes/tar-write.ts';
import { treeFacts } from '../../../support/tree-facts.ts';

it('GNU tar restores names, modes, times, links and holes', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-tar-'));
  const from = path.join(dir, 'from');
  const names = [
    'plain',
    'ünï',
    'n\udcff\udcfe',
    '-dash',
    'a\nb',
    `long${'x'.repeat(240)}`,
    'sub/deep',
    'setuid',
    'empty',
  ];
  const items: TarItem[] = [
    { path: '', source: from },
    { path: 'sub', source: `${from}/sub` },
  ];
  mkdirSync(path.join(from, 'sub'), { recursive: true });
  for (const name of names) {
    const bytes = Buffer.from(`${from}/${name}`.replace('\udcff\udcfe', '??'));
    const at = bytes.indexOf('??');
    if (at >= 0) bytes.set([0xff, 0xfe], at);
    writeFileSync(bytes, name === 'empty' ? '' : `content of ${name.length}`);
    items.push({ path: name, source: `${from}/${name}` });
  }
  chmodSync(path.join(from, 'setuid'), 0o4755);
  utimesSync(path.join(from, 'plain'), 1.5, 1_234_567_890.123);
  for (const [name, bytes] of [
    ['hole', 5_000_000],
    ['holes', 70_000_000],
  ] as const) {
    writeFileSync(path.join(from, name), name === 'hole' ? '' : 'start');
    truncateSync(path.join(from, name), bytes);
    items.push({ path: name, source: `${from}/${name}` });
  }
  writeFileSync(path.join(from, 'holes'), 'END', { flag: 'r+' });
  symlinkSync('x'.repeat(300), path.join(from, 'link'));
  linkSync(path.join(from, 'plain'), path.join(from, 'hard'));
  items.push({ path: 'link', source: `${from}/link` }, { path: 'hard', source: `${from}/hard`, link: 'plain' });
  items.push({ path: 'gone', source: `${from}/gone` });
  chmodSync(path.join(from, 'sub'), 0o555);
  utimesSync(path.join(from, 'sub'), 1, 77);
  utimesSync(from, 1, 78);
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(items, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }))
    chunks.push(chunk);
  const into = path.join(dir, 'into');
  mkdirSync(into);
  execFileSync('tar', ['-xp', '--delay-directory-restore', '-C', into, '-f', '-'], { input: Buffer.concat(chunks) });
  expect(treeFacts(into)).toEqual(treeFacts(from));
  const at = (name: string) => lstatSync(path.join(into, name), { bigint: true });
  expect(at('plain').mtimeNs).toBe(statSync(path.join(from, 'plain'), { bigint: true }).mtimeNs);
  expect(at('plain').ino).toBe(at('hard').ino);
  expect(at('holes').blocks).toBeLessThan(1000n);
  rmSync(dir, { recursive: true, force: true });
});
