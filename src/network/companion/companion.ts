import type { Container, ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { requireExec } from '../../engines/capabilities/require-part.ts';
import { companionSpec, INSIDE } from '../../engines/engine/hardening/hardened.ts';
import { COMPANION_UID, companionVolume, SOCKETS_ROOT } from './companion-place.ts';

/** A program that runs next to the agent, in its own container, and is reached over a socket. */
export interface CompanionProgram {
  /** Small letters, digits, `-`, `_` and `.`; one of a session has it. */
  readonly name: string;
  readonly argv: readonly string[];
  /** Never a secret: the engine records it. */
  readonly env: Readonly<Record<string, string>>;
  /** The first line that the program reads, as JSON. Secrets go here. Undefined: it reads none. */
  readonly input?: unknown;
  /** What it sees besides its own files in /tmp and the directory of its sockets. */
  readonly mounts: readonly Mount[];
  /** Ports of its loopback that lead to a socket, as PORT=SOCKET. It has no other network. */
  readonly forwards: readonly string[];
  readonly limits: { readonly memoryMb: number; readonly cpus: number; readonly pids: number; readonly tmpMb: number };
  /** Host names of its loopback, besides localhost. */
  readonly loopbackNames?: readonly string[];
  /** What it prints; without this it is a trace. */
  readonly onOutput?: (bytes: Buffer) => void;
  /** What a message calls it; without this, its name. */
  readonly title?: string;
}

/** The session that it belongs to. */
export interface CompanionSession {
  readonly sessionId: string;
  readonly image: string;
  /** Text of run-claude's profile. */
  readonly seccomp: string;
  readonly runtime?: string | undefined;
}

export interface Companion {
  /** Resolves with its exit status. */
  readonly ended: Promise<number>;
  /** Runs a command in the container, which runs, to its end. It has the program's user, environment and limits. */
  exec: NonNullable<Container['exec']>;
  /** Ends its program, and keeps the container. No error where it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts the program. Its volume exists already, so that the gateway can mount it. */
  start(): Promise<void>;
  /** Removes the container. No error where it has ended. */
  stop(): Promise<void>;
}

/** What the engine is asked for. It contains no secret. */
export function companionContainer(session: CompanionSession, program: CompanionProgram): ContainerSpec {
  return companionSpec({
    ...session,
    suffix: `companion-${program.name}`,
    user: `${COMPANION_UID}:${COMPANION_UID}`,
    argv: [`${INSIDE}/init`, ...program.forwards.flatMap((one) => ['--forward', one]), '--', ...program.argv],
    env: program.env,
    mounts: [
      // The new volume starts as a copy of the image's directory for sockets, which belongs to this user.
      {
        kind: 'volume',
        volume: companionVolume(session.sessionId, program.name),
        target: SOCKETS_ROOT,
        readonly: false,
        fill: true,
      },
      ...program.mounts,
    ],
    // The container ends with the command that holds the session, by SIGKILL too.
    stdin: 'stream',
    ...(program.loopbackNames === undefined ? {} : { loopbackNames: program.loopbackNames }),
    ...program.limits,
  });
}

/**
 * Creates a companion's volume and container. A program that ends is not started again: the session goes on without it.
 *
 * @throws {RunClaudeError} ENGINE_DROPPED_OPTION, or the engine's error. What was made until then is removed.
 */
export async function openCompanion(
  engine: Runtime,
  session: CompanionSession,
  program: CompanionProgram,
  tell: Tell,
): Promise<Companion> {
  const volume = companionVolume(session.sessionId, program.name);
  await engine.createVolume({ name: volume, labels: { 'run-claude.session': session.sessionId } });
  let container: Container;
  try {
    container = await engine.create(companionContainer(session, program));
  } catch (error) {
    await engine.removeVolume(volume);
    throw error;
  }
  let isStopping = false;
  const { onOutput } = program;
  container.stdin?.on('error', () => undefined);
  if (onOutput === undefined) traceOutput(container, program.name, tell);
  else for (const stream of [container.stdout, container.stderr]) stream.on('data', onOutput);
  let tellEnd: (status: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    tellEnd = resolve;
  });
  return {
    ended,
    exec: requireExec(container),
    async end(signal) {
      isStopping = true;
      await container.kill(signal);
    },
    async start() {
      await container.start();
      if (program.input !== undefined) container.stdin?.write(`${JSON.stringify(program.input)}\n`);
      void container.wait().then((status) => {
        tellEnd(status);
        if (isStopping) return;
        const text = `${program.title ?? program.name} has ended (status ${status}); the session goes on without it`;
        tell({ kind: 'message', level: 'warning', text });
      });
    },
    async stop() {
      isStopping = true;
      await container.remove();
      // The gateway mounts it as well: its container may be removed concurrently.
      await removeWhenFree(engine, volume);
    },
  };
}

/** A program that writes without end must not fill this process's memory. */
const MAX_TRACED_BYTES = 64 * 1024;

function traceOutput({ stdout, stderr }: Container, name: string, tell: Tell): void {
  let left = MAX_TRACED_BYTES;
  for (const stream of [stdout, stderr])
    stream.on('data', (bytes: Buffer) => {
      if (left <= 0) return;
      left -= bytes.length;
      tell({ kind: 'trace', text: `${name}: ${bytes.toString('utf8').trimEnd()}` });
    });
}

const REMOVE_TRIES = 40;
const REMOVE_PAUSE_MS = 100;

async function removeWhenFree(engine: Runtime, volume: string): Promise<void> {
  for (let left = REMOVE_TRIES; ; left--) {
    try {
      return await engine.removeVolume(volume);
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((done) => setTimeout(done, REMOVE_PAUSE_MS));
    }
  }
}
