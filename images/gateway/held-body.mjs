// Bodies of requests that are read whole: how much of them is in memory at once, and what their parsing may take.
import { Refused } from './egress.mjs';

/** Too many at once: the client may retry. */
export class Busy extends Error {}

/** Bodies in memory: how many bytes of them there are, and how many there may be, so that an agent cannot fill the
 * gateway's memory. */
export class Holding {
  /** @param {{ body: number, all: number }} limits in bytes, of one body and of all together */
  constructor(limits) {
    this.limits = limits;
    this.held = 0;
  }

  /** Throws Busy where more is held than there may be. */
  check() {
    if (this.held > this.limits.all) throw new Busy('too many large requests at once');
  }

  /** The whole body of a request. Throws Refused and Busy.
   * @param {import('node:http').IncomingMessage} request @param {number} [most] bytes of this body
   * @returns {Promise<HeldBody>} */
  async take(request, most = this.limits.body) {
    /** @type {Buffer[]} */
    const parts = [];
    let size = 0;
    try {
      for await (const part of request) {
        size += part.length;
        this.held += part.length;
        if (size > most) throw new Refused(`the request is larger than ${Math.floor(most / 1024 / 1024)} MB`);
        this.check();
        parts.push(part);
      }
      return new HeldBody(this, Buffer.concat(parts, size));
    } catch (error) {
      this.held -= size;
      throw error;
    }
  }
}

const NOTHING = Buffer.alloc(0);

/** One body in memory. Who takes it frees it: when its request has ended, and nothing sends it or waits for its answer. */
export class HeldBody {
  /** @param {Holding} holding @param {Buffer} bytes counted already */
  constructor(holding, bytes) {
    this.holding = holding;
    this.bytes = bytes;
  }

  /** Holds other bytes in place of those that were read. Throws Busy. @param {Buffer} bytes */
  replace(bytes) {
    this.holding.held += bytes.length - this.bytes.length;
    this.bytes = bytes;
    this.holding.check();
  }

  free() {
    this.holding.held -= this.bytes.length;
    this.bytes = NOTHING;
  }
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
