import { RunClaudeError } from '../../errors.ts';
import { startGateway } from '../../gateway/start-gateway.ts';
import { updateRecord } from '../../record/session.ts';
import { waitForSilence } from '../../terminal/ask.ts';
import { askKey } from '../../terminal/ask-key.ts';
import type { Container } from '../../types/engine.ts';
import type { SessionRecord } from '../../types/session.ts';
import type { SessionDeps } from '../start/deps.ts';
import { launch } from '../start/launch.ts';
import { openScope } from '../start/scope.ts';
import { credentialOf } from '../start/stage.ts';

const LEAVING = 'Ctrl-P Ctrl-Q leaves it again';

/**
 * Asks the person what shall become of an agent that still runs although its command was killed: attached to, it has
 * this terminal until its end or until it is let go of; stopped, it is collected; or left. Gives the record as it is
 * then; where there is nobody to ask, or no such agent, as it was. Throws RunClaudeError SESSION_LEFT, and what the
 * gateway throws.
 */
export async function askAboutAgent(record: SessionRecord, deps: SessionDeps): Promise<SessionRecord> {
  const { screen, engine, tell } = deps;
  const name = `run-claude-${record.id}`;
  const found = (await engine.list(record.id)).find((one) => one.kind === 'container' && one.name === name);
  if (screen === undefined || found?.running !== true || record.stage !== 'running') return record;
  const say = (text: string): void => tell({ kind: 'message', level: 'info', text });
  const attachable = canAttach(record);
  say(`The command of session ${record.id} was killed; its agent still runs, without a network.`);
  if (!(await waitForSilence(screen))) throw left(record);
  const typed = record.plan.tty ? LEAVING : 'what was piped to it has ended; Ctrl-C stops it';
  const answer = await askKey(screen, {
    question: attachable ? 'Attach to it, stop and collect it, or leave it' : 'Stop and collect it, or leave it',
    keys: attachable ? ['a', 's', 'l'] : ['s', 'l'],
    help: [
      ...(attachable ? [`a  its network back, and this terminal, until it ends (${typed})`] : []),
      's  end it now and collect what it left',
      'l  leave it as it is (also Enter)',
    ],
    onEnter: 'l',
    shown: { l: 'L' },
    separator: '/',
  });
  if (answer?.key === 's') return record;
  if (answer?.key === 'a') return attachAgain(record, name, deps);
  throw left(record);
}

/** A bridge that the agent is on cannot be made again, nor can a certificate that it trusts. */
function canAttach({ plan: { policy } }: SessionRecord): boolean {
  return policy.network !== 'open' && policy.brokers.length === 0 && policy.credentials !== 'file';
}

async function attachAgain(record: SessionRecord, name: string, deps: SessionDeps): Promise<SessionRecord> {
  const { plan } = record;
  const { engine, env, tell } = deps;
  const agent = await engine.find(name);
  if (agent === undefined) return record;
  const scope = openScope(tell);
  let letGo = false;
  try {
    await (await engine.find(`run-claude-${record.id}-gateway`))?.remove();
    await engine.removeNetwork(`run-claude-${record.id}`);
    const credential = await credentialOf(plan, deps);
    const gateway = scope.use(await startGateway({ engine, plan, credential, env, tell, agentRuns: true }), (one) =>
      one.stop(letGo),
    );
    await gateway.ready;
    const leave = plan.tty ? ` ${LEAVING}.` : '';
    tell({ kind: 'message', level: 'info', text: `Attached. Limits of time and cost count from now.${leave}` });
    const running: Container = { ...agent, start: async () => undefined };
    const ended = await launch(running, plan, deps, { gateway, again: true });
    if (ended.letGo === true) {
      letGo = true;
      agent.detach();
      throw left(record);
    }
    await agent.remove();
    return updateRecord(record, {
      stage: 'ended',
      agentStatus: ended.status,
      stoppedBecause: ended.stopped,
      usage: gateway.usage(),
    });
  } finally {
    await scope.close();
  }
}

function left({ id }: SessionRecord): RunClaudeError {
  return new RunClaudeError('SESSION_LEFT', `session ${id} was left as it is: its agent still runs`, {
    hint: `Any command for it asks again: run-claude status ${id}`,
    status: 120,
  });
}
