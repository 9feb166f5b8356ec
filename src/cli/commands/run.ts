import { describeCredential, findCredential } from '../../claude/credentials.ts';
import { RunClaudeError } from '../../errors.ts';
import { newSessionId } from '../../session/id.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { CommandContext } from '../context.ts';
import type { RunLine } from '../parse-command-line.ts';
import { type Prepared, prepare } from '../prepare.ts';

/** A session: plans it, and prints, checks or runs the plan. Gives the exit status. */
export async function runCommand(line: RunLine, context: CommandContext): Promise<number> {
  if (line.action === 'check') {
    const { checkRun } = await import('../check-run.ts');
    return checkRun(line, context);
  }
  const prepared = await prepare(line, context, process);
  try {
    for (const text of prepared.warnings) context.tell({ kind: 'message', level: 'warning', text });
    const credential = await credentialOf(prepared, context);
    if (line.action === 'dry-run') {
      const { dryRunText } = await import('../dry-run.ts');
      const { imageTag } = await import('../image-tag.ts');
      const plan = prepared.plan(newSessionId(Date.now()), imageTag(prepared.policy, prepared.engine, context.env), undefined);
      context.write(dryRunText(plan, shownCredential(credential, prepared)));
      return 0;
    }
    throw new RunClaudeError('SESSION_NOT_YET', 'starting a session: not yet', { status: 2 });
  } finally {
    await prepared.engine.close();
  }
}

async function credentialOf({ policy }: Prepared, context: CommandContext): Promise<CredentialSource | undefined> {
  if (policy.credentials === 'none') return undefined;
  return findCredential({ env: context.env, home: context.places.home, platform: process.platform });
}

function shownCredential(credential: CredentialSource | undefined, { policy }: Prepared): string {
  if (policy.credentials === 'none') return 'none';
  return credential === undefined
    ? 'none found'
    : `${describeCredential(credential, Date.now())}, ${policy.credentials}`;
}
