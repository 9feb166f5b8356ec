import { DEFAULT_ENGINE } from '../../core/config/default-engine.ts';
import { freeDiskMb } from '../../core/host/facts.ts';
import { jsonText } from '../../core/report/json.ts';
import { MIN_START_MB } from '../../core/text/disk-room.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { addressFiles, imageFiles } from '../../environment/image/address.ts';
import { ownBaseOf } from '../../environment/image/base.ts';
import { planGc, runGc } from '../../session/later/gc/gc.ts';
import type { GcItem } from '../../session/later/gc/gc-known.ts';
import { listSessions } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { leftLine, openAllEngines } from '../engines/open-all-engines.ts';
import { warnOfUnreadable } from '../sessions/unreadable.ts';

/** `gc [--dry-run]`: lists and removes what no session needs. */
export const gcCommand: CommandRun = async (line, context) => {
  const all = await openAllEngines(context);
  const { engine, others } = all;
  try {
    const answering = [...(engine === undefined ? [] : [engine]), ...others];
    const currentImages = answering.flatMap((one) => imagesOf(one, context));
    const onLost = ({ facts }: Runtime): void =>
      context.tell({ kind: 'message', level: 'warning', text: leftLine(facts.on ?? DEFAULT_ENGINE, facts.endpoint) });
    const options = { places: context.places, engine, others, nowMs: Date.now(), currentImages, onLost };
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
    if (freeDiskMb(context.places.stateDir) < MIN_START_MB)
      context.tell({
        kind: 'message',
        level: 'info',
        text: 'The disk is nearly full. A session that is not decided keeps its space: run-claude sessions, run-claude discard ID',
      });
    return problems.length === 0 ? 0 : 1;
  } finally {
    await all.close();
  }
};

function imagesOf(engine: Runtime, { env }: CommandContext): readonly string[] {
  const files = imageFiles({ env }, engine.facts.arch);
  const ours = [false, true].map((toolchain) => addressFiles(engine, files, toolchain));
  return [...ours, ownBaseOf(engine, files)];
}

function shown({ kind, name, why, engine }: GcItem): string {
  const where = engine === undefined ? '' : ` on ${engine}`;
  return `${kind} ${cleanLine(name)}${where} (${cleanLine(why)})`;
}
