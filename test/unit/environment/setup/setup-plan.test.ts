import { expect, it } from 'vitest';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { setupPlan } from '../../../../src/environment/setup/setup-plan.ts';
import { planWith } from '../../../support/session-record.ts';

const environment = { packages: ['ruby'], setup: 'x', env: { OF: 'environment' }, files: [] };
const ALLOWED: Partial<Policy> = {
  environment,
  networkPresets: ['maven'],
  memoryMb: 1,
  pids: 2,
  cpus: 3,
  runtime: 'runsc',
};
const OF_THE_USER: Partial<Policy> = {
  allowHosts: ['internal.example'],
  allowAddresses: ['10.0.0.0/8'],
  allowRequests: [{ host: 'api.example', requests: ['GET /'] }],
  brokers: [{ host: 'api.example', header: 'a', from: ['x'], methods: [] }],
  mcpServers: [{ name: 'a', url: 'https://mcp.example' }],
  mcpPrograms: [{ name: 'b', command: ['b'], env: {}, secrets: { KEY: ['x'] }, hosts: ['db.example'] }],
  ports: ['3000'],
  allowLocal: ['5432:db'],
  env: { TOKEN: 'SECRET' },
  envFiles: ['/home/me/secret.env'],
  allowGitPush: true,
  gpu: true,
  profile: 'work',
  credentials: 'file',
  permissions: 'ask',
};

it('gives a setup the limits, presets and environment of the session, and nothing else of the user', () => {
  const policy: Policy = { ...DEFAULTS, ...OF_THE_USER, ...ALLOWED, network: 'open' };
  const session = { ...planWith({}), env: { HOME: '/home/agent', TOKEN: 'SECRET' }, policy };
  const plan = setupPlan(session, ['x'], '/dir');
  expect(plan.policy).toEqual({ ...DEFAULTS, mode: policy.mode, ...ALLOWED, network: 'gateway', credentials: 'none' });
  expect(plan.env).toEqual({ HOME: '/home/agent', OF: 'environment' });
  expect(plan).toMatchObject({ program: { kind: 'exec', argv: ['x'] }, sessionDir: '/dir', tty: false });
  expect(JSON.stringify(plan)).not.toMatch(/SECRET|5432|example/);
});

it('leaves a setup without a network where the session has none', () => {
  const plan = setupPlan({ ...planWith({}), policy: { ...DEFAULTS, network: 'none' } }, [], '/dir');
  expect(plan.policy.network).toBe('none');
});
