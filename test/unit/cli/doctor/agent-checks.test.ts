import { expect, it } from 'vitest';
import { agentNamed } from '../../../../src/agents/agents.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { credentialCheck, imageCheck } from '../../../../src/cli/doctor/agent-checks.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';

const TINY = { name: 'tiny', title: 'Tiny', program: ['tiny'], copy: [], print: [], skipPermissions: [], env: {} };

const named = (name: string) => {
  const agent = agentNamed(name, [TINY]);
  if (agent === undefined) throw new Error(name);
  return agent;
};
const context = (env: Record<string, string>): CommandContext =>
  ({ env, places: { home: '/nowhere' } }) as unknown as CommandContext;

it('the credential is that of the agent that is asked for', async () => {
  const env = { OPENAI_API_KEY: 'x' };
  expect(await credentialCheck(context(env), named('codex'))).toMatchObject({ result: 'ok', text: 'OPENAI_API_KEY' });
  expect(await credentialCheck(context(env), named('gemini'))).toMatchObject({
    result: 'warning',
    text: 'none found: Gemini CLI cannot work without one',
    wayOut: 'Log in with gemini on this machine, or set GEMINI_API_KEY.',
  });
  expect(await credentialCheck(context({}), named('claude'))).toMatchObject({
    text: 'none found: Claude cannot work without one',
  });
  expect(await credentialCheck(context({}), named('tiny'))).toEqual({
    name: 'credential',
    result: 'ok',
    text: 'Tiny needs none',
  });
});

it('the image has to have the program of the agent', async () => {
  const built: string[] = ['base'];
  const engine = (arch: string): Engine =>
    ({ facts: { arch }, images: { has: async (tag: string) => built.includes(tag) } }) as unknown as Engine;
  const check = (name: string, arch = 'amd64') => imageCheck(engine(arch), 'base', {}, named(name));
  expect(await check('claude')).toMatchObject({ result: 'ok', text: 'base is built' });
  expect(await check('tiny')).toMatchObject({ result: 'ok' });
  expect(await check('codex')).toMatchObject({ result: 'warning', text: 'base is built, without Codex' });
  expect(await check('opencode', 'arm64')).toMatchObject({
    result: 'fault',
    text: "there is no opencode for the engine's architecture arm64",
  });
  const { addressAgentLayer } = await import('../../../../src/environment/image/layers/agent-layer.ts');
  const { image } = named('codex');
  if (image === undefined) throw new Error('no package');
  built.push(addressAgentLayer(engine('amd64'), 'base', image));
  expect((await check('codex')).text).toContain('with Codex is built');
});
