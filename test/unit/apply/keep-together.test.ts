import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { dir, file, layApply } from '../../apply/lay.ts';

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

it('removes no old name whose new name is taken on the host, and replaces no folder of which something stays', async () => {
  const { apply, choice, now } = await lay('taken', { 'new.txt': file('mine\n'), 'moved.txt': file('mine too\n') });
  const said = await apply({ choice });
  expect(said['old.txt']).toBe('conflict: it is one change with new.txt, which could not be applied');
  expect(said['cfg/a']).toBe('conflict: it is one change with moved.txt, which could not be applied');
  expect(now()).toEqual({ ...base, 'new.txt': file('mine\n'), 'moved.txt': file('mine too\n') });
});

it('removes no old name whose new name could not be written while applying', async () => {
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
