import { usageError } from '../../core/errors.ts';

/** A port of the agent that the user looks at: `PORT[:HOSTPORT]`. */
export interface AskedPort {
  /** On the agent's loopback. */
  readonly port: number;
  /** On this machine. Undefined: the same number, or a free one where it is taken. */
  readonly hostPort: number | undefined;
}

/** Pages that one session may show at the same time. */
const MAX_PORTS = 16;

const FORM = /^(\d{1,5})(?::(\d{1,5}))?$/;

/** Whether a word has the form `PORT[:HOSTPORT]`. Its numbers may be none of ports. */
export function isPort(word: string): boolean {
  return FORM.test(word);
}

/** @throws {RunClaudeError} USAGE where the text is not `PORT[:HOSTPORT]` */
export function parsePort(text: string, from?: string): AskedPort {
  const [, inside, outside] = FORM.exec(text) ?? [];
  const port = portOf(inside);
  const hostPort = outside === undefined ? undefined : portOf(outside);
  if (port === undefined || (outside !== undefined && hostPort === undefined))
    throw usageError(
      `${from === undefined ? '' : `${from}: `}'${text}' is not a port`,
      'Write PORT or PORT:HOSTPORT, with numbers from 1 to 65535.',
    );
  return { port, hostPort };
}

/** The ports of a session. @throws {RunClaudeError} USAGE also for a port that is named twice, and for too many */
export function parsePorts(texts: readonly string[], from = '--port'): readonly AskedPort[] {
  const asked = texts.map((text) => parsePort(text, from));
  if (new Set(asked.map(({ port }) => port)).size < asked.length)
    throw usageError(`${from}: a port is named twice`, 'Name each port of the session once.');
  if (asked.length > MAX_PORTS) throw usageError(`${from}: more than ${MAX_PORTS} ports`, 'Name fewer ports.');
  return asked;
}

function portOf(digits: string | undefined): number | undefined {
  const port = Number(digits);
  return port >= 1 && port <= 65_535 ? port : undefined;
}
