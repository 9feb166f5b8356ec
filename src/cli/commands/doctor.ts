import { EXIT, usageError } from '../../errors.ts';
import { jsonText } from '../../report/json.ts';
import { outputColumns } from '../../terminal/wrap-words.ts';
import { type CommandRun, optionChoice, optionValue } from '../context/context.ts';
import { ENGINES } from '../context/open-engine.ts';
import { checkLines } from '../doctor/check.ts';
import { environmentChecks } from '../doctor/environment-checks.ts';

/** `doctor`: checks what a session needs. `--probe`: attacks a sandbox. Returns 0, or 1 with faults. */
export const doctorCommand: CommandRun = async (line, context) => {
  const engine = optionChoice(line, 'engine', ENGINES) ?? 'auto';
  const json = line.options.has('json');
  const runtime = optionValue(line, 'runtime');
  if (line.options.has('probe')) {
    const { probeCommand } = await import('../doctor/probe.ts');
    return probeCommand({ engine, runtime, json, verbose: line.options.has('verbose') }, context);
  }
  for (const name of ['runtime', 'verbose']) {
    if (line.options.has(name)) throw usageError(`doctor: --${name} needs --probe`, 'Add --probe, or leave it out.');
  }
  const checks = await environmentChecks(context, engine);
  if (json) context.write(jsonText(checks));
  else {
    for (const text of checkLines(checks, outputColumns())) context.write(`${text}\n`);
  }
  return checks.some((check) => check.result === 'fault') ? EXIT.faults : EXIT.ok;
};
