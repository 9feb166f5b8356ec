import { createHash } from 'node:crypto';
import path from 'node:path/posix';
import type { ContainerSpec, PodForm } from '../../core/types/engine.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { withProof } from '../engine/hardening/proof.ts';
import { GATEWAY_POD_PORT } from '../render/network-policy.ts';
import { type GatewayPod, overTcp, withTries } from '../render/own-pod.ts';
import { type Pod, type PodContainer, type PodVolume, podOf } from '../render/pod.ts';
import { behindGate } from './gate.ts';

/** Labels of every object that run-claude makes in a cluster. */
export const LABELS = { owner: 'run-claude.owner', session: 'run-claude.session', role: 'run-claude.role' } as const;

/** A volume that the session's claim holds. */
export interface ClaimedVolume {
  /** Its directory in the claim, another one for each volume of that name. */
  readonly place: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface SessionPodParts {
  readonly name: string;
  readonly owner: string;
  readonly form: PodForm;
  /** Of an agent in its own pod. */
  readonly gateway: GatewayPod | undefined;
  /** Reference with a digest. */
  readonly image: string;
  readonly claim: string;
  readonly volumes: ReadonlyMap<string, ClaimedVolume>;
  /** Directories of removed volumes. */
  readonly removed: readonly string[];
  /** Text of the seccomp profile. */
  readonly seccomp: string;
  /** The node of the session's other pods. */
  readonly node: string | undefined;
  readonly patienceSeconds: number;
  readonly deadlineSeconds: number;
}

/** A pod of one container over directories of a claim. */
export interface SessionPod extends Omit<Pod, 'spec'> {
  readonly spec: Omit<Pod['spec'], 'containers' | 'volumes'> & {
    readonly initContainers: readonly ClaimContainer[];
    readonly containers: readonly ClaimContainer[];
    readonly volumes: readonly PodVolume[];
    readonly activeDeadlineSeconds: number;
    readonly terminationGracePeriodSeconds: number;
    readonly affinity?: object;
  };
}

interface ClaimContainer extends Omit<PodContainer, 'volumeMounts'> {
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
    readonly readOnly: boolean;
  }[];
}

const VOLUME = 'session';
const PREPARE = 'prepare';
const CLAIM_AT = '/mnt';
/** Pods start side by side: a pod deletes only the directories in its words, since a volume can be newer than its list of volumes. */
const PREPARE_PROGRAM = `set -eu
cd ${CLAIM_AT}; mkdir -p volumes; cd volumes
while [ "$1" != -- ]; do
  if [ ! -e "$1" ]; then
    rm -rf -- ".$1"
    if [ -n "$2" ] && [ -d "$2" ]; then cp -a -- "$2" ".$1"; else mkdir -m 755 -- ".$1"; fi
    mv -T -- ".$1" "$1"
  fi
  shift 2
done
shift
for one; do rm -rf -- "$one" ".$one"; done`;

/** The claim's directory of a volume. */
export const subPathOf = ({ place }: ClaimedVolume): string => `volumes/${place}`;

/** The container as its pod runs it: proved, and in a pod of its own also what a NetworkPolicy has to stop. */
function provedInPod(spec: ContainerSpec, { form, gateway }: SessionPodParts): ContainerSpec {
  if (form !== 'pods' || spec.role === 'gateway') return withProof(spec);
  if (gateway === undefined) return withTries(spec);
  const sockets = { directory: socketsIn(spec), isShared: true };
  return withTries(overTcp(spec, sockets, gateway), gateway);
}

/** Whether a container reaches its session's gateway, by the words of init: those of its program come after them. */
export const hasGateway = ({ argv }: Pick<ContainerSpec, 'argv'>): boolean =>
  argv.slice(0, argv.indexOf('--')).includes('--forward');

/** The directory of the gateway's sockets. A pod has no others: sessions with services are refused. */
function socketsIn({ argv }: ContainerSpec): string {
  const [, socket = ''] = (argv[argv.indexOf('--forward') + 1] ?? '').split('=');
  return path.dirname(socket);
}

/**
 * The pod of a container: proved, behind a gate. A first container makes the directories of its volumes,
 * with what the image has at the place of a volume that is filled. Pure.
 *
 * @throws {RunClaudeError} RENDER_LOSS as podOf
 */
export function sessionPod(spec: ContainerSpec, parts: SessionPodParts): SessionPod {
  const { name, owner, form, image, claim, node, seccomp } = parts;
  const main = oneContainer(provedInPod({ ...spec, image, seccomp: spec.seccomp ?? seccomp }, parts), form);
  const mounts = spec.mounts.flatMap((one) => (one.kind === 'volume' ? [one] : []));
  const words = mounts.flatMap((one) => [placeIn(parts, one.volume).place, one.fill === true ? one.target : '']);
  const preparing = oneContainer(
    taskSpec({
      sessionId: spec.sessionId,
      suffix: PREPARE,
      image,
      seccomp,
      user: '0:0',
      capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'],
      argv: ['/bin/bash', '-p', '-c', PREPARE_PROGRAM, PREPARE, ...words, '--', ...parts.removed],
      mounts: [],
      stdin: 'none',
    }),
    form,
    'no directories in memory',
  );
  return {
    ...main.pod,
    metadata: {
      name,
      labels: { [LABELS.owner]: owner, [LABELS.session]: spec.sessionId, [LABELS.role]: spec.role },
      ...(preparing.annotation === undefined
        ? {}
        : {
            annotations: { ...main.pod.metadata.annotations, [`run-claude.confine.${PREPARE}`]: preparing.annotation },
          }),
    },
    spec: {
      ...main.pod.spec,
      securityContext: { sysctls: main.pod.spec.securityContext.sysctls },
      initContainers:
        mounts.length === 0
          ? []
          : [
              {
                ...preparing.container,
                name: PREPARE,
                volumeMounts: [{ name: VOLUME, mountPath: CLAIM_AT, readOnly: false }],
              },
            ],
      containers: [
        {
          ...main.container,
          command: behindGate(main.container.command, parts.patienceSeconds),
          stdin: true,
          stdinOnce: true,
          volumeMounts: [
            ...main.container.volumeMounts,
            ...mounts.map((one) => ({
              name: VOLUME,
              mountPath: one.target,
              subPath: subPathOf(placeIn(parts, one.volume)),
              readOnly: one.readonly,
            })),
          ],
        },
      ],
      volumes: [
        ...main.pod.spec.volumes,
        ...(mounts.length === 0 ? [] : [{ name: VOLUME, persistentVolumeClaim: { claimName: claim } }]),
      ],
      activeDeadlineSeconds: parts.deadlineSeconds,
      terminationGracePeriodSeconds: 1,
      ...(node === undefined ? {} : { affinity: onNode(node) }),
    },
  };
}

function placeIn({ volumes }: SessionPodParts, name: string): ClaimedVolume {
  const found = volumes.get(name);
  if (found === undefined) throw new Error(`the volume ${name} was not made`);
  return found;
}

/** What the renderer makes of one container, without the directories of its claim. */
function oneContainer(spec: ContainerSpec, form: PodForm, how?: 'no directories in memory') {
  const mounts = how === undefined ? spec.mounts.filter(({ kind }) => kind === 'tmpfs') : [];
  const pod = podOf(form === 'pods' ? 'own' : 'confined', [{ ...spec, mounts }], { sockets: new Map() });
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('a pod has a container');
  /** For the wrapper of the RuntimeClass. */
  const [annotation] = Object.values(pod.metadata.annotations ?? {});
  return { pod, container, annotation };
}

/** The scheduler's own way to name one node. */
function onNode(node: string): object {
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] };
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } };
}

/**
 * The policies of a session: nothing in and nothing out, and out for the gateway. For an agent with its own network, one
 * port of the gateway. Policies are a union. Pure.
 */
export function sessionPolicies(sessionId: string, owner: string, form: PodForm): readonly object[] {
  const ofRole = (role: string) => ({ [LABELS.role]: role });
  const policy = (
    name: string,
    labels: Readonly<Record<string, string>>,
    { ingress = [], egress = [] }: { readonly ingress?: readonly object[]; readonly egress?: readonly object[] },
  ) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `run-claude-${sessionId}-${name}`, labels: labelsOf(sessionId, owner) },
    spec: {
      podSelector: { matchLabels: { ...labelsOf(sessionId, owner), ...labels } },
      policyTypes: ['Ingress', 'Egress'],
      ingress,
      egress,
    },
  });
  const pods = (role: string) => [{ podSelector: { matchLabels: { ...labelsOf(sessionId, owner), ...ofRole(role) } } }];
  const ports = [{ protocol: 'TCP', port: GATEWAY_POD_PORT }];
  return [
    policy('closed', {}, {}),
    policy('gateway', ofRole('gateway'), { egress: [{}] }),
    ...(form === 'pods'
      ? [
          policy('door', ofRole('gateway'), { ingress: [{ from: pods('agent'), ports }] }),
          policy('agent', ofRole('agent'), { egress: [{ to: pods('gateway'), ports }] }),
        ]
      : []),
  ];
}

/** Of every object of a session. */
export function labelsOf(sessionId: string, owner: string): Readonly<Record<string, string>> {
  return { [LABELS.owner]: owner, [LABELS.session]: sessionId };
}

/** A name for a pod: at most 63 characters, of which the last ones tell pods of one container apart. */
export function podName(spec: Pick<ContainerSpec, 'name'>, random: string): string {
  const short = createHash('sha256').update(spec.name).digest('hex').slice(0, 6);
  const name = spec.name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  return name.length <= 54 ? `${name}-${random}` : `${name.slice(0, 47)}-${short}-${random}`;
}
