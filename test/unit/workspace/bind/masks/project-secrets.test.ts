import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Plan } from '../../../../../src/core/types/plan.ts';
import { readMaskRecord } from '../../../../../src/workspace/bind/masks/mask-record.ts';
import { openMasks } from '../../../../../src/workspace/bind/masks/open-masks.ts';
import {
  excludeInGit,
  findProjectSecrets,
  isNewSecret,
  readableValues,
  textsWithDecoys,
} from '../../../../../src/workspace/bind/masks/project-secrets.ts';
import { realCopies } from '../../../../../src/workspace/bind/masks/real-copies.ts';
import { scanProject } from '../../../../../src/workspace/bind/scan-project.ts';

const VALUE = 'sk_live_51NotSeenInside0000';
const TOKEN = `ghp_${'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6Jd1Gf0SaEuTi'}`;
let top = '';
let root = '';
let sessionDir = '';

beforeEach(() => {
  top = mkdtempSync(path.join(tmpdir(), 'run-claude-secrets-'));
  root = path.join(top, 'project');
  sessionDir = path.join(top, 'session');
  mkdirSync(path.join(root, 'certs'), { recursive: true });
  mkdirSync(sessionDir);
  write('.gitignore', '.env\nlog.txt\n');
  write('.env', `KEY=${VALUE}\nPORT=3000\n`);
  write('.env.example', 'KEY=\n');
  write('certs/dev.key', `KEY=${VALUE}\n`);
  write('tracked.env', `KEY=${VALUE}\n`);
  write('log.txt', `token ${TOKEN}\n`);
  write('notes.txt', `token ${TOKEN}\n`);
  write('port.env', 'PORT=3000\n');
  execFileSync('git', ['init', '-q'], { cwd: root });
  execFileSync('git', ['add', 'tracked.env'], { cwd: root });
});
afterEach(() => rmSync(top, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(path.join(root, name), text);
const scan = () => scanProject(root, (name) => name === '.git').entries;
const statesOf = (policy: Parameters<typeof findProjectSecrets>[2]) =>
  Object.fromEntries(findProjectSecrets(root, scan(), policy).files.map(({ path: one, state }) => [one, state]));
const planOf = (policy: object, local = true) =>
  ({
    project: { root },
    sessionDir,
    user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    policy: { mask: [], ...policy },
    env: {},
    engine: { local, name: 'Docker Desktop' },
  }) as unknown as Plan;

it('finds what a copy would mask, without what --mask names', () => {
  const all = {
    '.env': 'masked',
    'certs/dev.key': 'masked',
    'log.txt': 'masked',
    'notes.txt': 'by-content',
    'tracked.env': 'tracked',
  };
  expect(statesOf({ mask: [] })).toEqual(all);
  expect(statesOf({ mask: [], unmask: ['.env', '*.key'] })).toEqual({
    ...all,
    '.env': 'unmasked',
    'certs/dev.key': 'unmasked',
  });
  const { '.env': _, ...others } = all;
  expect(statesOf({ mask: ['/.env'] })).toEqual(others);
});

it('covers each with decoys, and its other names too; one of --mask is empty', () => {
  linkSync(path.join(root, '.env'), path.join(root, 'second.txt'));
  const entries = scan();
  const plan = planOf({ mask: ['*.key'] });
  const { mounts, guard, decoys } = openMasks(plan, entries, findProjectSecrets(root, entries, plan.policy).files);
  using _guard = guard;
  expect(mounts.map(({ target }) => target).sort()).toEqual(
    ['.env', 'certs/dev.key', 'log.txt', 'second.txt'].map((name) => `/workspace/${name}`),
  );
  const texts = new Map(readMaskRecord(sessionDir).map(({ path: one, before }) => [one, before.toString()]));
  expect(texts.get('.env')).toMatch(/^KEY=sk_live_\w{19}\nPORT=3000\n$/);
  expect(texts.get('second.txt')).toBe(texts.get('.env'));
  expect(texts.get('certs/dev.key')).toBe('');
  expect([...texts.values()].join()).not.toContain(VALUE);
  expect(decoys.find(({ path: one }) => one === '.env')).toMatchObject({
    name: 'KEY',
    value: texts.get('.env')?.split(/[=\n]/)[1],
  });
  expect(readFileSync(path.join(root, '.env'), 'utf8')).toContain(VALUE);
});

it('covers the other files that have a secret of a masked one', () => {
  write('.gitignore', '.env\nlog.txt\n*.out\n');
  write('run.out', `started with ${VALUE}\n`);
  const entries = scan();
  const { files } = textsWithDecoys(root, entries, ['.env', 'run.out']);
  const [env, log] = files.map(({ text }) => text.toString());
  expect(log).toBe(`started with ${env?.split(/[=\n]/)[1]}\n`);
  expect(statesOf({ mask: [] })).toMatchObject({ 'run.out': 'masked' });
});

it('covers the configuration of a nested repository where it has a login', () => {
  for (const name of ['sub', 'plain']) {
    mkdirSync(path.join(root, name));
    execFileSync('git', ['init', '-q'], { cwd: path.join(root, name) });
  }
  const token = 'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6';
  const config = `[remote "a"]\n\turl = https://me:${VALUE}@host/x\n[remote "b"]\n\turl = https://${token}@host/y\n`;
  const header = `[http]\n\textraheader = AUTHORIZATION: basic ${token}${token}\n`;
  write('sub/.git/config', config + header);
  expect(statesOf({ mask: [] })).toMatchObject({ 'sub/.git/config': 'masked' });
  expect(statesOf({ mask: [] })).not.toHaveProperty('plain/.git/config');
  const [file] = textsWithDecoys(root, scan(), ['sub/.git/config']).files;
  const text = file?.text.toString() ?? '';
  expect(text).toMatch(/url = https:\/\/me:\S+@host\/x\n/);
  for (const one of [VALUE, token]) expect(text).not.toContain(one);
});

it('without a masked secret there is nothing to watch, and with one an engine must be watchable', () => {
  const entries = scan();
  const nothing = { mounts: [], guard: undefined, decoys: [] };
  const unmask = ['**'];
  expect(
    openMasks(planOf({ unmask }, false), entries, findProjectSecrets(root, entries, { mask: [], unmask }).files),
  ).toEqual(nothing);
  expect(openMasks(planOf({}, false), entries, [])).toEqual(nothing);
  expect(() => openMasks(planOf({}, false), entries, findProjectSecrets(root, entries, { mask: [] }).files)).toThrow(
    expect.objectContaining({ code: 'MASK_UNWATCHED', hint: expect.stringContaining("--unmask '**'") }),
  );
});

it('a file that was replaced after the scan is covered by an empty one', () => {
  const entries = scan();
  write('.saved', `KEY=${VALUE}\n`);
  renameSync(path.join(root, '.saved'), path.join(root, '.env'));
  expect(textsWithDecoys(root, entries, ['.env', 'gone']).files.map(({ text }) => text.length)).toEqual([0, 0]);
});

it('a new file is a secret by its name and its content, unless the user shows it', () => {
  write('new.env', `KEY=${VALUE}\n`);
  const isNew = isNewSecret(root, { mask: [], unmask: ['certs/*'] }, new Set());
  expect(['new.env', '.env.example', 'port.env', 'notes.txt', 'certs/dev.key'].map(isNew)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

it('a new file is harmless where the agent could read its values before', () => {
  const entries = scan();
  const secrets = findProjectSecrets(root, entries, { mask: [] }).files;
  const { decoys } = textsWithDecoys(root, entries, ['.env']);
  const known = readableValues(root, entries, { secrets, decoys, env: { CI_TOKEN: 'from-the-user-9' } });
  const isNew = isNewSecret(root, { mask: [] }, known);
  const judge = (name: string, text: string): boolean => {
    write(name, text);
    return isNew(name);
  };
  expect(judge('.env.test', `KEY=${decoys[0]?.value}\n`)).toBe(false);
  expect(judge('.env.ci', 'CI_TOKEN=from-the-user-9\n')).toBe(false);
  // Of a tracked file, and of one that nothing masks.
  expect(judge('.env.copy', `KEY=${VALUE}\nTOKEN=${TOKEN}\n`)).toBe(false);
  expect(judge('.env.local', `KEY=${VALUE}\nOTHER_TOKEN=of-the-user-alone-1\n`)).toBe(true);
  expect(judge('dev.p12', 'store')).toBe(true);
});

it('counts no real value of a masked file as known to the agent', () => {
  write('only.env', 'KEY=kept-from-the-agent-77\n');
  const entries = scan();
  const secrets = findProjectSecrets(root, entries, { mask: [] }).files;
  const known = readableValues(root, entries, { secrets, decoys: [], env: {} });
  write('.env.copy', 'KEY=kept-from-the-agent-77\n');
  expect(isNewSecret(root, { mask: [] }, known)('.env.copy')).toBe(true);
});

it('git inside passes over secrets that no rule ignores', () => {
  const gitDir = path.join(top, 'git');
  excludeInGit(gitDir, root, ['.env', 'certs/dev.key', 'sub/.git/git-crypt/keys']);
  expect(readFileSync(path.join(gitDir, 'info/exclude'), 'utf8')).toBe('\n/certs/dev.key\n');
});

it('a copy of a masked file under an ordinary name is one that only the user can have made', () => {
  const [own, shared] = ['kept-from-the-agent-77', 'shared-with-a-file-of-git-88'];
  write('.env', `KEY=${own}\nOTHER_KEY=${shared}\n`);
  write('store.p12', 'a store with no value');
  write('app.txt', `${shared}\n`);
  const isCopy = realCopies({
    root,
    entries: scan(),
    masked: ['.env', 'store.p12'],
    read: (one) => readFileSync(path.join(root, one)),
    isTracked: (one) => one === 'app.txt',
    unmask: ['shown/'],
    known: new Set(['known-to-the-agent-99']),
  });
  mkdirSync(path.join(root, 'shown'));
  mkdirSync(path.join(root, 'node_modules'));
  const judge = (name: string, text: string): boolean => {
    write(name, text);
    return isCopy(name);
  };
  expect(judge('notes.txt', `now ${own}\n`)).toBe(true);
  expect(judge('env.b64', Buffer.from(`KEY=${own}`).toString('base64'))).toBe(true);
  expect(judge('node_modules/same.bin', `KEY=${own}\nOTHER_KEY=${shared}\n`)).toBe(true);
  expect(judge('store.bin', 'a store with no value')).toBe(true);
  expect(judge('shown/notes.txt', `now ${own}\n`)).toBe(false);
  // What git tracks can be copied by the agent.
  expect(judge('copy.txt', `${shared}\n`)).toBe(false);
  expect(judge('mine.txt', 'the text of an agent\n')).toBe(false);
});

it('ends a bind session at such a copy, and not at one with decoys', async () => {
  write('.env', 'KEY=kept-from-the-agent-77\n');
  const entries = scan();
  const plan = planOf({});
  const { guard, decoys } = openMasks(plan, entries, findProjectSecrets(root, entries, plan.policy).files);
  using _guard = guard;
  write('mine.txt', `KEY=${decoys[0]?.value}\n`);
  write('saved.txt', 'KEY=kept-from-the-agent-77\n');
  expect(await guard?.broken).toEqual({ kind: 'copy', path: 'saved.txt' });
});
