import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openHostWalker } from '../../../../../src/review/apply/disk/host/host-path.ts';
import { commitStep } from '../../../../../src/review/apply/disk/steps/perform-step.ts';
import { dir, file, layApply, link } from '../../../../support/apply/lay.ts';

const root = mkdtempSync(path.join(tmpdir(), 'run-claude-together-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const base = { 'old.txt': file('text\n'), cfg: dir, 'cfg/a': file('a\n') };
const session = { 'new.txt': file('text\n'), cfg: file('a file\n'), 'moved.txt': file('a\n') };
const GROUPS: Readonly<Record<string, string>> = {
  'old.txt': 'new.txt',
  'new.txt': 'new.txt',
  cfg: 'cfg',
  'cfg/a': 'cfg',
  'moved.txt': 'cfg',
};

async function lay(name: string, host: Readonly<Record<string, ReturnType<typeof file>>> = {}) {
  const project = path.join(root, name, 'project');
  const scene = await layApply(project, path.join(root, name, 'state'), { base, session, host: { ...base, ...host } });
  const chosen = scene.changes.map((change) => ({ change, together: GROUPS[change.path] as string }));
  return { ...scene, choice: { ...scene.choice, chosen } };
}

it('keeps an old name whose new name exists on the host, and a folder that keeps an entry', async () => {
  const { apply, choice, now } = await lay('taken', { 'new.txt': file('mine\n'), 'moved.txt': file('mine too\n') });
  const said = await apply({ choice });
  expect(said['old.txt']).toBe('conflict: it is one change with new.txt, which could not be applied');
  expect(said['cfg/a']).toBe('conflict: it is one change with moved.txt, which could not be applied');
  expect(now()).toEqual({ ...base, 'new.txt': file('mine\n'), 'moved.txt': file('mine too\n') });
});

it('keeps a file that a link would replace if the new name of its content cannot be written', async () => {
  const tree = { 'conf.json': file('conf\n') };
  const made = { 'conf.json': link('local/conf.json'), local: dir, 'local/conf.json': file('conf\n') };
  const why = 'conflict: it is one change with local/conf.json, which could not be applied';
  for (const name of ['link-taken', 'link-race']) {
    const project = path.join(root, name, 'project');
    const mine = name === 'link-taken' ? { local: dir, 'local/conf.json': file('mine\n') } : { local: dir };
    const host = { ...tree, ...mine };
    const scene = await layApply(project, path.join(root, name, 'state'), { base: tree, session: made, host });
    const chosen = scene.changes.map((change) => ({ change, together: 'conf.json' }));
    const said = await scene.apply({
      choice: { ...scene.choice, chosen },
      tell: (event) => {
        const isFirst = event.kind === 'progress' && event.done === 0;
        if (isFirst && name === 'link-race') writeFileSync(path.join(project, 'local/conf.json'), 'mine\n');
      },
    });
    expect([name, said['conf.json']]).toEqual([name, why]);
    expect(scene.now()).toMatchObject({ 'conf.json': file('conf\n'), 'local/conf.json': file('mine\n') });
  }
});

it('keeps an old name whose new name could not be written', async () => {
  const { apply, choice, now, project } = await lay('race');
  const said = await apply({
    choice,
    tell: (event) => {
      if (event.kind === 'progress' && event.done === 0) writeFileSync(path.join(project, 'new.txt'), 'a race\n');
    },
  });
  expect(said['new.txt']).toMatch(/^conflict/);
  expect(said['old.txt']).toBe('conflict: it is one change with new.txt, which could not be applied');
  expect(now()).toMatchObject({ 'old.txt': file('text\n'), 'new.txt': file('a race\n'), 'moved.txt': file('a\n') });
});

it('keeps what a failed write would have replaced, and names the path that failed first', async () => {
  const { apply, choice, now, project } = await lay('way');
  const said = await apply({
    choice,
    tell: (event) => {
      if (event.kind === 'progress' && event.done === 0) writeFileSync(path.join(project, 'moved.txt'), 'a race\n');
    },
  });
  const why = 'conflict: it is one change with moved.txt, which could not be applied';
  expect([said['cfg'], said['cfg/a']]).toEqual([why, why]);
  expect(now()).toMatchObject({ cfg: dir, 'cfg/a': file('a\n'), 'moved.txt': file('a race\n') });
});

it('an undo keeps a new name whose old name it cannot restore', async () => {
  const { apply, undo, choice, now, project } = await lay('undo');
  await apply({ choice });
  writeFileSync(path.join(project, 'old.txt'), 'mine\n');
  expect((await undo())['new.txt']).toBe('conflict: it is one change with old.txt, which could not be applied');
  expect(now()).toEqual({ ...base, 'old.txt': file('mine\n'), 'new.txt': file('text\n') });
});

it('keeps a path whose folder cannot be opened for fsync', async () => {
  const { project, now } = await lay('open');
  using walker = openHostWalker(project, undefined);
  const addFolder = (): never => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  };
  const tools = {
    walker,
    temp: '.rc-0',
    content: undefined,
    cleared: false,
    unflushed: { addFile: () => {}, addFolder },
  };
  expect(() => commitStep({ path: 'old.txt' }, tools)).toThrow('too many open files');
  expect(now()).toEqual(base);
});

it('a signal lets the current group of changes finish, and starts no later group', async () => {
  const { apply, choice, now } = await lay('signal');
  const stop = new AbortController();
  const said = await apply({
    choice,
    signal: stop.signal,
    tell: (event) => {
      // When moved.txt is there, and new.txt is next.
      if (event.kind === 'progress' && event.done === 1) stop.abort();
    },
  });
  const left = 'skipped: interrupted';
  const done = { 'moved.txt': 'applied', 'cfg/a': 'applied', cfg: 'applied' };
  expect(said).toEqual({ ...done, 'new.txt': left, 'old.txt': left });
  expect(now()).toEqual({ 'old.txt': file('text\n'), cfg: file('a file\n'), 'moved.txt': file('a\n') });
});
