import { createHash } from 'node:crypto';
import path from 'node:path';
import { usageError } from '../../../core/errors.ts';
import { parseObject } from '../../../core/text/json-in.ts';
import type { Task } from './task.ts';

/** Options of a session that a line may set, by the name of its key. Each one is a limit of that session. */
export const TASK_LIMITS: readonly string[] = [
  'memory',
  'cpus',
  'pids',
  'tmp-size',
  'disk',
  'timeout',
  'max-cost',
  'max-requests',
];

const KEYS: readonly string[] = ['prompt', 'project', 'agent', ...TASK_LIMITS];

export interface TasksOptions {
  /** The file in messages. */
  readonly name: string;
  /** Projects are relative to it; it is the project of a line that names none. */
  readonly cwd: string;
}

/**
 * The tasks of a file: one prompt a line, or one JSON object a line. Empty lines and lines that begin with `#` are
 * skipped.
 *
 * @throws {RunClaudeError} USAGE, with the line, for a line that is not a task, and for a file without tasks
 */
export function readTasks(text: string, options: TasksOptions): Task[] {
  const tasks: Task[] = [];
  const seen = new Map<string, number>();
  for (const [at, row] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    const content = row.trim();
    if (content === '' || content.startsWith('#')) continue;
    const where = `${options.name}, line ${at + 1}`;
    if (content.includes('\0')) throw usageError(`${where}: a prompt cannot contain a NUL character`);
    const task = content.startsWith('{') ? readObject(content, where, options.cwd) : plainTask(content, options.cwd);
    const digest = digestOf([task.project, task.agent ?? '', task.prompt, task.limits]);
    const count = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, count);
    tasks.push({ ...task, line: at + 1, id: count === 1 ? digest : digestOf([digest, count]) });
  }
  if (tasks.length === 0) throw usageError(`${options.name} has no task`, 'Write one prompt on each line.');
  return tasks;
}

type TaskParts = Omit<Task, 'line' | 'id'>;

const plainTask = (prompt: string, cwd: string): TaskParts => ({ prompt, project: cwd, agent: undefined, limits: {} });

function readObject(content: string, where: string, cwd: string): TaskParts {
  const fields = objectAt(content, where);
  const unknown = Object.keys(fields).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    throw usageError(`${where}: '${unknown}' is not a key of a task`, `Write one of: ${KEYS.join(', ')}.`);
  const textField = (key: string): string | undefined => {
    const value = fields[key];
    if (value === undefined || (typeof value === 'string' && value.trim() !== '' && !value.includes('\0')))
      return value as string | undefined;
    throw usageError(`${where}: '${key}' must be a text`);
  };
  const prompt = textField('prompt');
  if (prompt === undefined) throw usageError(`${where}: 'prompt' is missing`);
  const limits: Record<string, string> = {};
  // In one order, whatever the line's is: the order does not make another task.
  for (const key of TASK_LIMITS) {
    const value = fields[key];
    if (typeof value === 'number') limits[key] = String(value);
    else if (typeof value === 'string') limits[key] = textField(key) ?? '';
    else if (value !== undefined) throw usageError(`${where}: '${key}' must be a number or a text`);
  }
  return { prompt, project: path.resolve(cwd, textField('project') ?? '.'), agent: textField('agent'), limits };
}

function objectAt(content: string, where: string): Readonly<Record<string, unknown>> {
  const value = parseObject(content);
  if (value !== undefined) return value;
  // The error of the parser would quote the line, which may be long.
  throw usageError(`${where}: it begins with '{', but is not a JSON object`, 'Write each task on one line.');
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
