import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describeCredential, findCredential } from '../../claude/credentials.ts';
import { EXIT, RunClaudeError } from '../../errors.ts';
import { startScreen } from '../../plan/describe-plan.ts';
import { baseDirOf } from '../../plan/plan-run.ts';
import { mustAskStart, rememberStart } from '../../session/confirm-start.ts';
import type { SessionDeps } from '../../session/deps.ts';
import { newSessionId } from '../../session/id.ts';
import { prepareImage, sessionImage } from '../../session/prepare-image.ts';
import { reserveSession } from '../../session/record.ts';
import { recoverEarlier } from '../../session/recover.ts';
import { runSession } from '../../session/run.ts';
import { askLine } from '../../terminal/ask.ts';
import type { CredentialSource } from '../../types/credential.ts';
import { beginLook } from '../../workspace/start-base.ts';
import { tryLayers } from '../../workspace/try-layers.ts';
import { ownerHere } from '../connect-ours.ts';
import type { CommandContext } from '../context.ts';
import { openScreen } from '../open-screen.ts';
import type { RunLine } from '../parse-command-line.ts';
import { type Prepared, planWithKnownTrial, prepare } from '../prepare.ts';

/** A session: plans it, and prints, checks or runs the plan. Gives the exit status. */
export async function runCommand(line: RunLine, context: CommandContext): Promise<number> {
  if (line.action === 'check') {
    const { checkRun } = await import('../check-run.ts');
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
  let ahead: SessionDeps['ahead'];
  const prepared = await prepare(line, context, process, ({ policy, project, host }) => {
    if (line.action === 'run') ahead = beginLook({ policy, project }, baseDirOf(host, project, policy), signal);
  });
  try {
    for (const text of prepared.warnings) context.tell({ kind: 'message', level: 'warning', text });
    const credential = await credentialOf(prepared, context);
    if (line.action === 'dry-run') {
      const { dryRunText } = await import('../dry-run.ts');
      const image = await sessionImage(prepared.policy, prepared.engine, context.env);
      const plan = planWithKnownTrial(prepared, newSessionId(Date.now()), image);
      context.write(
        dryRunText(plan, {
          source: credential,
          shown: shownCredential(credential, prepared),
          env: context.env,
          owner: ownerHere(context),
        }),
      );
      return 0;
    }
    requireCredential(line, prepared, credential);
    return await startSession(prepared, context, shownCredential(credential, prepared), ahead);
  } finally {
    await prepared.engine.close();
  }
}

/** Takes an id, asks where it must be asked, and runs the session. */
async function startSession(
  prepared: Prepared,
  context: CommandContext,
  credential: string,
  ahead: SessionDeps['ahead'],
): Promise<number> {
  const { engine, host, policy, report } = prepared;
  const { tell, env, interruption } = context;
  const image = await sessionImage(policy, engine, env);
  const { id, dir } = reserveSession(host.stateDir, Date.now());
  const screen = openScreen(process, env, interruption);
  try {
    const draft = prepared.plan(id, image, undefined);
    const overlay =
      draft.mode === 'copy' && engine.facts.local && ['auto', 'layers', 'overlay'].includes(policy.strategy);
    if (overlay) await prepareImage(draft, { engine, tell, env, host, interruption });
    const trial = overlay
      ? await tryLayers({ engine, stateDir: host.stateDir, image, user: draft.user, sessionId: id })
      : undefined;
    const plan = prepared.plan(id, image, trial);
    for (const text of startScreen(plan, credential)) tell({ kind: 'message', level: 'info', text });
    if (!policy.yes && screen !== undefined && mustAskStart(plan, host.stateDir)) {
      const answer = (await askLine(screen, '[sandbox] Start? [Y/n]:'))?.trim().toLowerCase();
      if (answer === undefined || !['', 'y', 'yes'].includes(answer)) {
        rmSync(dir, { recursive: true, force: true });
        tell({ kind: 'message', level: 'info', text: 'Not started.' });
        return EXIT.interrupted;
      }
      rememberStart(plan, host.stateDir);
    }
    await recoverEarlier(plan.project.root, { engine, host, env, tell, screen, interruption });
    const run = plan.mode === 'bind' ? (await import('../../session/run-bind.ts')).runBind : runSession;
    return await run(plan, {
      engine,
      host,
      env,
      tell,
      screen,
      interruption,
      ahead,
      ...(report === undefined ? {} : { report }),
    });
  } catch (error) {
    if (!existsSync(path.join(dir, 'session.json'))) rmSync(dir, { recursive: true, force: true });
    throw error;
  }
}

async function credentialOf({ policy }: Prepared, context: CommandContext): Promise<CredentialSource | undefined> {
  if (policy.credentials === 'none') return undefined;
  return findCredential({ env: context.env, home: context.places.home, platform: process.platform });
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
