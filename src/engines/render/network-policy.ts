import type { ContainerSpec } from '../../core/types/engine.ts';

/** The port of the gateway's pod that the agent's pod may reach. */
export const GATEWAY_POD_PORT = 47_800;

/** A NetworkPolicy of Kubernetes, as far as it is used. */
export interface NetworkPolicy {
  readonly apiVersion: 'networking.k8s.io/v1';
  readonly kind: 'NetworkPolicy';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly podSelector: PodSelector;
    readonly policyTypes: readonly ('Ingress' | 'Egress')[];
    readonly ingress: readonly IngressRule[];
    readonly egress: readonly EgressRule[];
  };
}

interface PodSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface Ports {
  readonly ports: readonly { readonly protocol: 'TCP'; readonly port: number }[];
}

type IngressRule = Ports & { readonly from: readonly { readonly podSelector: PodSelector }[] };
type EgressRule = Partial<Ports> & { readonly to?: readonly { readonly podSelector: PodSelector }[] };

/** What names the pod of a container: of its session, and of its role. */
export function podLabels({ sessionId, role }: Pick<ContainerSpec, 'sessionId' | 'role'>): Record<string, string> {
  return { 'run-claude.session': sessionId, 'run-claude.role': role };
}

const GATEWAY_PORT: Ports = { ports: [{ protocol: 'TCP', port: GATEWAY_POD_PORT }] };
/** The gateway decides itself what it connects to. */
const EVERYWHERE: EgressRule = {};

function policyOf(spec: ContainerSpec, ingress: readonly IngressRule[], egress: readonly EgressRule[]): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: spec.name, labels: podLabels(spec) },
    spec: { podSelector: { matchLabels: podLabels(spec) }, policyTypes: ['Ingress', 'Egress'], ingress, egress },
  };
}

/** Nothing comes in, and nothing goes out. Another policy that selects the pod can add to it: policies are a union. */
export function closedPolicy(spec: ContainerSpec): NetworkPolicy {
  return policyOf(spec, [], []);
}

/** Nothing comes in. For a pod whose only container with a network is the gateway. */
export function outwardPolicy(spec: ContainerSpec): NetworkPolicy {
  return policyOf(spec, [], [EVERYWHERE]);
}

/** Agent and gateway in pods of their own: the agent reaches one port of the gateway, and nothing else, names included. */
export function pairPolicies(agent: ContainerSpec, gateway: ContainerSpec): readonly NetworkPolicy[] {
  const [ofAgent, ofGateway] = [agent, gateway].map((spec) => ({ podSelector: { matchLabels: podLabels(spec) } }));
  if (ofAgent === undefined || ofGateway === undefined) return [];
  return [
    policyOf(agent, [], [{ to: [ofGateway], ...GATEWAY_PORT }]),
    policyOf(gateway, [{ from: [ofAgent], ...GATEWAY_PORT }], [EVERYWHERE]),
  ];
}
