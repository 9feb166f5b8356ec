import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { selectPaths } from '../../../../../src/core/text/selection.ts';
import type { Plan } from '../../../../../src/core/types/plan.ts';
import { filesOfMask, mountMasks, withOtherNames } from '../../../../../src/workspace/bind/masks/mask-mounts.ts';
import { maskFile, readMaskRecord, writtenMaskLines } from '../../../../../src/workspace/bind/masks/mask-record.ts';
import { maskedPaths, openMasks } from '../../../../../src/workspace/bind/masks/open-masks.ts';
import { scanProject } from '../../../../../src/workspace/bind/scan-project.ts';

let top = '';
let root = '';
let sessionDir = '';

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'run-claude-masks-'));
  root = path.join(top, 'project');
  sessionDir = path.join(top, 'session');
  mkdirSync(path.join(root, 'sub/.env'), { recursive: true });
  mkdirSync(sessionDir);
  writeFileSync(path.join(root, '.env'), 'A=secret\n', { mode: 0o600 });
  writeFileSync(path.join(root, 'sub/real.txt'), 'B=secret\n');
  writeFileSync(path.join(root, 'sub/open.txt'), 'open\n');
  linkSync(path.join(root, '.env'), path.join(root, 'sub/second'));
  symlinkSync('../sub/real.txt', path.join(root, 'sub/.env/.env'));
  symlinkSync('/etc/hostname', path.join(root, 'sub/.env.outside'));
  symlinkSync('nowhere', path.join(root, 'sub/.env.nowhere'));
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const scan = () => scanProject(root, () => false).entries;
const { masked } = selectPaths({ exclude: [], include: [], mask: ['.env*'] });
const planOf = (mask: readonly string[], local = true) =>
  ({
    project: { root },
    sessionDir,
    user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    policy: { mask },
    env: {},
    engine: { local, name: 'Docker Desktop' },
  }) as unknown as Plan;
const pathsOf = (files: readonly { readonly path: string }[]): string[] => files.map(({ path: one }) => one).sort();

it('masks the files of these names, where a link leads in the project, and each second name', () => {
  const entries = scan();
  const files = filesOfMask(root, entries, masked);
  expect(pathsOf(files)).toEqual(['.env']);
  symlinkSync('real.txt', path.join(root, 'sub/.env.link'));
  const more = scan();
  const found = filesOfMask(root, more, masked);
  expect(pathsOf(found)).toEqual(['.env', 'sub/real.txt']);
  expect(pathsOf(withOtherNames(found, more))).toEqual(['.env', 'sub/real.txt', 'sub/second']);
});

it('mounts a file of the session over each, with the mode of the user’s, and records it', () => {
  chmodSync(path.join(root, '.env'), 0o4640);
  const files = [{ path: '.env', text: Buffer.from('A=masked\n'), mode: 0o4640 }];
  const source = maskFile(sessionDir, 0);
  expect(mountMasks(planOf([]), files)).toEqual([{ kind: 'bind', source, target: '/workspace/.env', readonly: false }]);
  expect([readFileSync(source, 'utf8'), statSync(source).mode & 0o7777]).toEqual(['A=masked\n', 0o640]);
  expect(readMaskRecord(sessionDir)).toEqual([
    { path: '.env', before: Buffer.from('A=masked\n'), after: Buffer.from('A=masked\n') },
  ]);
  expect(writtenMaskLines(readMaskRecord(sessionDir))).toEqual([]);
  writeFileSync(source, 'A=masked\nNEW=1\nA=other\n');
  expect(writtenMaskLines(readMaskRecord(sessionDir))).toEqual([
    '.env is masked and was not changed: what the session wrote to it is not in your project; added inside, for you to add: NEW',
  ]);
});

it('mounts over nothing that does not exist, and over no name that an engine cannot be given', () => {
  const text = Buffer.alloc(0);
  expect(() => mountMasks(planOf([]), [{ path: 'gone.env', text, mode: 0o644 }])).toThrow('gone.env was deleted');
  expect(() => mountMasks(planOf([]), [{ path: 'a\udcff.env', text, mode: 0o644 }])).toThrow('is not UTF-8');
});

it('opens masks with a watch, and refuses an engine that does not learn of changes', async () => {
  expect(openMasks(planOf([]), scan(), [])).toEqual({ mounts: [], guard: undefined, decoys: [] });
  expect(() => openMasks(planOf(['.env'], false), scan(), [])).toThrow(
    expect.objectContaining({ code: 'MASK_UNWATCHED', message: expect.stringContaining('Docker Desktop') }),
  );
  const { mounts, guard } = openMasks(planOf(['.env']), scan(), []);
  using _guard = guard;
  expect(mounts.map(({ target }) => target)).toEqual(['/workspace/.env', '/workspace/sub/second']);
  const isMasked = maskedPaths(planOf(['*.key']), readMaskRecord(sessionDir));
  expect(['.env', 'sub/second', 'new/a.key', 'sub/open.txt'].map(isMasked)).toEqual([true, true, true, false]);
  rmSync(path.join(root, 'sub/second'));
  expect(await guard?.broken).toEqual({ kind: 'removed', path: 'sub/second' });
});
