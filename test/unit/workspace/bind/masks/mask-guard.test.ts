import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { breachError } from '../../../../../src/workspace/bind/masks/breach.ts';
import { lostMasks, type MaskGuard, openMaskGuard } from '../../../../../src/workspace/bind/masks/mask-guard.ts';
import { scanProject } from '../../../../../src/workspace/bind/scan-project.ts';

let top = '';
let root = '';
let guard: MaskGuard | undefined;

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'run-claude-masks-'));
  root = path.join(top, 'project');
  mkdirSync(path.join(root, 'config/deep'), { recursive: true });
  mkdirSync(path.join(root, 'node_modules/pack'), { recursive: true });
  for (const name of ['.env', 'config/deep/app.key', 'notes.txt'])
    writeFileSync(path.join(root, name), 'SECRET=value\n');
});
afterEach(() => {
  guard?.[Symbol.dispose]();
  guard = undefined;
  vi.useRealTimers();
  rmSync(top, { recursive: true, force: true });
});

const at = (name: string): string => path.join(root, name);
const wouldMask = (name: string): boolean => /(^|\/)\.env(\.|$)|\.key$/.test(name);
/** Of the project's own function, its answer by name alone. */
const isNewSecret = (name: string): boolean => name.endsWith('.pem');
const isRealCopy = (name: string): boolean => name.endsWith('copied.txt');
const scan = () => scanProject(root, () => false).entries;

function open(entries = scan()): MaskGuard {
  guard = openMaskGuard({
    root,
    entries,
    covered: ['.env', 'config/deep/app.key'],
    wouldMask,
    isNewSecret,
    isRealCopy,
  });
  return guard;
}

/** How an editor saves: a new file next to the old one, moved over it. */
function saveByRename(name: string): void {
  writeFileSync(`${at(name)}.tmp12`, 'SECRET=other\n');
  renameSync(`${at(name)}.tmp12`, at(name));
}

const BREACHES: readonly (readonly [what: string, () => void, wanted: object])[] = [
  ['a save by rename', () => saveByRename('.env'), { kind: 'replaced', path: '.env' }],
  [
    'a save by rename in a folder',
    () => saveByRename('config/deep/app.key'),
    { kind: 'replaced', path: 'config/deep/app.key' },
  ],
  ['an editor that keeps a backup', () => renameSync(at('.env'), at('.env~')), { kind: 'removed', path: '.env' }],
  ['a deletion', () => rmSync(at('.env')), { kind: 'removed', path: '.env' }],
  [
    'a deletion of its folder',
    () => rmSync(at('config'), { recursive: true }),
    { kind: 'removed', path: 'config/deep/app.key' },
  ],
  ['a renamed folder', () => renameSync(at('config'), at('other')), { kind: 'removed', path: 'config/deep/app.key' }],
  ['a hard link', () => linkSync(at('.env'), at('copy.txt')), { kind: 'linked', path: '.env' }],
  [
    'a hard link in a folder that is not watched',
    () => linkSync(at('.env'), at('node_modules/copy')),
    { kind: 'linked', path: '.env' },
  ],
  ['a new file', () => writeFileSync(at('.env.local'), 'A=1\n'), { kind: 'appeared', path: '.env.local' }],
  ['a copy', () => writeFileSync(at('config/copied.txt'), 'A=1\n'), { kind: 'copy', path: 'config/copied.txt' }],
  ['a new secret', () => writeFileSync(at('config/tls.pem'), 'A=1\n'), { kind: 'secret', path: 'config/tls.pem' }],
  [
    'a new file in a new folder',
    () => {
      mkdirSync(at('new/one/two'), { recursive: true });
      writeFileSync(at('new/one/two/tls.key'), 'key');
    },
    { kind: 'appeared', path: 'new/one/two/tls.key' },
  ],
  [
    'a folder that is moved in',
    () => {
      mkdirSync(path.join(top, 'other/certs'), { recursive: true });
      writeFileSync(path.join(top, 'other/certs/a.key'), 'key');
      renameSync(path.join(top, 'other'), at('other'));
    },
    { kind: 'appeared', path: 'other/certs/a.key' },
  ],
];

it.each(BREACHES)('%s is a breach', async (_what, change, wanted) => {
  const { broken } = open();
  await wait(20);
  change();
  expect(await Promise.race([broken, wait(3000)])).toEqual(wanted);
});

it('an event is enough: no recheck is waited for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  const { broken } = open();
  saveByRename('.env');
  expect(await broken).toEqual({ kind: 'replaced', path: '.env' });
});

it('check() sees a breach without an event, and the first one stays', () => {
  const { check } = open();
  expect(check()).toBeUndefined();
  saveByRename('.env');
  expect(check()).toEqual({ kind: 'replaced', path: '.env' });
  rmSync(at('config/deep/app.key'));
  expect(check()).toEqual({ kind: 'replaced', path: '.env' });
});

it('a new file that gets its content later is a breach once it has some', async () => {
  const { broken, check } = open();
  writeFileSync(at('.env.test'), '');
  await wait(100);
  expect(check()).toBeUndefined();
  appendFileSync(at('.env.test'), 'A=1\n');
  expect(await Promise.race([broken, wait(3000)])).toEqual({ kind: 'appeared', path: '.env.test' });
});

it('what was changed between the scan and the watch is a breach', async () => {
  const entries = scan();
  writeFileSync(at('config/late.key'), 'key');
  expect(await Promise.race([open(entries).broken, wait(3000)])).toEqual({ kind: 'appeared', path: 'config/late.key' });
});

it('ordinary work is not: writes in place, other files, folders that come and leave, links', async () => {
  const { broken, check } = open();
  await wait(20);
  appendFileSync(at('.env'), 'MORE=1\n');
  saveByRename('notes.txt');
  symlinkSync('.env', at('link.key'));
  mkdirSync(at('node_modules/pack/certs'));
  writeFileSync(at('node_modules/pack/certs/test.key'), 'of a package');
  for (let round = 0; round < 20; round++) {
    mkdirSync(at(`out/${round}/deep`), { recursive: true });
    writeFileSync(at(`out/${round}/deep/made.js`), 'x');
    if (round % 2 === 0) rmSync(at(`out/${round}`), { recursive: true });
  }
  renameSync(at('out'), at('built'));
  writeFileSync(at('built/1/deep/more.js'), 'x');
  expect(await Promise.race([broken, wait(1500)])).toBeUndefined();
  expect(check()).toBeUndefined();
  // A moved folder is watched at its new place.
  writeFileSync(at('built/3/deep/made.key'), 'key');
  expect(await Promise.race([broken, wait(3000)])).toEqual({ kind: 'appeared', path: 'built/3/deep/made.key' });
});

it('a mask is lost where the agent has the project and not the mount, from the first look on', () => {
  const inside = new Set(['/workspace', '/workspace/.env']);
  expect(lostMasks(inside, ['.env', 'config/deep/app.key'])).toEqual(['config/deep/app.key']);
  expect(lostMasks(inside, ['.env'])).toEqual([]);
  expect(lostMasks(new Set(['/workspace/.env']), ['config/deep/app.key'])).toEqual([]);
  expect(lostMasks(undefined, ['.env'])).toEqual([]);
});

it('more folders than may be watched are refused at the start, and a breach later', async () => {
  const options = { root, entries: scan(), covered: ['.env'], wouldMask, isNewSecret, isRealCopy };
  expect(() => openMaskGuard({ ...options, maxFolders: 2 })).toThrow(/more folders than can be watched here \(2\)/);
  guard = openMaskGuard({ ...options, maxFolders: 4 });
  mkdirSync(at('a'));
  mkdirSync(at('b'));
  const breach = await guard.broken;
  expect(breach).toMatchObject({ kind: 'unwatched' });
  expect(breachError(breach)).toMatchObject({ code: 'MASK_BROKEN', status: 125 });
});
