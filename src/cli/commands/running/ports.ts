import { RunClaudeError, usageError } from '../../../core/errors.ts';
import { jsonText } from '../../../core/report/json.ts';
import { askForPort, type OpenPort, readOpenPorts } from '../../../network/preview/port-files.ts';
import { isPort, parsePort } from '../../../network/preview/port-words.ts';
import { isRunning } from '../../../session/record/session.ts';
import type { CommandRun } from '../../context/context.ts';
import { sessionOf } from '../../sessions/session-of.ts';

/** More than the session's process takes to look, on a machine under load. */
const ANSWER_MS = 15_000;
const POLL_MS = 100;

/** `ports [ID] [PORT[:HOSTPORT]]`: the pages of a running session; with a port, one more of them. */
export const portsCommand: CommandRun = async (line, context) => {
  const words = [...line.words];
  // One word of the form of a port is a port: the end of an id may look like one.
  const id = words.length > 1 || (words[0] !== undefined && !isPort(words[0])) ? words.shift() : undefined;
  const [asked, more] = words;
  if (more !== undefined) throw usageError(`ports: unexpected '${more}'`, 'Write run-claude ports ID PORT.');
  if (asked !== undefined) parsePort(asked);
  const session = sessionOf('ports', id, context);
  const { sessionDir, policy } = session.plan;
  if (!isRunning(session))
    throw new RunClaudeError('SESSION_ENDED', `session ${session.id} is not running`, {
      hint: 'For the next session: --port PORT.',
    });
  if (policy.network === 'none')
    throw usageError(
      'ports: the session has no network',
      'Its pages pass the gateway: start it without --network none.',
    );
  const pages = asked === undefined ? pagesOf(sessionDir) : [await openOne(sessionDir, asked)];
  if (line.options.has('json')) context.write(jsonText(pages));
  else for (const { port, url } of pages) context.write(`${port}  ${url}\n`);
  if (pages.length === 0)
    context.tell({
      kind: 'message',
      level: 'info',
      text: `The session shows no page. run-claude ports ${session.id} 3000`,
    });
  return 0;
};

type Page = Required<Pick<OpenPort, 'port' | 'hostPort' | 'url'>>;

function pagesOf(sessionDir: string): readonly Page[] {
  return readOpenPorts(sessionDir).flatMap(({ port, hostPort, url }) =>
    hostPort === undefined || url === undefined ? [] : [{ port, hostPort, url }],
  );
}

async function openOne(sessionDir: string, words: string): Promise<Page> {
  const { port } = parsePort(words);
  const request = askForPort(sessionDir, words);
  const untilMs = performance.now() + ANSWER_MS;
  while (performance.now() < untilMs) {
    const answer = readOpenPorts(sessionDir).find(({ asked }) => asked?.includes(request));
    if (answer?.error !== undefined)
      throw new RunClaudeError('PORT_TAKEN', answer.error, answer.hint === undefined ? {} : { hint: answer.hint });
    if (answer !== undefined) {
      const page = pagesOf(sessionDir).find((one) => one.port === port);
      if (page !== undefined) return page;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new RunClaudeError('PORT_UNANSWERED', `the process of the session did not open port ${port}`, {
    hint: 'Is it suspended (Ctrl-Z), or of an earlier release? See: run-claude status',
  });
}
