// What the agent gets instead of an answer: the gateway's own refusals, and the provider's failures.
import { forwardedHeaders } from './headers.mjs';

/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {import('node:http').ServerResponse} ServerResponse */
/** @typedef {{ isQuiet: boolean, status: number, up: number, down: number }} Exchange a request and its answer */

/** An answer that reports a failure is read whole, because some servers repeat the credential in it. */
const MAX_ERROR_BYTES = 1024 * 1024;

/** @param {ServerResponse} response @param {number} status @param {string} type @param {string} message */
export function fail(response, status, type, message) {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-should-retry': status >= 500 ? 'true' : 'false',
  });
  response.end(JSON.stringify({ type: 'error', error: { type, message: `run-claude: ${message}` } }));
}

/** @param {IncomingMessage} answered */
export const codingOf = (answered) => (answered.headers['content-encoding'] ?? 'identity').toLowerCase();

/** The text without any of the words, byte for byte otherwise. @param {string} text @param {readonly string[]} words */
const without = (text, words) => words.reduce((left, word) => left.replaceAll(word, '[credential]'), text);

/** Passes an answer that reports a failure, without the credential that it may repeat.
 * @param {IncomingMessage} answered @param {ServerResponse} response @param {readonly string[]} words
 * @param {number} up @returns {Promise<Exchange>} */
export async function passFailure(answered, response, words, up) {
  const status = answered.statusCode ?? 502;
  let text = '';
  // The credential cannot be found in a compressed answer.
  if (codingOf(answered) !== 'identity') {
    answered.destroy();
    throw new Error(`it answered ${status} in an encoding that was not requested`);
  }
  for await (const chunk of answered) {
    text += chunk.toString('latin1');
    if (text.length > MAX_ERROR_BYTES) throw new Error(`it answered ${status} with more than 1 MiB`);
  }
  const dropped = new Set(['set-cookie', 'content-length']);
  const headers = forwardedHeaders(answered.rawHeaders, dropped).map((value) => without(value, words));
  response.writeHead(status, headers).end(Buffer.from(without(text, words), 'latin1'));
  return { isQuiet: false, status, down: text.length, up };
}
