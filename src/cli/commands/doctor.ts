import { EXIT, usageError } from '../../errors.ts';
import { jsonText } from '../../report/json.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { ENGINES } from '../context/connect-ours.ts';
import { type CommandRun, optionChoice, optionValue } from '../context/context.ts';
import { checkLines } from '../doctor/report.ts';
import { runChecks } from '../doctor/run-checks.ts';

/** `doctor`: is everything there that a session needs? `--probe`: do its layers hold? 0, or 1 with faults. */
export const doctorCommand: CommandRun = async (line, context) => {
  const engine = optionChoice(line, 'engine', ENGINES) ?? 'auto';
  const json = line.options.has('json');
  const runtime = optionValue(line, 'runtime');
  if (line.options.has('probe')) {
    const { probeCommand } = await import('../doctor/probe.ts');
    return probeCommand({ engine, runtime, json, verbose: line.options.has('verbose') }, context);
  }
  for (const name of ['runtime', 'verbose']) {
    if (line.options.has(name)) throw usageError(`doctor --${name} needs --probe`);
  }
  const checks = await runChecks(context, engine);
  if (json) context.write(jsonText(checks));
  else for (const text of checkLines(checks)) context.write(`${cleanLine(text)}\n`);
  return checks.some((check) => check.result === 'fault') ? EXIT.faults : EXIT.ok;
};
