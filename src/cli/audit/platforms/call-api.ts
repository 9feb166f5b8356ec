import { RunClaudeError } from '../../../core/errors.ts';
import { send } from '../../../core/host/https-request.ts';

const TIMEOUT_MS = 30_000;

export interface ApiCall {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * The JSON that the API of a platform answers. No message has the body or a header of the request.
 *
 * @throws {RunClaudeError} PLATFORM_FAILED with the status, or the reason of a failed connection
 */
export async function callApi({ method, url, headers, body }: ApiCall, env: NodeJS.ProcessEnv): Promise<unknown> {
  const { host } = new URL(url);
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await send(
    url,
    {
      method,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'run-claude',
        ...headers,
      },
      ...text,
      timeoutMs: TIMEOUT_MS,
    },
    env,
  ).catch((cause: Error) => {
    throw new RunClaudeError('PLATFORM_FAILED', `${host} does not answer: ${cause.message}`, { cause });
  });
  if (answer.status < 200 || answer.status > 299) {
    const hint =
      answer.status === 401 || answer.status === 403 || answer.status === 404
        ? 'Check the address, and the rights of the token.'
        : undefined;
    throw new RunClaudeError('PLATFORM_FAILED', `${host} answers ${method} with status ${answer.status}`, {
      ...(hint === undefined ? {} : { hint }),
    });
  }
  try {
    return JSON.parse(answer.body) as unknown;
  } catch (cause) {
    throw new RunClaudeError('PLATFORM_FAILED', `${host} answers with something else than JSON`, { cause });
  }
}
