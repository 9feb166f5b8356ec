import { isIP } from 'node:net';
import { printable } from '../remote/printable.ts';
import type { ClusterObject } from './api.ts';

/** What the cluster says about a pod. */
export type PodState =
  /** `why`: for the user; may be empty. */
  | { readonly kind: 'waiting'; readonly why: string }
  /** It will not start by itself. */
  | { readonly kind: 'stuck'; readonly reason: string; readonly why: string }
  | { readonly kind: 'running'; readonly imageId: string }
  /** `status`: of its container; undefined where the pod ended for another reason. */
  | { readonly kind: 'ended'; readonly status: number | undefined; readonly why: string };

/** Reasons of a waiting container that time does not mend. `ErrImagePull` is tried once more. */
const STUCK: readonly string[] = [
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
];

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.slice(0, 100).map(fieldsOf) : []);

/** The state of a pod with one container. The server may say anything: text is made printable, numbers are bounded. Pure. */
export function podState({ status }: ClusterObject): PodState {
  const { phase, reason, message, conditions, containerStatuses, initContainerStatuses } = fieldsOf(status);
  const [main] = listOf(containerStatuses);
  const [first] = listOf(initContainerStatuses);
  const { running, terminated, waiting } = fieldsOf(main?.['state']);
  const why = sentence(reason, message);
  if (terminated !== undefined) {
    const { exitCode, reason: ofContainer, message: said } = fieldsOf(terminated);
    const isEvicted = phase === 'Failed' && typeof reason === 'string' && reason !== '';
    return {
      kind: 'ended',
      status: isEvicted ? undefined : statusOf(exitCode),
      why: why || sentence(ofContainer, said),
    };
  }
  const failed = fieldsOf(fieldsOf(first?.['state'])['terminated']);
  if (failed['exitCode'] !== undefined && failed['exitCode'] !== 0)
    return { kind: 'stuck', reason: 'prepare', why: sentence(failed['reason'], failed['message']) };
  if (phase === 'Failed' || phase === 'Succeeded') return { kind: 'ended', status: undefined, why };
  if (running !== undefined) return { kind: 'running', imageId: printable(main?.['imageID']) };
  const held = fieldsOf(waiting ?? fieldsOf(first?.['state'])['waiting']);
  const heldFirst = fieldsOf(fieldsOf(first?.['state'])['waiting']);
  for (const one of [heldFirst, held]) {
    const name = one['reason'];
    if (typeof name === 'string' && STUCK.includes(name))
      return { kind: 'stuck', reason: name, why: sentence(name, one['message']) };
  }
  const unscheduled = listOf(conditions).find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unscheduled !== undefined)
    return { kind: 'waiting', why: sentence(unscheduled['reason'], unscheduled['message']) };
  return { kind: 'waiting', why: why || sentence(held['reason'], held['message']) };
}

/** Of a pod on a node, also while it starts. */
export function nodeOf({ spec }: ClusterObject): string | undefined {
  const node = spec?.nodeName;
  return typeof node === 'string' && /^[a-z0-9][a-z0-9.-]{0,252}$/.test(node) ? node : undefined;
}

/** Of a pod with a network. */
export function addressOf({ status }: ClusterObject): string | undefined {
  const { podIP } = fieldsOf(status);
  return typeof podIP === 'string' && isIP(podIP) !== 0 && !podIP.includes('%') ? podIP : undefined;
}

function statusOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255 ? value : 255;
}

function sentence(reason: unknown, message: unknown): string {
  return [printable(reason), printable(message)].filter((one) => one !== '').join(': ');
}
