import path from 'node:path/posix';
import type { ContainerSpec } from '../../core/types/engine.ts';
import { INSIDE } from '../engine/hardening/hardened.ts';
import { withProof } from '../engine/hardening/proof.ts';
import { GATEWAY_POD_PORT } from './network-policy.ts';

// A container in a pod of its own has an interface: it reaches the gateway over TCP, and init tries what a NetworkPolicy
// has to stop before anything starts.

/** The gateway's pod, which runs before the agent's program. */
export interface GatewayPod {
  readonly address: string;
  /** What the gateway's door expects before the name of a socket. */
  readonly word: string;
}

/** Stands for a gateway's pod whose address is not known yet, and for its word, which is not printed. */
export const LATER_GATEWAY: GatewayPod = { address: 'GATEWAY_POD_IP', word: 'GATEWAY_WORD' };

const INIT = `${INSIDE}/init`;

/** Where clouds answer with credentials of the machine. */
const METADATA: readonly string[] = ['169.254.169.254', 'fd00:ec2::254'];

/** Lines of init's proof: no answer from any of these. The neighbour is another port of the gateway's pod. */
function triesOf(gateway: GatewayPod | undefined): string[] {
  return [
    'unreachable api-server',
    'unreachable name-server',
    ...METADATA.map((address) => `unreachable metadata ${address} 80`),
    ...(gateway === undefined ? [] : [`unreachable neighbour ${gateway.address} ${GATEWAY_POD_PORT + 1}`]),
  ];
}

/** The container, proved, whose init also tries the network. `gateway`: of an agent that has one. */
export function withTries(spec: ContainerSpec, gateway?: GatewayPod): ContainerSpec {
  const { argv } = withProof(spec);
  const tries = triesOf(gateway);
  const [first, option, proof, ...rest] = argv;
  if (first === INIT && option === '--prove')
    return { ...spec, argv: [INIT, option, [proof, ...tries].join('\n'), ...rest] };
  // Of a runtime with its own kernel, which shows other values: only the network is tried.
  const words = first === INIT ? argv.slice(1) : ['--', ...argv];
  return { ...spec, argv: [INIT, '--prove', tries.join('\n'), ...words] };
}

/** The directory of the gateway's sockets in an agent's container. */
export interface SocketsPlace {
  readonly directory: string;
  /** Whether the gateway's pod mounts the same directory: the agent can wait for a file in it then. */
  readonly isShared: boolean;
}

/** The agent's container, whose forwarder joins its ports to the gateway's pod instead of sockets. */
export function overTcp(
  spec: ContainerSpec,
  { directory, isShared }: SocketsPlace,
  { address, word }: GatewayPod,
): ContainerSpec {
  const end = spec.argv.indexOf('--');
  const options = spec.argv.slice(0, end);
  const words: string[] = [];
  for (let at = 0; at < options.length; at++) {
    const [option = '', value = ''] = [options[at], options[at + 1]];
    if (option !== '--forward' && (option !== '--until' || isShared)) {
      words.push(option);
      continue;
    }
    at++;
    const [port = '', socket = ''] = value.split('=');
    // The other direction (from=) is for pages that the user looks at.
    if (option === '--forward' && port !== 'from' && socket.startsWith(`${directory}/`))
      words.push(option, `${port}=tcp:${address}:${GATEWAY_POD_PORT}/${word}.${path.basename(socket, '.sock')}`);
  }
  return { ...spec, argv: [...words, ...spec.argv.slice(end)] };
}
