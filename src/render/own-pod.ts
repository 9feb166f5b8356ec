import path from 'node:path/posix';
import { INSIDE } from '../engine/hardening/hardened.ts';
import { withProof } from '../engine/hardening/proof.ts';
import type { ContainerSpec } from '../types/engine.ts';
import { GATEWAY_POD_PORT } from './network-policy.ts';

// A container in a pod of its own has an interface: it reaches the gateway over TCP, and init tries what a NetworkPolicy
// has to stop before anything starts.

/** Stands for the address of the gateway's pod, which runs before the agent's pod is made. */
export const GATEWAY_ADDRESS = 'GATEWAY_POD_IP';

const INIT = `${INSIDE}/init`;

/** Where clouds answer with credentials of the machine. */
const METADATA: readonly string[] = ['169.254.169.254', 'fd00:ec2::254'];

/** Lines of init's proof: no answer from any of these. The neighbour is another port of the gateway's pod. */
function triesOf(hasGateway: boolean): string[] {
  return [
    'unreachable api-server',
    'unreachable name-server',
    ...METADATA.map((address) => `unreachable metadata ${address} 80`),
    ...(hasGateway ? [`unreachable neighbour ${GATEWAY_ADDRESS} ${GATEWAY_POD_PORT + 1}`] : []),
  ];
}

/** The container, proved, whose init also tries the network. */
export function withTries(spec: ContainerSpec, { hasGateway }: { readonly hasGateway: boolean }): ContainerSpec {
  const { argv } = withProof(spec);
  const tries = triesOf(hasGateway);
  const [first, option, proof, ...rest] = argv;
  if (first === INIT && option === '--prove')
    return { ...spec, argv: [INIT, option, [proof, ...tries].join('\n'), ...rest] };
  // Of a runtime with a kernel of its own, which shows other values: only the network is tried.
  const words = first === INIT ? argv.slice(1) : ['--', ...argv];
  return { ...spec, argv: [INIT, '--prove', tries.join('\n'), ...words] };
}

/**
 * The agent's container, whose forwarder joins its ports to the gateway's pod instead of sockets. The gateway is ready
 * before it is made, so it waits for nothing. `sockets`: the directory that no other pod shares.
 */
export function overTcp(spec: ContainerSpec, sockets: string): ContainerSpec {
  const end = spec.argv.indexOf('--');
  const options = spec.argv.slice(0, end);
  const words: string[] = [];
  for (let at = 0; at < options.length; at++) {
    const [option = '', value = ''] = [options[at], options[at + 1]];
    if (option !== '--until' && option !== '--forward') {
      words.push(option);
      continue;
    }
    at++;
    const [port = '', socket = ''] = value.split('=');
    // The other direction (from=) is for pages that the user looks at.
    if (option === '--forward' && port !== 'from' && socket.startsWith(`${sockets}/`))
      words.push(option, `${port}=tcp:${GATEWAY_ADDRESS}:${GATEWAY_POD_PORT}/${path.basename(socket, '.sock')}`);
  }
  return { ...spec, argv: [...words, ...spec.argv.slice(end)] };
}
