import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ChosenChange } from '../../../../src/core/types/review.ts';
import type { Step } from '../../../../src/review/apply/disk/steps/steps.ts';
import { inSessionOrder } from '../../../../src/review/apply/entries/times.ts';
import { BinaryScene } from '../../../support/apply/binary-scene.ts';

it('generated files stay newer than their source, so that the real make builds them not again', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-times-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const one = new BinaryScene(root);
  const inProject = (name: string): string => path.join(one.project, name);
  const make = (): string => execFileSync('make', ['-s', 'p.c', 'out'], { cwd: one.project, encoding: 'utf8' });
  writeFileSync(inProject('Makefile'), 'p.c: p.y ; @echo bison; cp p.y p.c\nout: p.c ; @echo cc; cp p.c out\n');
  for (const name of ['p.y', 'p.c', 'out']) writeFileSync(inProject(name), 'old');
  one.begin();
  // The session's clock may be wrong, and its times are older than what the host built since.
  for (const [at, name] of ['p.y', 'p.c'].entries()) {
    writeFileSync(path.join(one.session, name), 'new');
    utimesSync(path.join(one.session, name), 1_000_000_000 + at, 1_000_000_000 + at);
  }
  await one.apply();
  const [source, made] = ['p.y', 'p.c'].map((name) => statSync(inProject(name), { bigint: true }).mtimeNs);
  expect(source).toBeLessThan(made as bigint);
  expect(make()).toBe('cc\n');
  await one.undo();
  expect(statSync(inProject('p.c')).mtimeMs).toBeLessThan(Date.now());
});

it('gives files with one time one time, and leaves what is not written as it is', () => {
  const file = (digest: string) => ({ kind: 'file', mode: 0o644, size: 1, digest, mtimeNs: '0' }) as const;
  const chosen = (name: string, mtimeNs: string): ChosenChange => ({
    change: { path: name as RelPath, kind: 'created', after: { ...file('n'), mtimeNs } },
  });
  const host = { ...file('n'), uid: 0, gid: 0, nlink: 1, fingerprint: '' };
  const target = { kind: 'file', mode: 0o644, digest: 'n' } as const;
  const steps: Step[] = [
    { path: 'b', post: target },
    { path: 'a', post: target },
    { path: 'c', post: target },
    { path: 'mode', pre: host, post: target },
    { path: 'beside', post: target },
    { path: 'gone', pre: host },
  ];
  const all = [chosen('a', '-5'), chosen('b', '9'), chosen('c', '9'), chosen('mode', '1'), chosen('gone', '1')];
  expect(inSessionOrder(steps, all, 10_000n).map(({ post }) => post?.mtimeNs)).toEqual([
    ...['12000', '10000', '12000', undefined, undefined, undefined],
  ]);
});
