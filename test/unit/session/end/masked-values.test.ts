import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { NetworkEntry } from '../../../../src/core/types/gateway.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { openDecoyLog } from '../../../../src/network/gateway/decoy-log.ts';
import {
  lowerWithheld,
  maskedInCommits,
  maskedValues,
  seenFindings,
} from '../../../../src/session/end/masked-values.ts';

const TOKEN = 'sk_live_51Hq8ZkLmN0pQrStUvWxYz';
const DECOY = { path: '.env', name: 'STRIPE_SECRET_KEY', value: 'sk_live_4fT9uYbQ2mXcVn7LpAqZ' };
let root: string;
let sessionDir: string;

beforeEach(() => {
  const folder = mkdtempSync(path.join(tmpdir(), 'run-claude-masked-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  [root, sessionDir] = [path.join(folder, 'project'), path.join(folder, 'session')];
  for (const one of [root, sessionDir]) mkdirSync(one);
  remember([DECOY]);
});

/** The record of a session that was made with these decoys. */
function remember(decoys: readonly (typeof DECOY)[]): void {
  writeFileSync(path.join(sessionDir, 'decoys.json'), JSON.stringify({ version: 1, files: [], decoys }));
}

const plan = (policy: object = {}): Plan =>
  ({ sessionDir, project: { root }, policy: { env: {}, ...policy } }) as unknown as Plan;
const realNames = (policy: object = {}): string[] =>
  (maskedValues(plan(policy))?.real ?? []).map(({ path: file, name }) => `${file} ${name}`);

describe('what the changes of a session are searched for', () => {
  it("is its decoys, and the values of the user's files that are long and random", () => {
    writeFileSync(
      path.join(root, '.env'),
      `PORT=3000\nSTRIPE_SECRET_KEY=${TOKEN}\nSHORT_KEY=ab1\nDB_PASSWORD=aaaaaaaaaaaaaaaa\n`,
    );
    expect(maskedValues(plan())).toEqual({
      decoys: [DECOY],
      real: [{ path: '.env', name: 'STRIPE_SECRET_KEY', value: TOKEN }],
      paths: ['.env'],
    });
    // A commit of a masked file is a copy of it.
    expect(maskedInCommits(plan())?.paths).toEqual([]);
  });

  it('has no value that the user passed to the session', () => {
    writeFileSync(path.join(root, '.env'), `STRIPE_SECRET_KEY=${TOKEN}\n`);
    expect(realNames()).toEqual(['.env STRIPE_SECRET_KEY']);
    expect(realNames({ env: { STRIPE_SECRET_KEY: '•••' } })).toEqual([]);
    expect(realNames({ env: { OTHER: TOKEN } })).toEqual([]);
    expect(realNames({ envFiles: [path.join(root, '.env')] })).toEqual([]);
  });

  it('has nothing of a file that was removed, or replaced by a link', () => {
    expect(realNames()).toEqual([]);
    writeFileSync(path.join(root, 'other'), `STRIPE_SECRET_KEY=${TOKEN}\n`);
    symlinkSync('other', path.join(root, '.env'));
    expect(realNames()).toEqual([]);
  });

  it('is nothing where no file was masked', () => {
    remember([]);
    expect(maskedValues(plan())).toBeUndefined();
  });
});

it('reports what was read as a note, and what was sent with its key, host and time', () => {
  const log = openDecoyLog(sessionDir, () => undefined);
  const entry = {
    method: 'POST',
    up: 1,
    down: 1,
    ms: 1,
    decoys: [DECOY].map(({ path: file, name }) => ({ path: file, name })),
  };
  const add = (more: Partial<NetworkEntry>): void =>
    log.add({ ...entry, at: '2026-11-28T10:00:00Z', host: 'h', port: 443, kind: 'http', verdict: 'refused', ...more });
  add({ kind: 'provider', verdict: 'passed' });
  add({ host: 'evil.example', port: 80 });
  add({ host: 'evil.example', port: 80 });
  expect(seenFindings(sessionDir)).toMatchObject([
    {
      rule: 'decoy-sent',
      severity: 'blocked',
      path: '.env',
      detail: 'STRIPE_SECRET_KEY to evil.example:80 at 2026-11-28T10:00:00Z',
    },
    { rule: 'decoy-read', severity: 'note', path: '.env', title: 'Read by the agent' },
  ]);
});

it('takes a decoy in a file that is withheld for suspect, and in no other', () => {
  const finding = (file: string, rule = 'decoy-written') =>
    ({ rule, severity: 'blocked', path: file as RelPath, title: 't', why: 'w' }) as const;
  const changes = [
    { path: 'cache/a' as RelPath, kind: 'created', ignored: true },
    { path: 'src/b' as RelPath, kind: 'created' },
  ] satisfies Change[];
  const found = [finding('cache/a'), finding('src/b'), finding('cache/a', 'masked-value')];
  expect(lowerWithheld(found, changes).map(({ severity }) => severity)).toEqual(['suspect', 'blocked', 'blocked']);
});
