import { readFileSync } from 'node:fs';
import { DEFAULTS } from '../../src/core/config/settings.ts';
import type { ContainerSpec, Mount } from '../../src/core/types/engine.ts';
import { agentSpec, collectorSpec, gatewaySpec } from '../../src/engines/engine/hardening/hardened.ts';
import type { SessionSpecs } from '../../src/engines/render/render.ts';
import { GATEWAY_DIR, GATEWAY_VOLUME } from '../../src/network/gateway/agent-side.ts';

const GATEWAY = 'run-claude-a-gw';
/** The directory of the sockets, by volume. */
export const sockets: ReadonlyMap<string, string> = new Map([[GATEWAY, GATEWAY_DIR]]);
/** Text of the profile. */
export const seccomp: string = readFileSync(new URL('../../seccomp/profile.json', import.meta.url), 'utf8');
const common = { sessionId: '261123-101500-abc', image: 'run-claude:0123456789abcdef', seccomp };
const volume = (name: string, target: string, readonly: boolean): Mount => ({
  kind: 'volume',
  volume: name,
  target,
  readonly,
});

/** An agent with a gateway. */
export const agent: ContainerSpec = agentSpec({
  ...common,
  user: '1000:1001',
  argv: ['claude', '-p', 'hi $(HOME)'],
  forwards: [`47802=${GATEWAY_DIR}/proxy.sock`, `from=${GATEWAY_DIR}/ports.sock`],
  until: `${GATEWAY_DIR}/proxy.sock`,
  env: { PATH: '/usr/bin', HOME: '/home/agent', TEXT: '$(HOME)' },
  workdir: '/workspace',
  mounts: [volume('run-claude-a-ws', '/workspace', false), volume(GATEWAY, GATEWAY_VOLUME, true)],
  network: 'none',
  limits: { memoryMb: 8192, cpus: 1.5, pids: 4096, tmpMb: 512 },
  tty: false,
  stdin: 'stream',
});
/** The containers of one session. */
export const SPECS: SessionSpecs = {
  plan: { policy: DEFAULTS },
  agent,
  gateway: gatewaySpec({
    ...common,
    user: '61000:61000',
    argv: ['/usr/lib/run-claude/init', '--', 'node'],
    mounts: [volume(GATEWAY, GATEWAY_VOLUME, false)],
    stdin: 'stream',
    bridge: 'run-claude-a',
  }),
  collector: collectorSpec({
    ...common,
    argv: ['/usr/lib/run-claude/collector'],
    mounts: [volume('run-claude-a-ws', '/roots/layer', true)],
    stdin: 'stream',
  }),
};
