import { EXIT, RunClaudeError } from '../../core/errors.ts';
import { withProgress } from '../../core/progress/open-progress.ts';
import { jsonText } from '../../core/report/json.ts';
import type { ProbeRow } from '../../engines/engine/hardening/probes.ts';
import { addressImage } from '../../environment/image/address.ts';
import { goesToScheduler, refuseEngine } from '../../session/plan/choose-engine.ts';
import { probeLayers } from '../../session/stage/probe-layers.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import { type EngineChoice, openEngine, userAlone } from '../engines/open-engine.ts';

export interface ProbeRequest {
  readonly engine: EngineChoice;
  readonly runtime: string | undefined;
  readonly json: boolean;
  /** Print every attack, not only those that succeeded. */
  readonly verbose: boolean;
}

/**
 * `doctor --probe`: attacks a container like the agent's on this engine and prints the result. Returns 0, or 1 when an
 * attack got through.
 *
 * @throws {RunClaudeError} IMAGE_MISSING before the image is built; ENGINE_NO_LAYER as a session does
 */
export async function probeCommand(request: ProbeRequest, context: CommandContext): Promise<number> {
  const { env, write } = context;
  const { on } = request.engine;
  const engine = await openEngine(request.engine, context);
  try {
    refuseEngine(engine.facts, { cpus: 0, runtime: request.runtime });
    const image = addressImage(engine, { env, toolchain: false });
    if (engine.images !== undefined && !(await engine.images.has(image))) {
      throw new RunClaudeError('IMAGE_MISSING', 'the image is not built yet', {
        hint: `Build it with run-claude build${on === undefined || goesToScheduler(request.engine) ? '' : ` --on ${on}`}.`,
      });
    }
    const user = userAlone(engine, context);
    const text = "Attacking a container like the agent's...";
    context.tell({ kind: 'message', level: 'info', text });
    const rows = await withProgress(context.tell, 'Running the probes', () =>
      probeLayers(engine, { image, runtime: request.runtime, user }),
    );
    if (request.json) write(jsonText(rows));
    else for (const line of probeLines(rows, request.verbose)) write(`${cleanLine(line)}\n`);
    return rows.some((row) => row.result === 'open') ? EXIT.faults : EXIT.ok;
  } finally {
    await engine.close();
  }
}

const WORDS: Readonly<Record<ProbeRow['result'], string>> = {
  stopped: 'stopped',
  open: 'FAIL',
  accepted: 'without',
  untestable: 'not testable',
};

/**
 * The result as lines: each attack that got through, by layer; then the verdict. With `verbose`: every attack, and one line
 * for each layer.
 */
export function probeLines(rows: readonly ProbeRow[], verbose: boolean): readonly string[] {
  const layers = [...new Set(rows.map((row) => row.layer))];
  const shown = verbose ? rows : rows.filter((row) => row.result === 'open');
  const table = layers.flatMap((layer) => {
    const own = shown.filter((row) => row.layer === layer);
    if (own.length === 0) return [];
    return [layer, ...own.map(({ name, result, why }) => `  ${WORDS[result].padEnd(14)}${name.padEnd(34)} ${why}`), ''];
  });
  const summary = layers.map((layer) =>
    layerLine(
      layer,
      rows.filter((row) => row.layer === layer),
    ),
  );
  return [...table, ...(verbose ? [...summary, ''] : []), ...verdict(rows, verbose)];
}

type Count = (result: ProbeRow['result']) => number;

function counter(rows: readonly ProbeRow[]): Count {
  return (result) => rows.filter((row) => row.result === result).length;
}

function layerLine(layer: string, rows: readonly ProbeRow[]): string {
  const count = counter(rows);
  const results = ['open', 'accepted', 'stopped'] as const;
  const result = results.find((one) => count(one) > 0) ?? 'untestable';
  return `${WORDS[result].padEnd(14)}${layer.padEnd(36)} ${counts(count)}`;
}

function counts(count: Count): string {
  const [open, accepted] = [count('open'), count('accepted')];
  const untestable = count('untestable');
  return [
    `${count('stopped')} stopped`,
    ...(untestable === 0 ? [] : [`${untestable} not testable here`]),
    ...(accepted === 0 ? [] : [`${accepted} got through for want of a layer that you do without`]),
    ...(open === 0 ? [] : [`${open} got through`]),
  ].join(', ');
}

function verdict(rows: readonly ProbeRow[], verbose: boolean): string[] {
  const open = [...new Set(rows.filter((row) => row.result === 'open').map((row) => row.layer))];
  const untested = [...new Set(rows.map((row) => row.layer))].filter(
    (layer) => !rows.some((row) => row.layer === layer && row.result !== 'untestable'),
  );
  const accepted = rows.some((row) => row.result === 'accepted');
  const more = verbose ? [] : ['run-claude doctor --probe --verbose lists every attack.'];
  return [
    `${rows.length} attacks: ${counts(counter(rows))}.`,
    open.length === 0
      ? `PASS: every ${accepted ? 'other ' : ''}attack that can be tested here was stopped.`
      : `FAIL: attacks got through ${open.join(', ')}. Run no agent on this engine before that is fixed.`,
    ...(untested.length === 0 ? [] : [`No attack on these layers can be tested here: ${untested.join(', ')}.`]),
    ...more,
  ];
}
