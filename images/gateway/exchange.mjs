// Forwards one request, and its answer, within the limits of a connection.
import { Client } from './client.mjs';
import { forwardedHeaders } from './headers.mjs';

/**
 * @typedef {{ up: number, down: number }} Passed
 * @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response
 * @param {import('node:http').ClientRequest} first not yet sent
 * @param {import('../../src/core/types/gateway.ts').GatewayLimits} limits @param {Passed} passed counts bytes during the exchange
 * @param {{ without?: { has(name: string): boolean }, body?: Buffer | undefined,
 *   through?: import('node:stream').Transform | undefined,
 *   again?: () => Promise<import('node:http').ClientRequest | undefined> }} [more] headers of the answer that are
 *   dropped, lower case; the body in place of the request's own, which was read; what the request's own passes through; gives the request to send in place of one
 *   that was answered with 401, whose body is that one or none
 * @returns {Promise<number>} the answer's status
 */
export async function exchange(request, response, first, limits, passed, { without, body, through, again } = {}) {
  const client = new Client(request, response);
  let out = first;
  client.whenGone(() => out.destroy());
  request.on('data', (chunk) => {
    passed.up += chunk.length;
    if (passed.up > limits.bytesPerConnection) out.destroy(new Error('too many bytes sent'));
  });
  const answerOf = (/** @type {() => void} */ send) =>
    new Promise((/** @type {(answer: import('node:http').IncomingMessage) => void} */ done, failed) => {
      out
        .once('response', done)
        .on('error', failed)
        .once('close', () => failed(new Error('no answer')));
      request.on('error', failed);
      send();
    });
  let answer = await answerOf(() => {
    if (body === undefined && through === undefined) request.pipe(out);
    else if (body === undefined && through !== undefined) {
      through.on('error', (error) => out.destroy(error));
      out.once('close', () => through.destroy());
      request.pipe(through).pipe(out);
    } else if (body !== undefined) {
      passed.up = body.length;
      out.end(body);
    }
  });
  const next = answer.statusCode === 401 ? await again?.() : undefined;
  if (next !== undefined) {
    answer.destroy();
    out = next;
    // The client may have left while the host was asked.
    answer = await answerOf(() => (response.destroyed ? out.destroy() : out.end(body)));
  }
  const status = answer.statusCode ?? 502;
  response.writeHead(status, forwardedHeaders(answer.rawHeaders, without));
  for await (const chunk of answer) {
    passed.down += chunk.length;
    if (passed.down > limits.bytesPerConnection) throw new Error('too many bytes received');
    await client.write(chunk);
  }
  response.end();
  return status;
}
