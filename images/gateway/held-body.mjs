// Bodies of requests that are read whole: how much of them is in memory at once, and what their parsing may take.
import { Refused } from './egress.mjs';

/** Too many at once: the client may retry. */
export class Busy extends Error {}

/**
 * Counts the bytes of bodies in memory, so that an agent can't fill the gateway's memory.
 * @param {{ body: number, all: number }} limits in bytes, of one body and of all together
 */
export function createHolding(limits) {
  let held = 0;
  return {
    /** The whole body, and a function that frees it. Throws Refused and Busy.
     * @param {import('node:http').IncomingMessage} request @param {number} [most] bytes of this body
     * @returns {Promise<{ bytes: Buffer, free: () => void }>} */
    async take(request, most = limits.body) {
      /** @type {Buffer[]} */
      const parts = [];
      let size = 0;
      const free = () => {
        held -= size;
        size = 0;
      };
      try {
        for await (const part of request) {
          size += part.length;
          held += part.length;
          if (size > most) throw new Refused(`the request is larger than ${Math.floor(most / 1024 / 1024)} MB`);
          if (held > limits.all) throw new Busy('too many large requests at once');
          parts.push(part);
        }
        return { bytes: Buffer.concat(parts), free };
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

const [QUOTE = 0, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from('"\\,[]{}');

/** Where the string that begins at `from` has its closing quote. @param {Buffer} bytes @param {number} from */
function endOfString(bytes, from) {
  for (let end = bytes.indexOf(QUOTE, from + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return bytes.length;
}

/**
 * Throws Refused for JSON whose parsed form would be out of proportion.
 * @param {Buffer} bytes
 * @param {{ nodes: number, depth: number }} limits nodes are objects, arrays and their members: small ones take far more
 *   memory than text
 */
export function judgeShape(bytes, limits) {
  let nodes = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) nodes += 1;
    else if (byte === OPEN || byte === OPEN_LIST) {
      nodes += 1;
      depth += 1;
      if (depth > limits.depth) throw new Refused('the request is nested too deeply');
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
    if (nodes > limits.nodes) throw new Refused('the request has too many parts');
  }
}
