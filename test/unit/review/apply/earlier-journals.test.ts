import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openContentStore } from '../../../../src/core/store/content.ts';
import { directoryIdentity } from '../../../../src/review/apply/disk/host/host-path.ts';
import { readJournals } from '../../../../src/review/apply/disk/journal/journal.ts';
import { dir, file, layApply, link, type Nodes } from '../../../support/apply/lay.ts';

// Each journal in `fixtures` was written by the code of that day, for this project and these changes.
const FIXTURES = ['apply-2026-11-21', 'apply-2026-11-22'];
const BEFORE: Nodes = {
  'mode.sh': file('#!/bin/sh\n'),
  src: dir,
  'src/edited.txt': file('one\ntwo\nthree\n'),
  'src/removed.txt': file('old\n'),
};
const { 'src/removed.txt': _, ...rest } = BEFORE;
const AFTER: Nodes = {
  ...rest,
  'mode.sh': file('#!/bin/sh\n', 0o755),
  new: dir,
  'new/file.txt': file('fresh\n'),
  'new/link': link('file.txt'),
  'src/edited.txt': file('one\n2\nthree\n'),
};

type Line = Record<string, unknown> & { readonly r: string };

/** The project as it is now, with the session's store and the journal of a fixture, moved to this machine. */
async function layOld(fixture: string, host: Nodes, change: (line: Line) => object | undefined = (line) => line) {
  const root = path.join(tmpdir(), `run-claude-journals-${process.pid}-${fixture}`);
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = path.join(root, 'project');
  const scene = await layApply(project, path.join(root, 'state'), { base: BEFORE, session: AFTER, host });
  const store = openContentStore(path.join(scene.sessionDir, 'store'));
  for (const node of Object.values({ ...AFTER, ...BEFORE }))
    if (node.kind === 'file') await store.put([node.text].map(Buffer.from));
  const lines = readFileSync(path.join(import.meta.dirname, 'fixtures', `${fixture}.journal`), 'utf8')
    .trim()
    .split('\n');
  const journal = path.join(scene.sessionDir, 'journal', '0001.journal');
  mkdirSync(path.dirname(journal));
  const moved = lines.flatMap((line) => change(JSON.parse(here(line.slice(17), project))) ?? []);
  writeFileSync(journal, moved.map((record) => lineOf(JSON.stringify(record))).join(''));
  return { ...scene, journal };
}

/** Names of this machine: the project, its identity, the user. */
function here(json: string, project: string): string {
  return json
    .replace('/home/ada/shop', project)
    .replace(/"identity":"[0-9:]+"/, `"identity":"${directoryIdentity(project)}"`)
    .replace(/"uid":0,"gid":0/g, `"uid":${process.getuid?.()},"gid":${process.getgid?.()}`)
    .replace(/"boot":"[^"]+",/, '');
}

function lineOf(json: string): string {
  return `${createHash('sha256').update(json).digest('hex').slice(0, 16)} ${json}\n`;
}

describe.each(FIXTURES)('the journal %s of an earlier release', (fixture) => {
  it('is read completely, and its changes are undone', async () => {
    const scene = await layOld(fixture, AFTER);
    const [journal] = readJournals(scene.sessionDir);
    expect(journal).toMatchObject({ ready: true, head: { kind: 'apply', version: 1 }, steps: { length: 6 } });
    expect(journal?.end?.outcomes).toHaveLength(6);
    expect(Object.values(await scene.undo())).toEqual(Array(6).fill('applied'));
    expect(scene.now()).toEqual(BEFORE);
  });

  it('is finished when it is incomplete', async () => {
    const scene = await layOld(fixture, BEFORE, (line) => (line.r === 'done' || line.r === 'end' ? undefined : line));
    expect(Object.values(await scene.recover())).toEqual(Array(6).fill('applied'));
    expect(scene.now()).toEqual(AFTER);
  });
});

describe('a journal of an unknown format', () => {
  const head = (line: Line, more: object) =>
    line.r === 'head' ? { ...line, head: { ...(line['head'] as object), ...more } } : line;
  const steps = (line: Line) =>
    line.r === 'step' ? { ...line, step: { ...(line['step'] as object), post: { kind: 'fifo', mode: 0 } } } : line;
  it.each<[string, (line: Line) => object, string]>([
    ['of a newer release', (line) => head(line, { version: 2 }), 'written by a newer release of run-claude'],
    ['with a head that lacks its token', (line) => head(line, { token: undefined }), 'token is missing'],
    ['with a step that no release does', steps, 'step.post.kind is not one of file, dir, symlink'],
    ['with a record that no release writes', (line) => (line.r === 'done' ? { r: 'redo' } : line), 'r is not one of'],
  ])('%s stops undo and recovery before the project is touched', async (_name, change, reason) => {
    const scene = await layOld('apply-2026-11-22', AFTER, change);
    expect(await scene.undo()).toEqual({ thrown: expect.stringContaining(reason) });
    expect(await scene.recover()).toEqual({ thrown: expect.stringContaining(scene.journal) });
    expect(scene.now()).toEqual(AFTER);
  });
});
