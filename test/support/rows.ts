/**
 * The rows of a table whose tests are whole sessions: the first ones in every run, all of them in the long suite, which
 * each file that calls this is part of. The first rows are the ones that differ most.
 */
export function firstRows<Row>(count: number, rows: readonly Row[]): Row[] {
  return process.env['RUN_CLAUDE_LONG'] === '1' ? [...rows] : rows.slice(0, count);
}
