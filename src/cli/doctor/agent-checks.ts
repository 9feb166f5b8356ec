import type { Agent } from '../../agents/agent.ts';
import { describeCredential } from '../../agents/claude/credentials/credentials.ts';
import { RunClaudeError } from '../../core/errors.ts';
import type { ImageRuntime, Runtime } from '../../core/types/runtime.ts';
import { imageFiles } from '../../environment/image/address.ts';
import { changedInputs, imageInputs } from '../../environment/image/inputs.ts';
import { addressAgentLayer } from '../../environment/image/layers/agent-layer.ts';
import type { CommandContext } from '../context/context.ts';
import { type Check, fault, ok, warning } from './check.ts';

/** Whether there is a credential for the agent. Shows its source, never a part of it. */
export async function credentialCheck(context: CommandContext, agent: Agent): Promise<Check> {
  const { title, loginHint } = agent;
  if (loginHint === undefined) return ok('credential', `${title} needs none`);
  const login = `${loginHint}.`;
  try {
    const { env, places } = context;
    const { find } = await agent.loadCredentials();
    const source = await find({ env, home: places.home, platform: process.platform });
    if (source === undefined) return warning('credential', `none found: ${title} cannot work without one`, login);
    return ok('credential', describeCredential(source, Date.now()));
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return fault('credential', error.message, error.hint ?? login);
  }
}

const BUILD = 'Run run-claude build. Otherwise the next session builds it (some minutes).';

/** Whether the image is built, with the agent's program; if not, what has changed since the last build. */
export async function imageCheck(
  engine: Runtime,
  tag: string,
  env: CommandContext['env'],
  agent: Agent,
): Promise<Check> {
  if (engine.images === undefined) return ok('image', 'made elsewhere: the nodes pull the image of the configuration');
  if (!(await engine.images.has(tag))) {
    const inputs = imageInputs(imageFiles({ env }, engine.facts.arch), { arch: engine.facts.arch, toolchain: '' });
    const changed = await changedInputs(engine, inputs);
    const state = changed.length === 0 ? 'not built yet' : `has to be built again. What changed: ${changed.join('; ')}`;
    return warning('image', state, BUILD);
  }
  return agent.image === undefined
    ? ok('image', `${tag} is built`)
    : layerCheck({ ...engine, images: engine.images }, tag, { title: agent.title, image: agent.image });
}

async function layerCheck(
  engine: ImageRuntime,
  below: string,
  { title, image }: { readonly title: string; readonly image: NonNullable<Agent['image']> },
): Promise<Check> {
  try {
    const tag = addressAgentLayer(engine, below, image);
    return (await engine.images.has(tag))
      ? ok('image', `${tag} with ${title} is built`)
      : warning('image', `${below} is built, without ${title}`, `The next session with ${title} adds it.`);
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return fault('image', error.message, 'Run another agent on this machine.');
  }
}
