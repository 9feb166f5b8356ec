import { RunClaudeError } from '../../core/errors.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { removeContainer } from '../../engines/engine/containers/remove-containers.ts';
import { endsTls } from '../../network/gateway/agent-side.ts';
import { startGateway } from '../../network/gateway/start-gateway.ts';
import { ask } from '../../terminal/ask.ts';
import { reattach } from '../launch/launch.ts';
import { readSecretFiles } from '../record/secrets/decoys.ts';
import { updateRecord } from '../record/session.ts';
import { openCleanupStack } from '../stage/cleanup-stack.ts';
import { credentialForSession } from '../stage/credential.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { openSessionPreviews } from '../stage/previews.ts';
import { orphanedAgentQuestion } from './questions.ts';

const DETACH_KEYS_HINT = 'Ctrl-P Ctrl-Q leaves it again';

/**
 * Asks the user what to do with an agent that still runs although its command was killed. Attached, the agent has this
 * terminal until it ends or the user detaches. Stopped, its session is collected by the caller. Or it is left as it is.
 * Returns the record as it is then; unchanged where there is no terminal to ask on, or no such agent.
 *
 * @throws {RunClaudeError} SESSION_LEFT when the agent runs on; what starting the gateway throws.
 */
export async function askAboutAgent(record: SessionRecord, deps: SessionDeps): Promise<SessionRecord> {
  const { screen, engine, tell } = deps;
  const name = `run-claude-${record.id}`;
  const found = (await engine.list(record.id)).find((one) => one.kind === 'container' && one.name === name);
  // Without its command a kept session has no door, and its container is about to end by itself.
  if (record.plan.program.kind === 'kept') return record;
  if (screen === undefined || found?.running !== true || record.stage !== 'running') return record;
  const tellInfo = (text: string): void => tell({ kind: 'message', level: 'info', text });
  tellInfo(`The command of session ${record.id} was killed; its agent still runs, without a network.`);
  const typedHint = record.plan.tty ? DETACH_KEYS_HINT : 'what was piped to it has ended; Ctrl-C stops it';
  const answer = await ask(screen, orphanedAgentQuestion(canAttach(record) ? typedHint : undefined));
  if (answer?.key === 's') return record;
  if (answer?.key === 'a') return attachAgain(record, name, deps);
  throw sessionLeft(record);
}

/**
 * Neither the bridge network that the agent is on nor a certificate that it trusts can be made a second time. Masked files
 * of a bind session were not watched since its command ended.
 */
export function canAttach({ plan: { policy, sessionDir } }: SessionRecord): boolean {
  const hasSecrets = (): boolean => readSecretFiles(sessionDir).some(({ state }) => state === 'masked');
  const isUnwatched = policy.mode === 'bind' && (policy.mask.length > 0 || hasSecrets());
  return policy.network !== 'open' && !endsTls(policy) && policy.credentials !== 'file' && !isUnwatched;
}

async function attachAgain(record: SessionRecord, name: string, deps: SessionDeps): Promise<SessionRecord> {
  const { plan } = record;
  const { engine, env, tell } = deps;
  const agent = await engine.running?.find(name);
  if (agent === undefined) return record;
  const cleanup = openCleanupStack(tell);
  let isDetached = false;
  try {
    await removeContainer(engine, `run-claude-${record.id}-gateway`);
    await engine.networks?.remove(`run-claude-${record.id}`);
    const credential = await credentialForSession(plan, deps);
    const gateway = cleanup.use(await startGateway({ engine, plan, credential, env, tell, agentRuns: true }), (one) =>
      one.stop(isDetached),
    );
    await gateway.ready;
    cleanup.use(await openSessionPreviews(plan, gateway, tell), (previews) => previews.close());
    const detachHint = plan.tty ? ` ${DETACH_KEYS_HINT}.` : '';
    tell({ kind: 'message', level: 'info', text: `Attached. Limits of time and cost count from now.${detachHint}` });
    const outcome = await reattach(agent, plan, deps, { gateway });
    if (outcome.kind === 'start-failed') throw outcome.error;
    if (outcome.kind === 'detached') {
      isDetached = true;
      agent.detach();
      throw sessionLeft(record);
    }
    await agent.remove();
    return updateRecord(record, {
      stage: 'ended',
      agentStatus: outcome.status,
      stoppedBecause: outcome.stopReason,
      usage: gateway.usage(),
    });
  } finally {
    await cleanup.close();
  }
}

function sessionLeft({ id }: SessionRecord): RunClaudeError {
  return new RunClaudeError('SESSION_LEFT', `Session ${id} runs on: its agent was left as it is.`, {
    hint: `Any command for it asks again: run-claude status ${id}. To end it: run-claude stop ${id}`,
    status: 120,
    isChosen: true,
  });
}
