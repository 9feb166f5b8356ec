import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ClusterApi, ClusterObject, Resource } from '../../../../src/engines/cluster/api.ts';
import { sessionPod } from '../../../../src/engines/cluster/pod.ts';
import { openSessionClaim, removeSession, volumesIn } from '../../../../src/engines/cluster/session-claim.ts';
import { taskSpec } from '../../../../src/engines/engine/hardening/hardened.ts';

const SESSION = '261123-101500-abc';
const OTHER = '261123-101500-abd';
const IMAGE = `registry.test/run-claude@sha256:${'a'.repeat(64)}`;

const objectOf = (name: string, session: string, owner = 'me'): ClusterObject => ({
  metadata: { name, labels: { 'run-claude.owner': owner, 'run-claude.session': session } },
});

/** A server that applies no selector. */
function carelessServer(objects: readonly ClusterObject[]) {
  const removed: string[] = [];
  const made = new Map<string, ClusterObject>();
  const api: ClusterApi = {
    server: 'https://127.0.0.1',
    namespace: 'test',
    get: async (_resource: Resource, name) => made.get(name),
    list: async () => objects,
    create: async (_resource, object) => {
      const { metadata } = object as ClusterObject;
      made.set(String(metadata?.name), object);
      return object;
    },
    patch: async () => ({}),
    remove: async (resource, name) => {
      removed.push(`${resource}/${name}`);
    },
  };
  return { api, removed };
}

it('removes only objects with both labels of the session, whatever the server lists', async () => {
  const { api, removed } = carelessServer([
    objectOf('mine', SESSION),
    objectOf('of-another-session', OTHER),
    objectOf('of-another-user', SESSION, 'you'),
    objectOf('../../secrets/x', SESSION),
    {},
  ]);
  await removeSession({ api, owner: 'me', sessionId: SESSION });
  expect(removed).toEqual(['pods/mine', 'persistentvolumeclaims/mine', 'networkpolicies/mine']);
});

it('a list of volumes that is damaged is named in words that act on no terminal', () => {
  const metadata = { annotations: { 'run-claude.volumes': '{"a":null}' } };
  expect(() => volumesIn({ metadata }, 'run-claude-\u001b]0;x\u0007')).toThrow(/^the claim run-claude- \]0;x {2}lists/);
});

it('knows the directories of the volumes that were removed', async () => {
  const { api } = carelessServer([]);
  const claim = openSessionClaim({
    api,
    owner: 'me',
    sessionId: SESSION,
    form: 'pod',
    storageClass: undefined,
    sizeMb: 1,
    accessMode: 'ReadWriteOnce',
    isUsed: () => true,
  });
  const name = `run-claude-${SESSION}-layer`;
  await claim.add({ name, labels: {} });
  const before = (await claim.volumes()).get(name)?.place;
  await claim.removeVolume(name);
  await claim.add({ name, labels: {} });
  expect(claim.removed()).toEqual([before]);
  expect((await claim.volumes()).get(name)?.place).not.toBe(before);
});

it('a pod makes the directories of its volumes, and leaves those of volumes that are newer than the pod', () => {
  const volume = `run-claude-${SESSION}-layer`;
  const mount = { kind: 'volume', volume, target: '/layer', readonly: false } as const;
  const parts = { sessionId: SESSION, suffix: 'x', image: IMAGE, seccomp: '{}', user: '0:0', stdin: 'none' } as const;
  const pod = sessionPod(taskSpec({ ...parts, capabilities: [], argv: ['true'], mounts: [mount] }), {
    name: 'pod',
    owner: 'me',
    form: 'pod',
    gateway: undefined,
    image: IMAGE,
    claim: 'claim',
    volumes: new Map([[volume, { place: 'layer-1', labels: {} }]]),
    removed: ['removed-1'],
    seccomp: '{}',
    node: undefined,
    patienceSeconds: 60,
    deadlineSeconds: 60,
  });
  const command = pod.spec.initContainers[0]?.command ?? [];
  const words = command.slice(command.indexOf('/bin/bash'));
  const dir = mkdtempSync(path.join(tmpdir(), 'rc-claim-'));
  try {
    for (const one of ['newer-1', 'removed-1']) mkdirSync(path.join(dir, 'volumes', one), { recursive: true });
    writeFileSync(path.join(dir, 'volumes/newer-1/file'), '');
    const script = 'mount --bind "$1" /mnt; shift; exec "$@"';
    const inside = ['--user', '--map-root-user', '--mount', 'sh', '-ec', script, 'sh', dir, ...words];
    execFileSync('unshare', inside, { stdio: ['ignore', 'ignore', 'inherit'] });
    expect(readdirSync(path.join(dir, 'volumes')).toSorted()).toEqual(['layer-1', 'newer-1']);
    expect(readdirSync(path.join(dir, 'volumes/newer-1'))).toEqual(['file']);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
