import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../core/errors.ts';
import type { PodForm, VolumeSpec } from '../../core/types/engine.ts';
import { printable } from '../remote/printable.ts';
import type { ClusterApi, ClusterObject } from './api.ts';
import { type ClaimedVolume, LABELS, labelsOf, sessionPolicies } from './pod.ts';

/** The claim of a session: a directory for each of its volumes, which the claim's annotation lists. */
export interface SessionClaim {
  readonly name: string;
  /** Whether this process made it. */
  isNew(): boolean;
  volumes(): Promise<ReadonlyMap<string, ClaimedVolume>>;
  /** Directories of the volumes that this process removed. No later volume has the same directory. */
  removed(): readonly string[];
  /** Makes the claim with the first volume, and the session's network policies. */
  add(volume: VolumeSpec): Promise<void>;
  /** Removes the claim with the last volume, and everything else of the session. */
  removeVolume(name: string): Promise<void>;
  /** Makes what the session's pods need, where it is missing. `isFirst`: ends what an earlier command left running. */
  ready(isFirst: boolean): Promise<void>;
}

export interface SessionClaimParts {
  readonly api: ClusterApi;
  readonly owner: string;
  readonly sessionId: string;
  readonly form: PodForm;
  readonly storageClass: string | undefined;
  readonly sizeMb: number;
  readonly accessMode: string;
  /** Whether this process still has pods that mount it. */
  readonly isUsed: () => boolean;
}

const VOLUMES = 'run-claude.volumes';
/** A pod's end on a node that answers. */
const GONE_MS = 90_000;
const POLL_MS = 500;
/** Names become directories of the claim, and words of a script. */
const PLAIN = /^[a-z0-9][a-z0-9._-]{0,120}$/i;

/** Opens the claim of a session; it is made with the first volume. */
export function openSessionClaim(parts: SessionClaimParts): SessionClaim {
  const { api, owner, sessionId, form } = parts;
  const name = `run-claude-${sessionId}`;
  let known: Map<string, ClaimedVolume> | undefined;
  const removed: string[] = [];
  let isMade = false;
  let isNew = false;
  let isReady: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  /** One change after the other: each writes the whole list. */
  const inTurn = <T>(body: () => Promise<T>): Promise<T> => {
    const next = last.then(body, body);
    last = next.catch(() => undefined);
    return next;
  };
  const read = async (): Promise<Map<string, ClaimedVolume>> => {
    if (known !== undefined) return known;
    const found = await api.get('persistentvolumeclaims', name);
    if (found !== undefined) requireOwn(found, owner, sessionId, name);
    isMade = found !== undefined;
    known = found === undefined ? new Map() : volumesIn(found, name);
    return known;
  };
  const write = async (volumes: ReadonlyMap<string, ClaimedVolume>): Promise<void> => {
    const annotations = { [VOLUMES]: JSON.stringify(Object.fromEntries(volumes)) };
    if (isMade) {
      await api.patch('persistentvolumeclaims', name, { metadata: { annotations } });
      return;
    }
    await api.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, labels: labelsOf(sessionId, owner), annotations },
      spec: {
        accessModes: [parts.accessMode],
        resources: { requests: { storage: `${parts.sizeMb}Mi` } },
        ...(parts.storageClass === undefined ? {} : { storageClassName: parts.storageClass }),
      },
    });
    [isMade, isNew] = [true, true];
  };
  const makePolicies = async (): Promise<void> => {
    const there = (await api.list('networkpolicies', selectorOf(owner, sessionId))).map(
      ({ metadata }) => metadata?.name,
    );
    for (const policy of sessionPolicies(sessionId, owner, form)) {
      const { metadata } = policy as { readonly metadata: { readonly name: string } };
      if (!there.includes(metadata.name)) await api.create('networkpolicies', policy);
    }
  };
  return {
    name,
    isNew: () => isNew,
    volumes: () => inTurn(read),
    removed: () => [...removed],
    add: (volume) =>
      inTurn(async () => {
        const volumes = await read();
        if (volumes.has(volume.name)) return;
        const place = `${volume.name.slice(-80)}-${randomBytes(4).toString('hex')}`;
        if (!PLAIN.test(place)) throw new Error(`${volume.name} cannot be the name of a directory`);
        const next = new Map(volumes).set(volume.name, { place, labels: volume.labels });
        await write(next);
        known = next;
      }),
    removeVolume: (one) =>
      inTurn(async () => {
        const volumes = await read();
        const next = new Map(volumes);
        if (next.delete(one)) {
          if (next.size > 0) await write(next);
          removed.push(volumes.get(one)?.place ?? '');
          known = next;
        }
        if (next.size === 0 && isMade && !parts.isUsed()) {
          await removeSession(parts);
          [isMade, isReady, known] = [false, undefined, undefined];
        }
      }),
    ready(isFirst) {
      isReady ??= inTurn(async () => {
        if (isFirst) await endPods(parts);
        await makePolicies();
      });
      return isReady;
    },
  };
}

/** What names a session's objects. */
type SessionObjects = Pick<SessionClaimParts, 'api' | 'owner' | 'sessionId'>;

/** Removes every object of a session: pods first, since they use the claim. */
export async function removeSession(session: SessionObjects): Promise<void> {
  const { api, owner, sessionId } = session;
  const selector = selectorOf(owner, sessionId);
  await endPods(session);
  for (const resource of ['persistentvolumeclaims', 'networkpolicies'] as const)
    for (const one of await api.list(resource, selector)) {
      if (isOwn(one, owner, sessionId)) await api.remove(resource, String(one.metadata?.name));
    }
}

/** Deletes pods, and waits until none of them runs: the cluster forgets a pod after the end of its containers. */
async function endPods({ api, owner, sessionId }: SessionObjects): Promise<void> {
  const all = await api.list('pods', selectorOf(owner, sessionId));
  const pods = all.filter((one) => isOwn(one, owner, sessionId));
  for (const { metadata } of pods) await api.remove('pods', String(metadata?.name), 1);
  for (const { metadata } of pods) await untilGone(api, String(metadata?.name), metadata?.uid);
}

/**
 * Waits until a pod no longer exists.
 *
 * @throws {RunClaudeError} POD_STUCK
 */
export async function untilGone(api: ClusterApi, name: string, uid?: unknown): Promise<void> {
  for (const since = Date.now(); ; ) {
    const found = await api.get('pods', name);
    if (found === undefined || (uid !== undefined && found.metadata?.uid !== uid)) return;
    if (Date.now() - since > GONE_MS)
      throw new RunClaudeError('POD_STUCK', `pod ${name} does not end`, {
        hint: `Does its node answer? Look with: kubectl -n ${api.namespace} describe pod ${name}`,
      });
    await sleep(POLL_MS);
  }
}

/** The selector is the server's to apply: an object without our labels is left alone, whatever the server answered. */
function isOwn({ metadata }: ClusterObject, owner: string, sessionId: string): boolean {
  const { [LABELS.owner]: ofOwner, [LABELS.session]: ofSession } = metadata?.labels ?? {};
  const isOfSession = ofOwner === owner && ofSession === sessionId;
  return isOfSession && typeof metadata?.name === 'string' && PLAIN.test(metadata.name);
}

function selectorOf(owner: string, sessionId: string): string {
  return `${LABELS.owner}=${owner},${LABELS.session}=${sessionId}`;
}

function requireOwn(found: ClusterObject, owner: string, sessionId: string, name: string): void {
  if (isOwn(found, owner, sessionId)) return;
  throw new RunClaudeError('CLUSTER_FOREIGN', `the claim ${name} is not one that this run-claude made`, {
    hint: 'Sessions of another state directory are left alone.',
  });
}

/**
 * The volumes that a claim lists.
 *
 * @throws {RunClaudeError} RECORD_DAMAGED for a list that run-claude did not write
 */
export function volumesIn({ metadata }: ClusterObject, name: string): Map<string, ClaimedVolume> {
  const text = metadata?.annotations?.[VOLUMES];
  try {
    const entries = Object.entries(JSON.parse(String(text)) as Readonly<Record<string, ClaimedVolume>>);
    const isPlain = entries.every(
      ([volume, { place, labels }]) =>
        PLAIN.test(volume) && PLAIN.test(place) && Object.values(labels).every((one) => typeof one === 'string'),
    );
    if (isPlain) return new Map(entries);
  } catch {
    // Below.
  }
  throw new RunClaudeError(
    'RECORD_DAMAGED',
    `the claim ${printable(name)} lists volumes that run-claude did not write`,
    {
      hint: 'Remove the session: run-claude discard',
    },
  );
}
