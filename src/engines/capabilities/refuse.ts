import { EXIT, RunClaudeError, usageError } from '../../core/errors.ts';
import type { LackedLayer } from '../../core/types/runtime.ts';
import type { Asked, Capability } from './capability.ts';
import type { Column, Place } from './columns.ts';
import { CAPABILITIES, type CapabilityName } from './table.ts';

const ROWS = Object.entries(CAPABILITIES) as readonly (readonly [CapabilityName, Capability])[];

/** A layer that a column does not have. */
interface LostLayer {
  readonly name: CapabilityName;
  readonly lost: string;
}

/**
 * Refuses a session or a container with a part that a runtime, or a rendered form, refuses.
 *
 * @throws {RunClaudeError} the code of the first such part; the message names all of them
 */
export function refuseUnsupported(place: Place, asked: Asked): void {
  refuseRows(
    place,
    ROWS.filter(([, { isAsked }]) => isAsked(asked)).map(([name]) => name),
  );
}

/**
 * Refuses those of these parts that the column refuses.
 *
 * @throws {RunClaudeError} as {@link refuseUnsupported}
 */
export function refuseRows({ column, named }: Place, names: readonly CapabilityName[]): void {
  const cells = names.flatMap((name) => {
    const { cells, words } = CAPABILITIES[name];
    const cell = cells[column];
    return cell.is === 'refused' ? [{ ...cell, words }] : [];
  });
  const [first] = cells;
  if (first === undefined) return;
  const message = `${named} does not support: ${cells.map(({ words }) => words).join(', ')}`;
  if (first.code === 'USAGE') throw usageError(message, first.hint);
  throw new RunClaudeError(first.code, message, { hint: first.hint, status: EXIT.failed });
}

/** The layers of a session or a container that a column loses, whatever machine it runs on. */
export function lostLayers(column: Column, asked: readonly Asked[]): readonly LostLayer[] {
  return ROWS.flatMap(([name, { cells, isAsked }]) => {
    const cell = cells[column];
    const isLost = cell.is === 'unsupported' && cell.onNodes !== true && asked.some(isAsked);
    return isLost ? [{ name, lost: cell.lost }] : [];
  });
}

/**
 * Refuses lost layers that the user did not name. `found`: those that are known only on the machine of the session.
 *
 * @throws {RunClaudeError} RENDER_LOSS, which names each; USAGE for a name that is not a layer which the column may lose
 */
export function refuseLost(
  { column, named }: Place,
  asked: readonly Asked[],
  { accepted, found = [] }: { readonly accepted: readonly string[]; readonly found?: readonly CapabilityName[] },
): void {
  const known = ROWS.filter(([, { cells }]) => cells[column].is === 'unsupported').map(([name]) => name);
  const unknown = accepted.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined)
    throw usageError(
      `'${unknown}' is not a layer that ${named} may lack`,
      known.length === 0 ? 'It lacks none: leave --without-layer out.' : `Layers: ${known.join(', ')}.`,
    );
  const onNode = found.flatMap((name): LostLayer[] => {
    const cell = CAPABILITIES[name].cells[column];
    return cell.is === 'unsupported' ? [{ name, lost: cell.lost }] : [];
  });
  const refused = [...lostLayers(column, asked), ...onNode].filter(({ name }) => !accepted.includes(name));
  if (refused.length === 0) return;
  const lines = refused.map(({ name, lost }) => `\n  ${name}: ${lost}`);
  throw new RunClaudeError('RENDER_LOSS', `layers of the session would be lost:${lines.join('')}`, {
    hint: `To do without them: ${refused.map(({ name }) => `--without-layer ${name}`).join(' ')}`,
  });
}

/** What a column's containers lack of the layers that the user gives up. */
export function lackedLayers(column: Column, accepted: readonly string[]): readonly LackedLayer[] {
  return ROWS.flatMap(([name, { cells, probes = [] }]) =>
    cells[column].is === 'unsupported' && accepted.includes(name) ? [{ name, probes }] : [],
  );
}

/** What the user writes for each part that a column refuses, for `doctor`. */
export function refusedWords(column: Column): readonly string[] {
  return ROWS.flatMap(([, { cells, words }]) => (cells[column].is === 'refused' ? [words] : []));
}
