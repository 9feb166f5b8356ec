import { execFileSync } from 'node:child_process';

type Labels = Readonly<Record<string, string>>;
interface Peer {
  readonly podSelector: { readonly matchLabels: Labels };
}
interface Rule {
  readonly to?: readonly Peer[];
  readonly from?: readonly Peer[];
  readonly ports?: readonly { readonly port: number }[];
}

/** What is read of a NetworkPolicy: those of sessions have no other fields. */
export interface EnforcedPolicy {
  readonly spec: {
    readonly podSelector: { readonly matchLabels: Labels };
    readonly ingress: readonly Rule[];
    readonly egress: readonly Rule[];
  };
}

/** A pod that has an address. */
export interface AddressedPod {
  readonly address: string;
  readonly labels: Labels;
}

const selects = ({ matchLabels }: { readonly matchLabels: Labels }, { labels }: AddressedPod): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

/** The rules of a chain for one direction: what a pod's policies allow together returns, and the rest is dropped. */
function chainOf(
  direction: 'egress' | 'ingress',
  pods: readonly AddressedPod[],
  policies: readonly EnforcedPolicy[],
): readonly string[] {
  const [chain, own, other] = direction === 'egress' ? ['OUT', '-s', '-d'] : ['IN', '-d', '-s'];
  return pods.flatMap((pod) => {
    const ofPod = policies.filter(({ spec }) => selects(spec.podSelector, pod));
    if (ofPod.length === 0) return [];
    const allowed = ofPod.flatMap(({ spec }) =>
      spec[direction].flatMap(({ to, from, ports }) => {
        const peers = to ?? from;
        const addresses = peers === undefined ? [''] : pods.flatMap((one) => matching(one, peers, other ?? ''));
        const suffixes = ports === undefined ? [''] : ports.map(({ port }) => ` -p tcp --dport ${port}`);
        return addresses.flatMap((address) => suffixes.map((suffix) => `${address}${suffix}`));
      }),
    );
    return [
      ...allowed.map((match) => `-A ${chain} ${own} ${pod.address}${match} -j RETURN`),
      `-A ${chain} ${own} ${pod.address} -j DROP`,
    ];
  });
}

function matching(pod: AddressedPod, peers: readonly Peer[], option: string): string[] {
  return peers.some(({ podSelector }) => selects(podSelector, pod)) ? [` ${option} ${pod.address}`] : [];
}

/** Enforces the policies with iptables in the network namespace of a process, as a network plugin does on a node. */
export function enforcePolicies(pid: number, pods: readonly AddressedPod[], policies: readonly EnforcedPolicy[]): void {
  const lines = [
    '*filter',
    ...[':INPUT ACCEPT', ':FORWARD ACCEPT', ':OUT -', ':IN -'],
    ...['INPUT', 'FORWARD'].map((chain) => `-A ${chain} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`),
    ...['-A INPUT -j OUT', '-A FORWARD -j OUT', '-A FORWARD -j IN'],
    ...chainOf('egress', pods, policies),
    ...chainOf('ingress', pods, policies),
    'COMMIT\n',
  ];
  execFileSync('nsenter', [`--net=/proc/${pid}/ns/net`, 'iptables-restore'], { input: lines.join('\n') });
}
