import { beginLook } from '../../base/prescan-project.ts';
import { describeCredential } from '../../claude/credentials/credentials.ts';
import { RunClaudeError } from '../../errors.ts';
import { baseDirOf } from '../../plan/plan-run.ts';
import { credentialLookup } from '../../session/start/credential.ts';
import type { SessionDeps } from '../../session/start/deps.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { CommandContext } from '../context/context.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { type Prepared, prepare } from '../start/prepare.ts';

/** A session: plans it, and prints, checks or runs the plan. Gives the exit status. */
export async function runCommand(line: RunLine, context: CommandContext): Promise<number> {
  if (line.action === 'check') {
    const { checkRun } = await import('../start/check-run.ts');
    return checkRun(line, context);
  }
  const over = new AbortController();
  try {
    return await planAndRun(line, context, AbortSignal.any([over.signal, context.interruption.signal]));
  } finally {
    over.abort();
  }
}

async function planAndRun(line: RunLine, context: CommandContext, signal: AbortSignal): Promise<number> {
  let prescan: SessionDeps['prescan'];
  const prepared = await prepare(line, context, process, ({ policy, project, host }) => {
    if (line.action !== 'run') return;
    prescan = beginLook({ policy, project }, baseDirOf(host, project, policy), signal);
    // Loaded while the project is looked at and the engine is asked.
    void import('../start/start-session.ts');
  });
  try {
    for (const text of prepared.warnings) context.tell({ kind: 'message', level: 'warning', text });
    const findCredential = credentialLookup(context.env, prepared.host);
    const credential = prepared.policy.credentials === 'none' ? undefined : await findCredential();
    if (line.action === 'dry-run') {
      const { printDryRun } = await import('../start/plan-only.ts');
      await printDryRun(prepared, context, { source: credential, shown: shownCredential(credential, prepared) });
      return 0;
    }
    requireCredential(line, prepared, credential);
    const { startSession } = await import('../start/start-session.ts');
    // Only Claude needs one.
    const isMissing = credential === undefined && prepared.policy.credentials !== 'none';
    const shown = isMissing && line.program.kind !== 'claude' ? undefined : shownCredential(credential, prepared);
    return await startSession(prepared, context, { shown, findCredential }, prescan);
  } finally {
    await prepared.engine.close();
  }
}

/** Claude without a login ends at its first request: said before an image is built for it. */
function requireCredential(line: RunLine, { policy }: Prepared, credential: CredentialSource | undefined): void {
  if (line.program.kind !== 'claude' || policy.credentials === 'none' || credential !== undefined) return;
  throw new RunClaudeError('CREDENTIAL_MISSING', 'there is no login for Claude on this machine', {
    hint: 'Log in with claude, or set ANTHROPIC_API_KEY; --credentials none starts without one.',
  });
}

function shownCredential(credential: CredentialSource | undefined, { policy }: Prepared): string {
  if (policy.credentials === 'none') return 'none';
  return credential === undefined
    ? 'none found: log in with claude on this machine, or set ANTHROPIC_API_KEY'
    : `${describeCredential(credential, Date.now())}, ${policy.credentials}`;
}
