import { addressFiles, imageFiles } from '../../image/address.ts';
import { ownBase } from '../../image/base.ts';
import { readPins } from '../../image/pins.ts';
import { listSessions } from '../../record/session.ts';
import { jsonText } from '../../report/json.ts';
import { type GcItem, planGc, runGc } from '../../session/later/gc.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { Engine } from '../../types/engine.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { openEngine } from '../context/open-engine.ts';
import { warnOfUnreadable } from '../context/unreadable.ts';

/** `gc [--dry-run]`: lists and removes what no session needs. */
export const gcCommand: CommandRun = async (line, context) => {
  const engine = await engineIfAny(context);
  try {
    const currentImages = engine === undefined ? [] : imagesOf(engine, context);
    const options = { places: context.places, engine, nowMs: Date.now(), currentImages };
    const dry = line.options.has('dry-run');
    const { removed, problems } = dry ? { removed: await planGc(options), problems: [] } : await runGc(options);
    if (line.options.has('json')) context.write(jsonText({ removed, problems }));
    else for (const item of removed) context.write(`${dry ? 'would remove' : 'removed'} ${shown(item)}\n`);
    for (const one of listSessions(context.places.stateDir).unreadable) warnOfUnreadable(one, context);
    for (const { path, why } of problems)
      context.tell({
        kind: 'message',
        level: 'warning',
        text: `${cleanLine(path)} was not removed: ${cleanLine(why)}`,
      });
    if (removed.length === 0) context.tell({ kind: 'message', level: 'info', text: 'There is nothing to remove.' });
    return problems.length === 0 ? 0 : 1;
  } finally {
    await engine?.close();
  }
};

async function engineIfAny(context: CommandContext): Promise<Engine | undefined> {
  try {
    return await openEngine('auto', context);
  } catch (error) {
    const text = `The container engine does not answer, so its objects are left for the next gc: ${(error as Error).message}`;
    context.tell({ kind: 'message', level: 'warning', text });
    return undefined;
  }
}

function imagesOf(engine: Engine, { env }: CommandContext): readonly string[] {
  const files = imageFiles({ env }, engine.facts.arch);
  const ours = [false, true].map((toolchain) => addressFiles(engine, files, toolchain));
  return [...ours, ownBase(engine, readPins(files))];
}

function shown({ kind, name, why }: GcItem): string {
  return `${kind} ${cleanLine(name)} (${cleanLine(why)})`;
}
