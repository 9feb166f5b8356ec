import { DEFAULTS } from '../../config/settings.ts';
import type { ProbeRow } from '../../engine/probes.ts';
import { EXIT, RunClaudeError } from '../../errors.ts';
import { refuseEngine } from '../../plan/refuse-engine.ts';
import { chooseUser } from '../../plan/user.ts';
import { jsonText } from '../../report/json.ts';
import { sessionImage } from '../../session/prepare-image.ts';
import { probeLayers } from '../../session/probe-layers.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { Policy } from '../../types/policy.ts';
import { connectOurs } from '../connect-ours.ts';
import type { CommandContext } from '../context.ts';

export interface ProbeRequest {
  readonly engine: Policy['engine'];
  readonly runtime: string | undefined;
  readonly json: boolean;
}

/**
 * `doctor --probe`: attacks a container like the agent's on this engine and prints what came of it. 0, or 1 when
 * anything got through. Throws RunClaudeError IMAGE_MISSING before the image is built, ENGINE_NO_LAYER as a session does.
 */
export async function probeCommand(request: ProbeRequest, context: CommandContext): Promise<number> {
  const { env, write } = context;
  const engine = await connectOurs(request.engine, context);
  try {
    refuseEngine(engine.facts, { cpus: 0, runtime: request.runtime });
    const image = await sessionImage(DEFAULTS, engine, env);
    if (!(await engine.hasImage(image))) {
      throw new RunClaudeError('IMAGE_MISSING', 'the image is not built yet', { hint: 'run-claude build makes it.' });
    }
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    const { user } = chooseUser('copy', 'layers', engine.facts, { uid, gid }, { ownerUid: uid, ownerGid: gid });
    const rows = await probeLayers(engine, { image, runtime: request.runtime, user });
    if (request.json) write(jsonText(rows));
    else for (const line of probeLines(rows)) write(`${cleanLine(line)}\n`);
    return rows.some((row) => row.result === 'open') ? EXIT.faults : EXIT.ok;
  } finally {
    await engine.close();
  }
}

const WORDS: Readonly<Record<ProbeRow['result'], string>> = {
  stopped: 'pass',
  open: 'FAIL',
  untestable: 'not testable here',
};

/** The table for people: every attack under its layer, then one line a layer. */
export function probeLines(rows: readonly ProbeRow[]): readonly string[] {
  const layers = [...new Set(rows.map((row) => row.layer))];
  const of = (layer: string): readonly ProbeRow[] => rows.filter((row) => row.layer === layer);
  return [
    ...layers.flatMap((layer) => [
      layer,
      ...of(layer).map(({ name, result, why }) => `  ${WORDS[result].padEnd(18)} ${name.padEnd(34)} ${why}`),
    ]),
    '',
    ...layers.map((layer) => summaryLine(layer, of(layer))),
  ];
}

function summaryLine(layer: string, rows: readonly ProbeRow[]): string {
  const count = (result: ProbeRow['result']): number => rows.filter((row) => row.result === result).length;
  const verdict = count('open') > 0 ? 'FAIL' : count('stopped') > 0 ? 'pass' : 'not testable here';
  const open = rows.filter((row) => row.result === 'open').map((row) => row.name);
  const parts = [
    `${count('stopped')} stopped`,
    ...(count('untestable') === 0 ? [] : [`${count('untestable')} not testable here`]),
    ...(open.length === 0 ? [] : [`got through: ${open.join(', ')}`]),
  ];
  return `${verdict.padEnd(18)} ${layer.padEnd(34)} ${parts.join('; ')}`;
}
