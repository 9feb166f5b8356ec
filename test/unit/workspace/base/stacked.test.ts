import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { BaseGeneration } from '../../../../src/workspace/base/base.ts';
import type { BaseOptions } from '../../../../src/workspace/base/base-options.ts';
import { openBaseTree } from '../../../../src/workspace/base/base-tree.ts';
import { releaseRef } from '../../../../src/workspace/base/generations/generation-refs.ts';
import { stackedOn, treesOf } from '../../../../src/workspace/base/generations/stacked.ts';
import { treeFacts } from '../../../support/tree-facts.ts';
import { applyEdit, edit } from '../../../support/workspace/host-edits.ts';
import { refresh } from '../../../support/workspace/refresh-scene.ts';

let dir: string;
let project: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-stacked-'));
  project = path.join(dir, 'project');
  mkdirSync(project);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const prepare = (id: string, more: Partial<BaseOptions> = {}): Promise<BaseGeneration> =>
  refresh(dir, id, { stack: true, ...more });

const release = (id: string): void => releaseRef(path.join(dir, 'base'), id);
const put = (name: string, content: string | Uint8Array = name): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), content);
};
const generations = (): string[] => readdirSync(path.join(dir, 'base/gen')).sort();

/** What the kernel shows of a generation, by hand: the whole one copied, and over it what differs. */
function facts(base: BaseGeneration): Map<string, string> {
  const [top = '', below] = treesOf(base.dir);
  if (below === undefined) return treeFacts(top);
  const joined = path.join(mkdtempSync(path.join(dir, 'joined-')), 'tree');
  execFileSync('cp', ['-a', below, joined]);
  // Deepest last, so that a directory's own time is set once what is in it was.
  const script = `cd "$1" && declare -A names && find . -depth -print0 | sort -z | while IFS= read -r -d '' one; do
    to="$2/$one"; inode=$(stat -c %i "$one"); first=\${names[$inode]-}
    if [ -f "$one" ] && [ ! -L "$one" ] && [ -n "$first" ]; then rm -rf "$to"; ln "$first" "$to"
    elif [ -L "$one" ] || [ -f "$one" ]; then rm -rf "$to"; cp -a "$one" "$to"; names[$inode]=$to
    elif [ -c "$one" ]; then rm -rf "$to"
    elif [ -L "$to" ] || [ ! -d "$to" ]; then rm -rf "$to"; mkdir "$to"; fi; done
    find . -depth -type d -print0 | while IFS= read -r -d '' one; do
      chmod --reference="$one" "$2/$one"; touch --no-dereference --reference="$one" "$2/$one"; done`;
  execFileSync('bash', ['-c', script, 'join', top, joined]);
  return treeFacts(joined);
}

/** Everything that the kernel tells of each file of the whole generation, change times included. */
function untouched(base: BaseGeneration): string[] {
  const tree = treesOf(base.dir).at(-1) as string;
  return [...treeFacts(tree).keys()].map((name) => {
    const { ino, ctimeNs, mtimeNs, mode, nlink } = lstatSync(Buffer.from(`${tree}/${name}`, 'latin1'), {
      bigint: true,
    });
    return [name, ino, ctimeNs, mtimeNs, mode, nlink].join(' ');
  });
}

describe('a generation over another one', () => {
  it('holds only the differences, and joined with that one equals the project after every kind of change', async () => {
    for (const name of ['stays', 'changes', 'goes', 'dir/goes', 'dir/stays', 'gone/deep/f', 'file-to-dir', 'mode'])
      put(name);
    for (const name of ['dir-to-file/f', 'dir-to-link/f', 'emptied/f', 'made-anew/old', 'made-anew/both', 'closed/f'])
      put(name);
    put('twice', 'same');
    linkSync(path.join(project, 'twice'), path.join(project, 'twice-too'));
    symlinkSync('stays', path.join(project, 'link'));
    chmodSync(path.join(project, 'closed'), 0o500);
    const first = await prepare('first');
    const before = untouched(first);

    const at = (name: string): string => path.join(project, name);
    put('changes', 'changed');
    for (const name of [
      'goes',
      'dir/goes',
      'gone',
      'file-to-dir',
      'dir-to-file',
      'dir-to-link',
      'emptied/f',
      'made-anew',
      'link',
    ])
      rmSync(at(name), { recursive: true });
    for (const name of ['file-to-dir/in', 'dir-to-file', 'made-anew/new', 'made-anew/both', 'new/deep/f']) put(name);
    symlinkSync('stays', at('dir-to-link'));
    symlinkSync('goes', at('link'));
    put('twice', 'changed in both');
    chmodSync(at('mode'), 0o755);
    chmodSync(at('closed'), 0o700);
    put('closed/f', 'written');
    chmodSync(at('closed'), 0o500);
    writeFileSync(Buffer.concat([Buffer.from(`${project}/new/`), Buffer.from([0xff, 0xfe])]), 'bytes');
    const second = await prepare('second');
    expect(stackedOn(second.dir)).toBe(1);
    expect(facts(second)).toEqual(treeFacts(project));
    expect(untouched(first)).toEqual(before);
    expect(existsSync(path.join(second.dir, 'tree/stays'))).toBe(false);
    expect(existsSync(path.join(second.dir, 'tree/dir/stays'))).toBe(false);
    const [one, two] = ['twice', 'twice-too'].map((name) => lstatSync(path.join(second.dir, 'tree', name)).ino);
    expect(one).toBe(two);

    const tree = openBaseTree(path.join(second.dir, 'manifest'), treesOf(second.dir));
    const read = (name: string): string | undefined => tree.read(name as RelPath)?.toString();
    expect(['stays', 'changes', 'dir/stays', 'new/deep/f'].map(read)).toEqual([
      'stays',
      'changed',
      'dir/stays',
      'new/deep/f',
    ]);
    const hidden = ['goes', 'gone/deep/f', 'dir-to-file/f', 'dir-to-link/f', 'made-anew/old', 'dir', 'link'];
    expect(hidden.map(read)).toEqual(hidden.map(() => undefined));
    expect(tree.target('link' as RelPath)).toBe('goes');
    expect(['goes', 'stays', 'gone'].map((name) => tree.target(name as RelPath))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);

    // Nothing was edited since: shared. A strategy that needs one tree gets one of its own.
    expect((await prepare('third')).dir).toBe(second.dir);
    const alone = await prepare('alone', { stack: false });
    expect(stackedOn(alone.dir)).toBeUndefined();
    expect(facts(alone)).toEqual(treeFacts(project));
  });

  it('is equal to the project after any edits, and no generation that a session references changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(edit, { maxLength: 8 }), fc.boolean()), { maxLength: 5 }),
        async (rounds) => {
          const standing = new Map<string, { base: BaseGeneration; facts: Map<string, string>; untouched: string[] }>();
          const start = async (id: string): Promise<void> => {
            const base = await prepare(id);
            expect(facts(base)).toEqual(treeFacts(project));
            standing.set(id, { base, facts: facts(base), untouched: untouched(base) });
            for (const known of standing.values()) {
              expect(facts(known.base)).toEqual(known.facts);
              expect(untouched(known.base)).toEqual(known.untouched);
            }
          };
          const end = (id: string | undefined): void => {
            if (id === undefined) return;
            release(id);
            standing.delete(id);
          };
          applyEdit(project, { what: 'write', a: 'keep/a', b: '' });
          await start('0');
          for (const [i, [edits, ends]] of rounds.entries()) {
            for (const one of edits) applyEdit(project, one);
            if (ends) end([...standing.keys()][0]);
            await start(String(i + 1));
          }
          for (const id of [...standing.keys()]) end(id);
        },
      ),
      { numRuns: process.env['RUN_CLAUDE_THOROUGH'] === '1' ? 200 : 6 },
    );
  });

  it('is removed once no session references the generation below it, which is then updated in place', async () => {
    put('f', '1');
    await prepare('one');
    put('f', '22');
    await prepare('two');
    expect(generations()).toEqual(['1', '2']);
    release('two');
    put('f', '333');
    expect(stackedOn((await prepare('three')).dir)).toBe(1);
    expect(generations()).toEqual(['1', '2']);
    release('one');
    // Below the third session: still needed.
    put('f', '4444');
    await prepare('four');
    expect(generations()).toEqual(['1', '2', '3']);
    release('three');
    release('four');
    put('f', '55555');
    const last = await prepare('five');
    expect([last.dir, generations()]).toEqual([path.join(dir, 'base/gen/1'), ['1']]);
    expect(facts(last)).toEqual(treeFacts(project));
  });

  it('is never used if a kill left it without its list or half removed', async () => {
    put('f', '1');
    await prepare('one');
    put('f', '22');
    const second = await prepare('two');
    release('two');
    rmSync(path.join(second.dir, 'manifest'));
    writeFileSync(path.join(second.dir, 'tree/f'), 'torn');
    const third = await prepare('three');
    expect(facts(third)).toEqual(treeFacts(project));
    release('three');
    put('f', '333');
    release('one');
    // The kill came after the list was removed and before anything else was.
    cpSync(third.dir, path.join(dir, 'kept'), { recursive: true, filter: (from) => !from.endsWith('/whiteout') });
    const whole = await prepare('four');
    renameSync(path.join(dir, 'kept'), third.dir);
    rmSync(path.join(third.dir, 'manifest'));
    expect((await prepare('five')).dir).toBe(whole.dir);
    expect(generations()).toEqual(['1']);
  });

  it('is replaced by a whole generation for many changes, and is not trusted by --verify', async () => {
    put('f', '1');
    await prepare('one');
    put('large', '');
    truncateSync(path.join(project, 'large'), 65 << 20);
    expect(stackedOn((await prepare('two')).dir)).toBeUndefined();
    for (let i = 0; i < 2001; i++) put(`many/${i}`, '');
    expect(stackedOn((await prepare('three')).dir)).toBeUndefined();
    put('f', '22');
    const stacked = await prepare('four');
    expect(stackedOn(stacked.dir)).toBe(3);
    writeFileSync(path.join(stacked.dir, 'tree/f'), '00');
    const verified = await prepare('five', { verify: true });
    expect(verified.dir).not.toBe(stacked.dir);
    expect(facts(verified)).toEqual(treeFacts(project));
  });
});
