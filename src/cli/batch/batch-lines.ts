import { EXIT } from '../../core/errors.ts';
import { durationText } from '../../core/text/when.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { cutEnd, widthOf } from '../../terminal/columns/width.ts';
import { amount } from '../../terminal/progress.ts';
import { PREFIX } from '../../terminal/screen.ts';
import type { TaskFacts, TaskRecord } from './tasks/task.ts';

/** A task as the lines of a batch show it. Nothing in it is cleaned. */
export interface ShownTask {
  readonly line: number;
  readonly prompt: string;
  /** Undefined where all tasks are of one project. */
  readonly project: string | undefined;
  readonly record: TaskRecord | undefined;
  readonly facts: TaskFacts | undefined;
  /** Undefined while it does not run. */
  readonly running?: { readonly phase: string; readonly ms: number } | undefined;
}

/** Without a terminal a prompt is cut too: it may be a megabyte. */
const MAX_PROMPT_COLUMNS = 100;
const INDENT = '      ';
/** Enough for what is shown of a prompt, so that a long one is not cleaned as a whole. */
const MAX_PROMPT_CHARACTERS = 400;

/** A prompt on one line, cleaned. */
export function promptText(prompt: string, columns: number): string {
  const start = prompt.slice(0, MAX_PROMPT_CHARACTERS).trim().replace(/\s+/g, ' ');
  const text = prompt.length > MAX_PROMPT_CHARACTERS ? `${start}…` : start;
  return cutEnd(cleanLine(text), Math.min(columns, MAX_PROMPT_COLUMNS));
}

/** '$0.02'; empty without a cost. */
function costText(usd: number | undefined): string {
  return usd === undefined ? '' : `$${usd.toFixed(2)}`;
}

/** What became of a task: 'pending, 1 suspect', 'failed: the agent ended with 1, pending', 'not started'. */
export function verdictText({ record, facts }: Pick<ShownTask, 'record' | 'facts'>): string {
  if (record === undefined) return 'not started';
  const problem = problemOf(record);
  const state = facts && cleanLine(facts.verdict);
  return [...(problem === undefined ? [] : [problem]), ...(state === undefined ? [] : [state])].join(', ');
}

function problemOf({ result, status, error }: TaskRecord): string | undefined {
  if (result === undefined) return 'running';
  if (result === 'interrupted') return 'interrupted';
  if (result === 'done') return undefined;
  if (status === EXIT.terminated) return 'failed: stopped';
  // Of a limit it says which.
  if (error !== undefined) return `failed: ${cleanLine(error.split('\n')[0] ?? '')}`;
  return status === EXIT.limit ? 'failed: a limit is reached' : 'failed';
}

/**
 * 'Task 3: pending, 3 files, $0.02, 41 s, session 261121-140512-k7p' and the beginning of its prompt. Where the line is
 * too narrow, the prompt is cut and then the verdict: the id is what the next command needs.
 */
export function endedLine(task: ShownTask, columns: number): string {
  const { record, facts, line } = task;
  const rest = [
    ...(facts?.files === undefined ? [] : [amount(facts.files, 'files')]),
    ...(facts?.costUsd === undefined ? [] : [costText(facts.costUsd)]),
    ...(record?.ms === undefined ? [] : [durationText(record.ms)]),
    ...(record?.session === undefined ? [] : [`session ${cleanLine(record.session)}`]),
  ];
  const around = [`Task ${line}: `, ...rest.map((part) => `, ${part}`)].reduce((sum, part) => sum + widthOf(part), 0);
  const verdict = cutEnd(verdictText(task), Math.max(MIN_VERDICT_COLUMNS, columns - around));
  const head = `Task ${line}: ${[verdict, ...rest].join(', ')}`;
  const room = columns - widthOf(head) - 2;
  return room < MIN_PROMPT_COLUMNS ? head : `${head}: ${promptText(task.prompt, room)}`;
}

const MIN_VERDICT_COLUMNS = 8;
/** Less of a prompt says nothing. */
const MIN_PROMPT_COLUMNS = 8;

export interface BoardCounts {
  readonly total: number;
  readonly ended: number;
  readonly failed: number;
  readonly costUsd: number;
}

/** One line for the batch and one for each task that runs. */
export function boardLines(running: readonly ShownTask[], counts: BoardCounts, columns: number): string[] {
  const { total, ended, failed, costUsd } = counts;
  const parts = [
    `${ended} of ${total} tasks ended`,
    `${running.length} running`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(costUsd > 0 ? [costText(costUsd)] : []),
  ];
  const rows = running.map((task) => [
    String(task.line),
    durationText(task.running?.ms ?? 0),
    cleanLine(task.running?.phase ?? ''),
  ]);
  const widths = [0, 1, 2].map((at) => rows.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0));
  const lines = rows.map((row, index) => {
    const [line = '', ms = '', phase = ''] = row;
    const head = `  ${line.padStart(widths[0] ?? 0)}  ${ms.padEnd(widths[1] ?? 0)}  ${phase.padEnd(widths[2] ?? 0)}  `;
    return cutEnd(`${head}${promptText(running[index]?.prompt ?? '', columns)}`, columns);
  });
  return [cutEnd(`${PREFIX}${parts.join(', ')}`, columns), ...lines];
}

const HEADS = ['line', 'verdict', 'files', 'cost', 'time', 'session'] as const;

/** The table at the end: two lines for each task, the second with its project and prompt. */
export function summaryLines(tasks: readonly ShownTask[], columns: number): string[] {
  const rows = tasks.map((task) => {
    const { record, facts } = task;
    return [
      String(task.line),
      verdictText(task),
      facts?.files === undefined ? '' : String(facts.files),
      costText(facts?.costUsd),
      record?.ms === undefined ? '' : durationText(record.ms),
      cleanLine(record?.session ?? ''),
    ];
  });
  const short = rows.map((row) => row.map((cell, at) => (at === 1 ? cutEnd(cell, MAX_VERDICT_COLUMNS) : cell)));
  const widths = HEADS.map((head, at) =>
    short.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), head.length),
  );
  const rowText = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => {
        const blanks = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(cell)));
        return RIGHT.includes(at) ? blanks + cell : cell + blanks;
      })
      .join('  ')
      .trimEnd();
  const second = (task: ShownTask): string => {
    const where = task.project === undefined ? '' : `${cleanLine(task.project)}: `;
    return cutEnd(`${INDENT}${where}${promptText(task.prompt, columns)}`, columns);
  };
  return [
    rowText(HEADS),
    ...tasks.flatMap((task, at) => {
      const whole = rows[at]?.[1] ?? '';
      const isCut = widthOf(whole) > MAX_VERDICT_COLUMNS;
      return [rowText(short[at] ?? []), second(task), ...(isCut ? [cutEnd(INDENT + whole, columns)] : [])];
    }),
  ];
}

/** A table of 80 columns has room for it. */
const MAX_VERDICT_COLUMNS = 28;
const RIGHT: readonly number[] = [0, 2, 3];
