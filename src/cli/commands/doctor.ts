import type { Agent } from '../../agents/agent.ts';
import { agentNamed, DEFAULT_AGENT } from '../../agents/agents.ts';
import { EXIT, usageError } from '../../core/errors.ts';
import { jsonText } from '../../core/report/json.ts';
import { AGENT_NAMES } from '../../core/types/agent/agent-package.ts';
import { goesToScheduler } from '../../session/plan/choose-engine.ts';
import { outputColumns } from '../../terminal/columns/wrap-words.ts';
import { chosenAgents } from '../context/chosen-agents.ts';
import { type CommandContext, type CommandRun, optionValue } from '../context/context.ts';
import { readAccessories } from '../doctor/accessory-checks.ts';
import { checkLines } from '../doctor/check.ts';
import { environmentChecks } from '../doctor/environment-checks.ts';
import { engineChoice } from '../engines/open-engine.ts';
import { agentUnknown } from '../grammar/grammar-errors.ts';
import type { CommandLineOfCommand } from '../grammar/parse-command-line.ts';

/** `doctor`: checks what a session needs. `--probe`: attacks a sandbox. Returns 0, or 1 with faults. */
export const doctorCommand: CommandRun = async (line, context) => {
  const engine = engineChoice(line);
  const json = line.options.has('json');
  const runtime = optionValue(line, 'runtime');
  if (line.options.has('probe')) {
    const { probeCommand } = await import('../doctor/probe.ts');
    return probeCommand({ engine, runtime, json, verbose: line.options.has('verbose') }, context);
  }
  if (goesToScheduler(engine))
    throw usageError(`doctor: --on ${engine.on} needs --probe`, 'Add --probe: it attacks a container there.');
  for (const name of ['runtime', 'verbose']) {
    if (line.options.has(name)) throw usageError(`doctor: --${name} needs --probe`, 'Add --probe, or leave it out.');
  }
  const { checks: configuration, ...accessories } = await readAccessories(context);
  const agent = await agentOf(line, context);
  const checks = [
    ...(await environmentChecks(context, { choice: engine, agent, accessories, roots: [] })),
    ...configuration,
  ];
  if (json) context.write(jsonText(checks));
  else {
    for (const text of checkLines(checks, outputColumns())) context.write(`${text}\n`);
  }
  return checks.some((check) => check.result === 'fault') ? EXIT.faults : EXIT.ok;
};

/** The agent of `--agent`, otherwise that of a session whose words name none. */
async function agentOf(line: CommandLineOfCommand, { places, env }: CommandContext): Promise<Agent> {
  const { usual, own = [] } = await chosenAgents(places.configDir, env);
  const name = optionValue(line, 'agent');
  const agent = agentNamed(name ?? usual ?? DEFAULT_AGENT.name, own);
  if (agent === undefined && name !== undefined)
    throw agentUnknown(name, [...AGENT_NAMES, ...own.map((one) => one.name)]);
  return agent ?? DEFAULT_AGENT;
}
