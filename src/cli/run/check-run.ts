import { homeAgent } from '../../agents/agents.ts';
import { EXIT, RunClaudeError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import { engineNames } from '../../session/plan/choose-engine.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import { planAlone } from '../../session/start/plan-alone.ts';
import { checkAsked, setUpRun } from '../../session/start/set-up-run.ts';
import { outputColumns } from '../../terminal/columns/wrap-words.ts';
import type { CommandContext } from '../context/context.ts';
import { type Check, checkLines, fault, ok } from '../doctor/check.ts';
import { environmentChecks } from '../doctor/environment-checks.ts';
import { openChosenEngine } from '../engines/open-chosen-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { type ProjectPolicy, readPolicy } from '../policy/read-policy.ts';
import { askedRun, askingPlace } from './asked-run.ts';

/** `--check`: the checks of `doctor`, and whether this session can be planned. Returns 0, or 1 with faults. */
export async function checkRun(line: RunLine, context: CommandContext): Promise<number> {
  // Errors in the command line or the files come first: they have their own exit status.
  const merged = await readPolicy(line.project, line.flags, context, {
    isAttended: process.stdin.isTTY === true && process.stderr.isTTY === true,
  });
  const { policy, project, plugin } = merged;
  const { mcpServers = [], mcpPrograms = [], network } = policy;
  const checked = {
    choice: { engine: policy.engine, on: checkedName(policy) },
    agent: homeAgent(line.program),
    accessories: network === 'none' ? { mcpServers: [], mcpPrograms: [], plugin } : { mcpServers, mcpPrograms, plugin },
    network,
    roots: [project.root],
  };
  const checks = [...(await environmentChecks(context, checked)), await planCheck(line, merged, context)];
  for (const text of checkLines(checks, outputColumns())) context.write(`${text}\n`);
  return checks.some((check) => check.result === 'fault') ? EXIT.faults : EXIT.ok;
}

/** Of several engines, the plan's check says which one the session would get. */
function checkedName({ on }: Pick<Policy, 'on'>): string | undefined {
  return engineNames(on)[0];
}

async function planCheck(line: RunLine, merged: ProjectPolicy, context: CommandContext): Promise<Check> {
  try {
    const place = askingPlace(context);
    const checked = await checkAsked(askedRun(line, merged), place, true);
    const chosen = await openChosenEngine(checked.policy, context, false, line.without ?? []);
    try {
      const setup = await setUpRun(checked, chosen, place);
      const { plan, unapproved } = await planAlone(setup, context);
      const login = await findLogin(setup.input, place.env, place.host);
      const refusal = await requireLogin(setup.input, login.source, place.env).catch((error: unknown) => error);
      if (refusal instanceof RunClaudeError) return refused(refusal);
      if (unapproved !== undefined) {
        const [, ...rows] = unapproved.lines;
        const { message, hint } = unapproved.refusal;
        return fault('plan', `${message}: ${rows.map((row) => row.trim()).join('; ')}`, hint ?? '');
      }
      const how = plan.mode === 'copy' ? `, ${plan.strategy}: ${plan.strategyReason}` : '';
      return ok('plan', `${plan.mode} mode for ${plan.project.root}${how}`);
    } finally {
      await chosen.engine.close();
    }
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    if (error.status === EXIT.usage) throw error;
    return refused(error);
  }
}

function refused({ message, hint }: RunClaudeError): Check {
  return fault('plan', message.split('\n')[0] ?? '', hint ?? 'See run-claude doctor.');
}
