import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Capability } from './capability.ts';
import type { Column } from './columns.ts';
import { CONTAINER_ROWS } from './container-rows.ts';
import { SESSION_ROWS } from './session-rows.ts';

export type CapabilityName = keyof typeof CONTAINER_ROWS | keyof typeof SESSION_ROWS;

/**
 * What each runtime and each rendered form does about each part of a container and of a session. The plan, the renderer,
 * `doctor`, errors and documents read it. Names are those of `--without-layer`.
 */
export const CAPABILITIES: Readonly<Record<CapabilityName, Capability>> = { ...CONTAINER_ROWS, ...SESSION_ROWS };

/** The rows that a field is in. 'host': no runtime sees it, so it is the same on each. */
type Rows = readonly CapabilityName[] | 'host';

/** Every field of a policy. A new one has to say what the runtimes do about it. */
export const POLICY_ROWS: Readonly<Record<keyof Policy, Rows>> = {
  mode: ['bind-mode', 'host-directories'],
  strategy: ['joined-volumes'],
  shallow: 'host',
  repo: 'host',
  autoApply: 'host',
  allowSuspect: 'host',
  yes: 'host',
  failOn: 'host',
  newKinds: 'host',
  rehearse: 'host',
  test: ['joined-volumes'],
  tests: ['joined-volumes'],
  scenes: 'host',
  requireTests: 'host',
  also: ['other-folders'],
  exclude: 'host',
  include: 'host',
  mask: 'host',
  unmask: 'host',
  copyIgnored: 'host',
  includeIgnored: 'host',
  tmpdir: 'host',
  memoryMb: ['memory', 'swap'],
  cpus: ['processors'],
  pids: ['processes'],
  tmpMb: ['memory-directories'],
  diskMb: 'host',
  timeoutMs: 'host',
  idleTimeoutMs: ['kept'],
  notify: 'host',
  keepAwake: 'host',
  maxCostUsd: 'host',
  maxRequests: 'host',
  network: ['network-open', 'gateway-network', 'no-network'],
  // The gateway decides them, wherever it runs.
  allowHosts: 'host',
  allowAddresses: 'host',
  networkPresets: 'host',
  brokers: 'host',
  allowRequests: 'host',
  mcp: 'host',
  mcpServers: 'host',
  mcpPrograms: ['mcp-programs', 'companions'],
  services: ['services', 'companions'],
  ports: ['ports'],
  allowLocal: ['allow-local', 'loopback-names'],
  credentials: ['credentials-file'],
  freshCreds: 'host',
  env: ['environment'],
  envFiles: 'host',
  envFileNames: 'host',
  with: 'host',
  caches: ['caches'],
  approved: 'host',
  environment: ['packages', 'setup'],
  allowGitPush: 'host',
  permissions: 'host',
  engine: 'host',
  on: 'host',
  runtime: ['runtime'],
  agent: ['other-agents'],
  gpu: ['graphics'],
  image: ['image', 'image-builds'],
  toolchain: ['toolchain', 'image-builds'],
  claudeVersion: ['claude-version', 'image-builds'],
  rebuild: ['rebuild', 'image-builds'],
  isolateClaudeData: ['isolate-claude-data'],
  syncBack: 'host',
  profile: 'host',
  verify: 'host',
  report: 'host',
  quiet: 'host',
  trace: 'host',
  auditRules: 'host',
  auditSeverities: 'host',
};

/** Every field of a container. */
export const CONTAINER_FIELD_ROWS: Readonly<Record<keyof ContainerSpec, Rows>> = {
  name: 'host',
  role: ['companions'],
  sessionId: 'host',
  image: ['image'],
  argv: ['program'],
  user: ['user'],
  env: ['environment'],
  workdir: ['program'],
  mounts: ['places', 'memory-directories', 'host-directories'],
  network: ['no-network', 'network-open', 'no-resolver'],
  capabilities: ['capabilities'],
  seccomp: ['seccomp'],
  limits: ['memory', 'swap', 'processors', 'processes', 'process-limits'],
  tty: ['terminal'],
  stdin: ['ends-with-client'],
  hostname: ['host-name'],
  loopbackNames: ['loopback-names'],
  gpus: ['graphics'],
  runtime: ['runtime'],
  labels: 'host',
};

/** Whether a column has all of a part. */
export function supports(column: Column, name: CapabilityName): boolean {
  return CAPABILITIES[name].cells[column].is === 'supported';
}
