import type { ClientRequest, IncomingMessage } from 'node:http';
import type Docker from 'dockerode';
import { jsonIn } from '../../../core/text/json-in.ts';

/** More than the list of ten thousand containers. An answer without an end would fill the memory of this process. */
export const MAX_ANSWER_BYTES: number = 64 * 1_048_576;

/** The text of an answer. Rejects where it is longer than the limit, and ends its connection. */
export async function limitedText(response: IncomingMessage, maxBytes = MAX_ANSWER_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the response.
    if (length > maxBytes) throw new Error(`its answer is longer than ${maxBytes / 1_048_576} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

type Done = (error: Error | null, answer?: unknown) => void;
type StatusCodes = Readonly<Record<number, unknown>>;

/** The parts of docker-modem that read answers. */
interface Modem {
  buildRequest(options: object, context: Context, data: unknown, done: Done): void;
  buildPayload(
    error: Error | null,
    isStream: boolean | undefined,
    statusCodes: StatusCodes,
    openStdin: boolean | undefined,
    request: ClientRequest,
    response: IncomingMessage,
    answer: unknown,
    done: Done,
  ): void;
}

interface Context {
  readonly isStream?: boolean;
}

/**
 * Has dockerode read answers by {@link limitedText}: by itself it keeps whatever arrives. It asks for each answer as a stream, and
 * those that are none are read here.
 */
export function limitAnswers(docker: Docker): Docker {
  const modem = docker.modem as unknown as Modem;
  const { buildRequest, buildPayload } = modem;
  modem.buildRequest = (options, context, data, done) => {
    const reads: Modem['buildPayload'] = (error, _, statusCodes, openStdin, request, response, answer, answered) => {
      const isGood = error === null && statusCodes[response.statusCode ?? 0] === true;
      if (error !== null || (isGood && (context.isStream === true || openStdin === true))) {
        buildPayload.call(modem, error, context.isStream, statusCodes, openStdin, request, response, answer, answered);
        return;
      }
      limitedText(response).then(
        (body) =>
          buildPayload.call(modem, null, false, statusCodes, false, request, response, jsonIn(body) ?? body, answered),
        answered,
      );
    };
    const own = Object.create(modem, { buildPayload: { value: reads } }) as Modem;
    buildRequest.call(own, options, { ...context, isStream: true }, data, done);
  };
  return docker;
}
