import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVERYTHING } from '../../../../src/core/text/selection.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { BaseGeneration } from '../../../../src/workspace/base/base.ts';
import type { Loaded } from '../../../../src/workspace/base/generations/manifest.ts';
import { isIntact } from '../../../../src/workspace/base/generations/verify.ts';
import { walkTree } from '../../../../src/workspace/scan/walk.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
let project: string;
let told: SessionEvent[];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-verify-'));
  project = path.join(dir, 'project');
  mkdirSync(project);
  told = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const prepare = (id: string, verify: boolean): Promise<BaseGeneration> =>
  refresh(dir, id, { verify, tell: (event) => told.push(event) });

/** What the second start, with --verify, made of a base that something was done to. */
async function verified(harm: (tree: string) => void): Promise<'kept' | 'made anew'> {
  const first = await prepare('one', false);
  const tree = path.join(first.dir, 'tree');
  harm(tree);
  told = [];
  const second = await prepare('two', true);
  const warned = told.some((event) => event.kind === 'message' && event.text.includes('damaged'));
  expect(second.dir === first.dir).toBe(!warned);
  return warned ? 'made anew' : 'kept';
}

/** Changes a file and hides the change. */
function unseen(file: string, edit: () => void): void {
  const folder = path.dirname(file);
  const [before, above] = [statSync(file, { throwIfNoEntry: false }), statSync(folder)];
  edit();
  if (before !== undefined) utimesSync(file, before.atimeMs / 1000, before.mtimeMs / 1000);
  utimesSync(folder, above.atimeMs / 1000, above.mtimeMs / 1000);
}

/** Too large to be copied: a row without a file. */
function leaveOut(name: string): void {
  writeFileSync(path.join(project, name), '');
  truncateSync(path.join(project, name), 2 ** 36 + 2 ** 20);
}

describe('--verify', () => {
  beforeEach(() => {
    execFileSync('git', ['init', '-q', project]);
    execFileSync('git', ['-C', project, 'config', 'http.extraHeader', 'Authorization: TOKEN']);
    writeFileSync(path.join(project, 'f'), 'content');
    mkdirSync(path.join(project, 'sub'));
    writeFileSync(path.join(project, 'sub/.git'), `gitdir: ${project}/.git/modules/sub\n`);
  });

  it('accepts an unchanged base with rewritten configuration and pointers, and without excluded files', async () => {
    leaveOut('left-out');
    expect(await verified(() => undefined)).toBe('kept');
  });

  it.each<[string, string, string]>([
    ['a planted hook', '.git/hooks/post-checkout', '#!/bin/sh'],
    ['a planted file', 'planted', 'x'],
    ['content of the same size and time', 'f', 'CONTENT'],
    ['a key in the configuration', '.git/config', '[core]\n\tfsmonitor = /tmp/x\n'],
    ['another pointer', 'sub/.git', 'gitdir: ../../.git/modules/other\n'],
    ['a planted directory', '.git/refs/planted/x', ''],
  ])('finds %s', async (_, name, text) => {
    const harm = (tree: string): void => {
      const file = path.join(tree, name);
      mkdirSync(path.dirname(file), { recursive: true });
      unseen(file, () => writeFileSync(file, text));
    };
    expect(await verified(harm)).toBe('made anew');
  });

  it('finds an entry that should have been left out', async () => {
    leaveOut('left-out');
    expect(await verified((tree) => writeFileSync(path.join(tree, 'left-out'), 'x'))).toBe('made anew');
  });

  it('finds a deleted entry', async () => {
    const harm = (tree: string): void => {
      const { atimeMs, mtimeMs } = statSync(tree);
      rmSync(path.join(tree, 'f'));
      utimesSync(tree, atimeMs / 1000, mtimeMs / 1000);
    };
    expect(await verified(harm)).toBe('made anew');
  });
});

describe('a file of more than 2 GB', () => {
  const SIZE = 2 ** 32;
  /** The same file in the project and in a tree that stands for the base, nothing of it on the disk. */
  async function large() {
    const tree = path.join(dir, 'tree');
    mkdirSync(tree);
    for (const root of [project, tree]) {
      writeFileSync(path.join(root, 'large'), '');
      truncateSync(path.join(root, 'large'), SIZE);
      utimesSync(path.join(root, 'large'), 1e9, 1e9);
    }
    const walked = await walkTree({ root: project, selection: EVERYTHING });
    const loaded = { header: { unreadable: [] }, snapshot: walked.snapshot } as unknown as Loaded;
    return { tree, loaded, walked };
  }

  it('is compared', async () => {
    const { tree, loaded, walked } = await large();
    const file = path.join(tree, 'large');
    unseen(file, () => {
      const fd = openSync(file, 'r+');
      writeSync(fd, 'x', 5 << 20);
      closeSync(fd);
    });
    expect(await isIntact(tree, loaded, walked, { tell: (event) => told.push(event) })).toBe(false);
  });

  it('does not block the event loop: progress is shown, and Ctrl-C ends it', async () => {
    const { tree, loaded, walked } = await large();
    const stop = new AbortController();
    const tell = (event: SessionEvent): void => {
      if (told.push(event) === 1) setTimeout(() => stop.abort(new Error('Ctrl-C')));
    };
    await expect(isIntact(tree, loaded, walked, { tell, signal: stop.signal })).rejects.toThrow('Ctrl-C');
    expect([told[0]?.kind, told.at(-1)?.kind]).toEqual(['progress', 'progress-end']);
  });
});
