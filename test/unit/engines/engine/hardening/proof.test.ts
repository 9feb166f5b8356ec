import { describe, expect, it } from 'vitest';
import { type AgentParts, agentSpec } from '../../../../../src/engines/engine/hardening/hardened.ts';
import { provedInside, withProof } from '../../../../../src/engines/engine/hardening/proof.ts';

const PARTS: AgentParts = {
  sessionId: '261121-140512-k7p',
  image: 'run-claude:0',
  seccomp: '{}',
  user: '501:20',
  argv: ['agent', '--umask', '0000'],
  forwards: ['1=/s'],
  until: '/ready',
  env: {},
  workdir: '/workspace',
  mounts: [],
  network: 'none',
  limits: { memoryMb: 64, cpus: 0, pids: 8, tmpMb: 1 },
  tty: false,
  stdin: 'none',
};
/** Init's words without the proof, which has many lines. */
const initWords = (argv: readonly string[]): readonly string[] => argv.filter((word) => !word.includes('\n'));

it('is init that its user cannot read, and for gVisor the copy that it can', () => {
  const spec = agentSpec({ ...PARTS, runtime: 'runsc' });
  expect(withProof(spec).argv).toEqual(['/usr/lib/run-claude/readable/init', ...spec.argv.slice(1)]);
  expect(provedInside(spec, ['sh']).argv[0]).toBe('/usr/lib/run-claude/readable/init');
  expect(withProof(agentSpec(PARTS)).argv[0]).toBe('/usr/lib/run-claude/init');
});

describe('the umask of the user', () => {
  it('is an option of init, for the agent and for each program that is started next to it', () => {
    const spec = agentSpec({ ...PARTS, umask: 0o002 });
    expect(initWords(withProof(spec).argv).slice(1, 6)).toEqual(['--prove', '--umask', '0002', '--until', '/ready']);
    expect(initWords(provedInside(spec, ['sh']).argv).slice(1)).toEqual(['--prove', '--umask', '0002', '--', 'sh']);
    const { argv } = provedInside({ ...spec, runtime: 'runsc' }, ['sh']);
    expect(argv.slice(1)).toEqual(['--umask', '0002', '--', 'sh']);
  });

  it('is left to the engine where it is the usual one, and is never read from the words of a program', () => {
    const spec = agentSpec(PARTS);
    expect(initWords(withProof(spec).argv).slice(1, 4)).toEqual(['--prove', '--until', '/ready']);
    expect(initWords(provedInside(spec, ['sh']).argv).slice(1)).toEqual(['--prove', '--', 'sh']);
  });
});
