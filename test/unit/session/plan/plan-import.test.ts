import { expect, it } from 'vitest';
import type { HostFacts } from '../../../../src/core/types/plan.ts';
import { planImport } from '../../../../src/session/plan/plan-import.ts';
import { planWith } from '../../../support/session-record.ts';

const { policy, project } = planWith({ policy: { mode: 'bind', env: { TOKEN: 'x' } } });
const host = {
  home: '/home/you',
  stateDir: '/home/you/state',
  cacheDir: '/home/you/cache',
  dataDir: '/home/you/data',
  configDir: '/home/you/config',
  uid: 7,
  gid: 8,
} as HostFacts;

it('is a copy session of the importer without a container, a layer or variables', () => {
  const plan = planImport({ sessionId: '261121-140512-k7p', policy, host, project });
  expect(plan).toMatchObject({
    mode: 'copy',
    sessionDir: '/home/you/state/sessions/261121-140512-k7p',
    policy: { mode: 'copy', env: {} },
    env: {},
    image: '',
  });
});

it('refuses a project that no session may have', () => {
  const inHome = { ...project, root: '/home/you' };
  expect(() => planImport({ sessionId: '', policy, host, project: inHome })).toThrow(/home directory/);
});
