import { DEFAULT_AGENT } from '../../agent/agents.ts';
import { describeCredential } from '../../claude/credentials/credentials.ts';
import { RunClaudeError } from '../../errors.ts';
import { imageFiles } from '../../image/address.ts';
import { changedInputs, imageInputs } from '../../image/inputs.ts';
import type { Engine } from '../../types/engine.ts';
import type { CommandContext } from '../context/context.ts';
import { type Check, fault, ok, warning } from './check.ts';

/** Whether there is a credential. Shows its source, never a part of it. */
export async function credentialCheck(context: CommandContext): Promise<Check> {
  const login = 'Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or log in with claude on this machine.';
  try {
    const { env, places } = context;
    const { find } = await DEFAULT_AGENT.loadCredentials();
    const source = await find({ env, home: places.home, platform: process.platform });
    if (source === undefined) return warning('credential', 'none found: Claude cannot work without one', login);
    return ok('credential', describeCredential(source, Date.now()));
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return fault('credential', error.message, error.hint ?? login);
  }
}

/** Whether the image is built; if not, what has changed since the last build. */
export async function imageCheck(engine: Engine, tag: string, env: CommandContext['env']): Promise<Check> {
  if (await engine.hasImage(tag)) return ok('image', `${tag} is built`);
  const inputs = imageInputs(imageFiles({ env }, engine.facts.arch), { arch: engine.facts.arch, toolchain: '' });
  const changed = await changedInputs(engine, inputs);
  const state = changed.length === 0 ? 'not built yet' : `has to be built again. What changed: ${changed.join('; ')}`;
  return warning('image', state, 'Run run-claude build. Otherwise the next session builds it (some minutes).');
}
