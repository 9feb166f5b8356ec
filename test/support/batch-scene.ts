import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { listSessions } from '../../src/session/record/session.ts';
import { Scene } from './scene.ts';
import { type StandIn, startMessagesApi } from './stand-in/messages-api.mjs';

interface Body {
  readonly messages: readonly { readonly role: string }[];
}

/** `RUN:command` in a prompt is run by the agent; `FAIL` is answered with an error. */
function turnFor(body: unknown) {
  const { messages } = body as Body;
  if (messages.some(({ role }) => role === 'assistant')) return { text: 'Done.' };
  const text = JSON.stringify(messages);
  if (text.includes('FAIL')) return { status: 400 };
  const [, command] = /RUN:([^"\\]*)/.exec(text) ?? [];
  return command === undefined ? { text: 'hello' } : { tools: [{ name: 'Bash', input: { command } }] };
}

/** The model that the tasks of a batch talk to. */
export const startTaskModel = (): Promise<StandIn> => startMessagesApi({ turns: [], turnFor });

export const openBatchScene = (standIn: StandIn): Scene =>
  new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-api03-of-the-stand-in' });

export interface TaskData {
  readonly line: number;
  readonly result: string;
  readonly verdict: string;
  readonly status?: number;
  readonly session?: string;
  readonly files?: number;
  readonly costUsd?: number;
  readonly error?: string;
  readonly output: string;
}

export const sessionsOf = (scene: Scene) => listSessions(scene.places().stateDir).sessions;

export function writeTasks(scene: Scene, ...lines: readonly (string | object)[]): string {
  const file = path.join(scene.root, 'tasks');
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return file;
}

export async function runJson(scene: Scene, ...args: readonly string[]) {
  const { status, stdout, stderr } = await scene.run(['batch', '--json', ...args]);
  return { status, stderr, tasks: JSON.parse(stdout) as TaskData[] };
}
