import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type JobEngineOptions, openJobEngine } from '../../../../src/engines/jobs/job-engine.ts';
import { parseJobTarget } from '../../../../src/engines/jobs/target.ts';
import { smallContainer } from '../../../support/engine.ts';

const SESSION = '261123-101500-k7p';

/** An engine of jobs whose scheduler is never asked. */
function openIn(shared: string) {
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const local = { facts: { arch: 'arm64' }, close: async () => undefined };
  return openJobEngine({
    local,
    shared,
    uid,
    gid,
    scheduler: { title: 'Slurm 24.11' },
    target: parseJobTarget('slurm:gpu'),
    scratch: '/tmp',
    limits: { memoryMb: 1024, cpus: 1, timeoutMs: 60_000 },
    accepted: [],
    patienceSeconds: 1,
    owner: 'me',
    queueLimitMs: undefined,
    signal: undefined,
    tell: () => undefined,
  } as unknown as JobEngineOptions);
}

function sharedDir(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-jobs-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return path.join(dir, 'shared');
}

it('has the facts of the nodes: a place elsewhere, with the architecture of the images', () => {
  const shared = sharedDir();
  expect(openIn(shared).facts).toMatchObject({
    id: `jobs in ${shared}`,
    name: 'Slurm 24.11 (gpu)',
    arch: 'arm64',
    local: false,
    hasOneUser: true,
  });
});

it('refuses what a job cannot have, before anything is submitted', async () => {
  const shared = sharedDir();
  const engine = openIn(shared);
  const spec = { ...smallContainer('agent', 'i', ['true']), sessionId: SESSION };
  const bind = { kind: 'bind', source: '/etc', target: '/x', readonly: true } as const;
  for (const [change, what] of [
    [{ tty: true }, 'a session on a terminal'],
    [{ role: 'companion' as const }, 'a program next to the agent'],
    [{ mounts: [bind] }, 'a directory of this machine'],
  ] as const) {
    await expect(engine.create({ ...spec, ...change })).rejects.toThrow(what);
  }
  expect(readdirSync(shared)).not.toContain('sessions');
  await engine.close();
});

it('keeps the record of a volume until it is removed, and knows no volume without a session', async () => {
  const engine = openIn(sharedDir());
  const name = `run-claude-${SESSION}-home`;
  await engine.createVolume({ name, labels: { 'run-claude.session': SESSION } });
  expect(await engine.list(SESSION)).toMatchObject([{ kind: 'volume', name, running: false }]);
  await engine.removeVolume(name);
  expect(await engine.list(SESSION)).toEqual([]);
  await expect(engine.createVolume({ name: 'other', labels: {} })).rejects.toThrow(
    'no session has a volume like other',
  );
});
