import { text } from 'node:stream/consumers';
import { RunClaudeError } from '../../../core/errors.ts';
import type { ContainerSpec } from '../../../core/types/engine.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { INSIDE } from './hardened.ts';

/** One attack that the probes of the image tried. */
export interface ProbeRow {
  readonly name: string;
  /** The layer that has to stop it, by its name in docs/explanation/threat-model.md. */
  readonly layer: string;
  /** `accepted`: open, because of a layer that the user gives up. */
  readonly result: 'stopped' | 'open' | 'accepted' | 'untestable';
  /** How it was stopped: 'EPERM'. */
  readonly why: string;
}

/** The program in the image that attacks its own container. Arguments choose layers. */
export const PROBES: string = `${INSIDE}/probes`;

const LINE = /^([\x21-\x7e]{1,80})\t([\x20-\x7e]{1,60})\t(stopped|open|untestable)\t([\x20-\x7e]{1,120})$/;

/** The table that the probes print. Throws RunClaudeError PROBES_UNREADABLE for anything else. */
export function readProbes(output: string): readonly ProbeRow[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, layer, result, why] = LINE.exec(line) ?? [];
      if (name === undefined || layer === undefined || why === undefined) {
        throw new RunClaudeError('PROBES_UNREADABLE', `the probes printed an unexpected line: ${JSON.stringify(line)}`);
      }
      return { name, layer, result: result as ProbeRow['result'], why };
    });
}

/**
 * Runs the probes as the program of that container, made by agentSpec() with argv [PROBES], and removes it. Throws
 * RunClaudeError PROBES_FAILED when they did not finish.
 */
export async function runProbes(engine: Runtime, spec: ContainerSpec): Promise<readonly ProbeRow[]> {
  const container = await engine.create(spec);
  try {
    const [said, complained] = [text(container.stdout), text(container.stderr)];
    await container.start();
    const status = await container.wait();
    const rows = readProbes(await said);
    if (status === 0 && rows.length > 0) return rows;
    throw new RunClaudeError(
      'PROBES_FAILED',
      `the probes ended with status ${status} after ${rows.length} attacks: ${(await complained).slice(0, 200)}`,
    );
  } finally {
    await container.remove();
  }
}
