// JSON lines over stdio: messages of the host on stdin, messages of the gateway on stdout.

const MAX_LINE = 32 * 1024 * 1024;

/**
 * @typedef {import('../../src/core/types/gateway.ts').FromGateway} FromGateway
 * @typedef {import('../../src/core/types/gateway.ts').ToGateway} ToGateway
 */

/**
 * Reads messages until the input ends. Throws when a line is not JSON: only run-claude writes here.
 * @param {import('node:stream').Readable} input @param {(message: ToGateway) => void} take
 */
export async function readMessages(input, take) {
  /** @type {Buffer[]} */
  let pending = [];
  let size = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...pending, chunk.subarray(from, end)]).toString('utf8');
      pending = [];
      size = 0;
      from = end + 1;
      if (line !== '') take(JSON.parse(line));
    }
    if (from < chunk.length) pending.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE) throw new Error('a line too long on stdin');
  }
}

/** @param {import('node:stream').Writable} output
 * @returns {(message: FromGateway, written?: () => void) => boolean} false: wait for 'drain'; `written` is called when the
 *   message has left this process */
export function messageWriter(output) {
  return (message, written) => output.write(`${JSON.stringify(message)}\n`, () => written?.());
}
