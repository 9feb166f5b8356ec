import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import type { ContainerSpec, InsideProgram, InsideProgramSpec } from '../../../core/types/engine.ts';
import { type ExecRecord, execRecord, foundContainer, madeAnswer, readAnswer } from '../answers.ts';
import { OWNER_LABEL } from '../body.ts';
import type { Client } from '../connection/client.ts';
import { callEngine, isNotFound } from '../failure.ts';
import { provedInside, weakerIn } from '../hardening/proof.ts';
import { refuseWeaker } from './container.ts';
import { inputOf, splitOutput } from './streams.ts';

/** The engine answers at once, or after it has started a process. */
const ANSWER_MS = 30_000;
/** More than a program takes to say its first lines. The agent may stop its process before. */
const START_MS = 20_000;
/** The engine may learn of the end a moment after the streams were closed. */
const END_POLL_MS = 5;
const MAX_END_POLLS = 400;
/** Prints its process number, which signals need, and becomes the program. */
const TELLS_PID = ['/bin/sh', '-c', 'echo $$; exec "$0" "$@"'];
const SENDS_SIGNAL = ['/bin/sh', '-c', 'kill -s "$0" "$1"'];

/** Starts a program in a running container, without dockerode: a command must not wait until that is loaded. */
export async function startInside(client: Client, owner: string, spec: InsideProgramSpec): Promise<InsideProgram> {
  const { container, tty } = spec;
  const proved = provedInside(container, spec.argv);
  const doing = `start ${spec.argv[0]} in the container`;
  await requireOwn(client, container.name, owner);
  const id = await callEngine(doing, () => createExec(client, container, [...TELLS_PID, ...proved.argv], spec));
  const connection = await callEngine(doing, () => client.upgrade(`/exec/${id}/start`, { Detach: false, Tty: tty }));
  const headLines = proved.isProved ? 2 : 1;
  const { stdout, stderr, head, ended } = splitOutput(connection, { tty, headLines });
  const lines = head.then((text) => text.split(/\r?\n/));
  return {
    stdout,
    stderr,
    stdin: inputOf(connection),
    async start() {
      const [, proof = ''] = await inTime(lines, spec.argv[0] ?? '');
      if (proved.isProved) refuseWeaker(weakerIn(proof), container.name);
    },
    async wait() {
      await ended;
      return callEngine(`wait for ${spec.argv[0]}`, () => statusOf(client, id));
    },
    async kill(signal) {
      const [pid = ''] = await lines;
      // A program inside may have printed the line.
      if (/^[1-9]\d{0,6}$/.test(pid)) await sendSignal(client, container, signal.replace(/^SIG/, ''), pid);
    },
    resize: (columns, rows) =>
      callEngine('resize the terminal', async () => {
        await client.post(`/exec/${id}/resize?h=${rows}&w=${columns}`, {});
      }),
    close: () => void connection.destroy(),
  };
}

/** @throws {RunClaudeError} START_LATE where the program says nothing in time. */
async function inTime<T>(said: Promise<T>, program: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new RunClaudeError('START_LATE', `${program} did not start in the container within ${START_MS / 1000} s`, {
          hint: 'A program inside may keep it from starting. See which sessions run with: run-claude sessions',
        }),
      );
    }, START_MS);
  });
  return Promise.race([said, late]).finally(() => clearTimeout(timer));
}

/** @throws {RunClaudeError} SESSION_ENDED where no such container of this owner runs. */
async function requireOwn(client: Client, name: string, owner: string): Promise<void> {
  const found = await callEngine('find the container', async () => {
    try {
      return readAnswer(await client.get(`/containers/${name}/json`, ANSWER_MS), foundContainer, 'the container');
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
  if (found?.Config.Labels?.[OWNER_LABEL] === owner && found.State.Running === true) return;
  throw new RunClaudeError('SESSION_ENDED', `the container ${name} does not run`, {
    hint: 'See which sessions run with: run-claude sessions',
  });
}

/** Returns the id of a process that the engine recorded as requested. */
async function createExec(
  client: Client,
  { name, user }: Pick<ContainerSpec, 'name' | 'user'>,
  argv: readonly string[],
  { tty, env }: Pick<InsideProgramSpec, 'tty' | 'env'>,
): Promise<string> {
  const made = await client.post(`/containers/${name}/exec`, {
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: tty,
    Privileged: false,
    Cmd: argv,
    ...(env === undefined ? {} : { Env: Object.entries(env).map(([key, value]) => `${key}=${value}`) }),
  });
  const { Id } = readAnswer(made, madeAnswer, 'the new program');
  const { ProcessConfig } = await execOf(client, Id);
  // Engines record no user, or the container's.
  if (ProcessConfig?.privileged === true || !['', user].includes(ProcessConfig?.user ?? ''))
    throw new RunClaudeError('ENGINE_DROPPED_OPTION', 'the container engine did not take the program as asked');
  return Id;
}

const execOf = async (client: Client, id: string): Promise<ExecRecord> =>
  readAnswer(await client.get(`/exec/${id}/json`, ANSWER_MS), execRecord, 'the program');

async function statusOf(client: Client, id: string): Promise<number> {
  for (let polls = 0; polls < MAX_END_POLLS; polls++) {
    const { Running, ExitCode } = await execOf(client, id);
    if (Running !== true && typeof ExitCode === 'number') return ExitCode;
    await sleep(END_POLL_MS);
  }
  throw new RunClaudeError('ENGINE_LOST', 'the engine lost the program while it ran');
}

async function sendSignal(
  client: Client,
  container: Pick<ContainerSpec, 'name' | 'user'>,
  signal: string,
  pid: string,
): Promise<void> {
  await callEngine('signal the program', async () => {
    const id = await createExec(client, container, [...SENDS_SIGNAL, signal, pid], { tty: false });
    const connection = await client.upgrade(`/exec/${id}/start`, { Detach: false, Tty: false });
    await splitOutput(connection, { tty: false, headLines: 0 }).ended;
    connection.destroy();
  });
}
