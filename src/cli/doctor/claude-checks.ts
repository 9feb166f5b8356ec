import { describeCredential, findCredential } from '../../claude/credentials.ts';
import { RunClaudeError } from '../../errors.ts';
import type { Engine } from '../../types/engine.ts';
import type { CommandContext } from '../context.ts';
import { type Check, fault, ok, warning } from './report.ts';

/** Where the credential is; never a part of it. */
export async function credentialCheck(context: CommandContext): Promise<Check> {
  const login = 'Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or log in with claude on this machine.';
  try {
    const { env, places } = context;
    const source = await findCredential({ env, home: places.home, platform: process.platform });
    if (source === undefined) return warning('credential', 'none found: Claude cannot work without one', login);
    return ok('credential', describeCredential(source, Date.now()));
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return fault('credential', error.message, error.hint ?? login);
  }
}

/** Whether the image is there. */
export async function imageCheck(engine: Engine, tag: string): Promise<Check> {
  return (await engine.hasImage(tag))
    ? ok('image', tag)
    : warning('image', `${tag} is not built yet`, 'run-claude build, or the first session builds it.');
}
