import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { askedChanges } from '../../../../src/cli/audit/changes-of.ts';
import { parseCommandLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { GitScene } from '../../../support/review/git-scene.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());
scene.commit({ 'a.txt': 'a\n' });
scene.git('tag', 'v1');
mkdirSync(path.join(scene.repo, 'sub'));
scene.put('fix.patch', 'x');

const asked = (...words: readonly string[]) => {
  const line = parseCommandLine(['audit', ...words], () => false, {});
  if (line.kind !== 'command') throw new TypeError(line.kind);
  return askedChanges(line, scene.context());
};
const { repo } = scene;

it.each([
  [[], { kind: 'session', id: undefined }],
  [['260101-000000-abc'], { kind: 'session', id: '260101-000000-abc' }],
  [['.'], { kind: 'commits', folder: repo, ends: undefined }],
  [['sub', '--base', 'main'], { kind: 'commits', folder: `${repo}/sub`, ends: ['main', 'HEAD'] }],
  [['--base', 'v1..main'], { kind: 'commits', folder: repo, ends: ['v1', 'main'] }],
  [['--base', 'v1..'], { kind: 'commits', folder: repo, ends: ['v1', 'HEAD'] }],
  [['v1'], { kind: 'commits', folder: repo, ends: ['HEAD', 'v1'] }],
  [['v1..main'], { kind: 'commits', folder: repo, ends: ['v1', 'main'] }],
  [['nowhere...main'], { kind: 'commits', folder: repo, ends: ['nowhere', 'main'] }],
  [['sub', 'v1..main'], { kind: 'commits', folder: `${repo}/sub`, ends: ['v1', 'main'] }],
  [['--staged'], { kind: 'staged', folder: repo }],
  [['sub', '--staged'], { kind: 'staged', folder: `${repo}/sub` }],
  [['--pre-push', 'origin', 'ssh://x/y'], { kind: 'pushed', folder: repo, remote: 'origin' }],
  [['-'], { kind: 'patch', folder: repo, file: '-' }],
  [['sub', '-'], { kind: 'patch', folder: `${repo}/sub`, file: '-' }],
  [['fix.patch'], { kind: 'patch', folder: repo, file: `${repo}/fix.patch` }],
])('audit %j', async (words, wanted) => {
  expect(await asked(...words)).toEqual(wanted);
});

it.each([
  [['--base', 'main', '--staged'], '--base and --staged exclude each other'],
  [['--base', 'main', 'v1'], '--base and v1 exclude each other'],
  [['.', 'nowhere'], 'is neither a commit of'],
  [['nowhere', 'v1'], "no such folder: 'nowhere'"],
])('refuses audit %j', async (words, message) => {
  await expect(asked(...words)).rejects.toThrow(message);
});
