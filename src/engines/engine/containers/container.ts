import type Docker from 'dockerode';
import { RunClaudeError } from '../../../core/errors.ts';
import type { ExecOptions, ExecResult } from '../../../core/types/engine.ts';
import type { EngineContainer } from '../../../core/types/runtime.ts';
import { endAnswer, execRecord, readAnswer } from '../answers.ts';
import type { Client } from '../connection/client.ts';
import { callEngine, hasStateAlready, isNotFound } from '../failure.ts';
import { weakerIn } from '../hardening/proof.ts';
import { hostPidOf, killOnHost } from './host-kill.ts';
import { collectBytes, inputOf, splitOutput } from './streams.ts';

const EXEC_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The engine detaches at ctrl-p ctrl-q by default, and the keys can only be replaced: by keys that nobody presses. */
const NEVER_TYPED = Array.from({ length: 16 }, (_, at) => (at % 2 === 0 ? 'ctrl-^' : 'ctrl-@')).join(',');

export interface ContainerAttachOptions {
  readonly name: string;
  readonly tty: boolean;
  readonly stdin: boolean;
  /** It runs already, so wait() does not need start(). */
  readonly running: boolean;
  /** Its output begins with init's proof. start() fails without it. */
  readonly proved: boolean;
  /** The engine runs on this machine, which sees the container's processes. */
  readonly isHere?: boolean;
}

/** Attaches to an existing container. */
export async function attachContainer(
  client: Client,
  container: Docker.Container,
  options: ContainerAttachOptions,
): Promise<EngineContainer> {
  const query = new URLSearchParams({
    stream: '1',
    stdin: options.stdin ? '1' : '0',
    stdout: '1',
    stderr: '1',
    detachKeys: NEVER_TYPED,
  });
  const connection = await callEngine('attach to the container', () =>
    client.upgrade(`/containers/${container.id}/attach?${query}`),
  );
  const stdin = inputOf(connection);
  const headLines = options.proved ? 1 : 0;
  const { stdout, stderr, head } = splitOutput(connection, { tty: options.tty, headLines });
  let markStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  if (options.running) markStarted();
  let isRemoved = false;
  let hostPid: number | undefined;
  return {
    id: container.id,
    name: options.name,
    stdout,
    stderr,
    stdin: options.stdin ? stdin : undefined,
    start: async () => {
      await callEngine('start the container', () => container.start());
      markStarted();
      if (options.isHere === true)
        void hostPidOf(container).then((pid) => {
          hostPid = pid;
        });
      if (options.proved) refuseWeaker(weakerIn(await head), options.name);
    },
    wait: async () => {
      await started;
      return callEngine('wait for the container', () => waitForEnd(container));
    },
    hostPid: () => hostPid,
    async kill(signal) {
      // Its first process ends at once: the engine takes milliseconds for it.
      if (signal === 'SIGKILL' && hostPid !== undefined) killOnHost(hostPid, container.id);
      await unlessEnded('signal the container', () => container.kill({ signal }));
    },
    pause: () => unlessEnded('pause the container', () => container.pause()),
    unpause: () => unlessEnded('unpause the container', () => container.unpause()),
    resize: (columns, rows) => unlessEnded('resize the terminal', () => container.resize({ w: columns, h: rows })),
    exec: (argv, execOptions) => execInside(container, argv, execOptions ?? {}),
    detach: () => void connection.destroy(),
    remove: async () => {
      connection.destroy();
      if (isRemoved) return;
      await removeContainer(container);
      isRemoved = true;
    },
  };
}

/**
 * `cause`: what the runtime printed, for a container that ended without a proof.
 *
 * @throws {RunClaudeError} ENGINE_LAYER_MISSING. Only init has run then.
 */
export function refuseWeaker(weaker: string | undefined, name: string, cause = ''): void {
  if (weaker === undefined) return;
  throw new RunClaudeError(
    'ENGINE_LAYER_MISSING',
    weaker === ''
      ? `the container ${name} ended before it could show that it is as asked${cause === '' ? '' : `: ${cause}`}`
      : `seen from inside, the container ${name} is not as asked: ${weaker}`,
    { hint: 'Nothing was run in it. run-claude doctor --probe shows what holds on this engine.' },
  );
}

/** Kills the container if needed, and waits until the engine has removed it. No error when it does not exist. */
export async function removeContainer(container: Docker.Container): Promise<void> {
  await callEngine('remove the container', async () => {
    try {
      await container.remove({ force: true, v: true });
    } catch (error) {
      if (isNotFound(error)) return;
      // 409: the engine is removing it already.
      if (!hasStateAlready(error)) throw error;
      await container.wait({ condition: 'removed' }).catch((cause: unknown) => {
        if (!isNotFound(cause)) throw cause;
      });
    }
  });
}

async function waitForEnd(container: Docker.Container): Promise<number> {
  return readAnswer(await container.wait({ condition: 'not-running' }), endAnswer, 'the end of the container')
    .StatusCode;
}

async function unlessEnded(doing: string, request: () => Promise<unknown>): Promise<void> {
  await callEngine(doing, async () => {
    try {
      await request();
    } catch (error) {
      if (!isNotFound(error) && !hasStateAlready(error)) throw error;
    }
  });
}

async function execInside(
  container: Docker.Container,
  argv: readonly string[],
  options: ExecOptions,
): Promise<ExecResult> {
  return callEngine(`run ${argv[0]} in the container`, async () => {
    const exec = await container.exec({
      Cmd: [...argv],
      AttachStdin: options.stdin !== undefined,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      ...(options.user === undefined ? {} : { User: options.user }),
      ...(options.env === undefined
        ? {}
        : { Env: Object.entries(options.env).map(([name, value]) => `${name}=${value}`) }),
    });
    const connection = await exec.start({ hijack: true, stdin: options.stdin !== undefined });
    const stdin = inputOf(connection);
    const output = splitOutput(connection, { tty: false, headLines: 0 });
    if (options.stdin !== undefined) stdin.end(options.stdin);
    const [stdout, stderr] = await Promise.all([
      collectBytes(output.stdout, EXEC_OUTPUT_BYTES),
      collectBytes(output.stderr, EXEC_OUTPUT_BYTES),
    ]);
    connection.destroy();
    const { ExitCode } = readAnswer(await exec.inspect(), execRecord, 'the program');
    if (typeof ExitCode !== 'number')
      throw new RunClaudeError('ENGINE_LOST', `the engine lost ${argv[0]} while it ran`);
    return { status: ExitCode, stdout, stderr };
  });
}
