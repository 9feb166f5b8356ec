import { existsSync, readFileSync } from 'node:fs';
import { CELLS, CLUSTER } from '../../machines/cells.mjs';
import { CHECKS } from '../../machines/checks.mjs';
import { CLUSTER_CHECKS } from '../../machines/cluster-checks.mjs';
import { table } from './table.ts';

/** What the lab of machines writes for a cell: test/machines/results. */
export interface CellResult {
  readonly date: string;
  readonly versions: readonly string[];
  readonly checks: readonly { readonly name: string; readonly held: boolean; readonly detail: string }[];
}

/** The committed result of a cell; undefined when the cell was not run to its end. */
export function readResult(cell: string): CellResult | undefined {
  const file = new URL(`../../machines/results/${cell}.json`, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The table of the lab's machines, as Markdown: one row for each cell, with a result or without. */
export function machines(resultOf: (cell: string) => CellResult | undefined = readResult): string {
  const rows = Object.entries(CELLS).map(([name, { title, represents, notSeen, engine }]) => {
    const checks: readonly { readonly name: string }[] = engine === CLUSTER ? CLUSTER_CHECKS : CHECKS;
    const result = resultOf(name);
    const reason = notSeen === undefined ? '' : `: ${notSeen}`;
    const seen =
      result === undefined ? ['', '', `not seen${reason}`] : [...versionsOf(result), outcomeOf(result, checks)];
    return [`${title} (\`${name}\`)`, represents, ...seen];
  });
  return table(['machine', 'stands for', 'versions', 'date', 'result'], rows);
}

/** The error that run-claude ended with, whole: on a terminal its lines are wrapped. */
function errorOf(failed: CellResult['checks']): string {
  const errors = failed.flatMap(({ detail }) => /^\[sandbox\] ERROR(?: [A-Z_]+)?: (.+)$/m.exec(detail)?.[1] ?? []);
  return errors[0] === undefined ? '' : ` (${errors[0]})`;
}

/** How the detail of a check begins that holds because run-claude refused. */
const REFUSED = 'refused: ';

const versionsOf = ({ versions, date }: CellResult): string[] => [versions.join('; '), date];

function outcomeOf({ checks }: CellResult, all: readonly { readonly name: string }[]): string {
  const names = (some: readonly { readonly name: string }[]): string => some.map(({ name }) => name).join('; ');
  const failed = checks.filter(({ held }) => !held);
  const missing = all.filter(({ name }) => !checks.some((check) => check.name === name));
  const probes = checks.filter(({ held, name }) => held && /^probe\b/.test(name));
  const refused = checks.filter(({ held, detail }) => held && detail.startsWith(REFUSED));
  return [
    failed.length > 0
      ? `held: ${names(checks.filter(({ held }) => held))}`
      : `every check ${missing.length === 0 ? '' : 'that was run '}held`,
    ...(failed.length === 0 ? [] : [`did not hold: ${names(failed)}${errorOf(failed)}`]),
    ...(missing.length === 0 ? [] : [`not run: ${names(missing)}`]),
    ...refused.map(({ name, detail }) => `${name} ${detail}`),
    ...probes.map(({ name, detail }) => (name === 'probe' ? detail : `${name}: ${detail}`)),
  ].join('. ');
}
