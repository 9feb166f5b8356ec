// MCP over HTTP: one message a request. A message is read, judged by its method and tool, and sent on as it was read, so
// that the server cannot read another one in the same bytes.
import { Refused } from './egress.mjs';
import { cleanName } from './names.mjs';

/** What the host's side lets the agent do with a server. @typedef {{ tools?: readonly string[] | undefined }} McpRule */

const MAX_BODY = 4 * 1024 * 1024;
/** Of all messages that are read at once. */
const MAX_HELD = 32 * 1024 * 1024;
/** Values of a message: each takes much more memory than its bytes. */
const MAX_VALUES = 200_000;
let held = 0;
const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/** What passes besides calls of tools where a rule names the tools: it shows what there is, and changes nothing. */
const WITHOUT_TOOLS = /^(initialize|ping|tools\/list|notifications\/[a-z/_]+)$/;
const MAX_DEPTH = 200;

/**
 * The bytes to send for a request's body, and the tool that it calls. Throws Refused.
 * @param {Buffer} bytes @param {McpRule} rule @returns {{ body: Buffer, tool?: string }}
 */
export function judgedMessage(bytes, rule) {
  const message = parsed(bytes);
  // Some servers compare names without their letter case.
  for (const name of Object.keys(message))
    if (!MEMBERS.has(name)) throw new Refused(`an MCP message has no member ${cleanName(name)}`);
  const method = message['method'];
  if (method !== undefined && typeof method !== 'string')
    throw new Refused('the method of an MCP message is not a text');
  const tool = method === 'tools/call' ? toolOf(message['params']) : undefined;
  if (rule.tools !== undefined) {
    if (tool !== undefined && !rule.tools.includes(tool))
      throw new Refused(`the tool ${cleanName(tool)} is not allowed`);
    const isAnswer = method === undefined;
    if (tool === undefined && !isAnswer && !WITHOUT_TOOLS.test(method))
      throw new Refused(`${cleanName(method)} is not allowed: this server is there for named tools`);
  }
  const body = Buffer.from(JSON.stringify(message));
  return tool === undefined ? { body } : { body, tool };
}

/** @param {Buffer} bytes @returns {Record<string, unknown>} */
function parsed(bytes) {
  /** @type {unknown} */
  let value;
  try {
    value = isShallow(bytes) ? JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused('the body is not one MCP message');
  return /** @type {Record<string, unknown>} */ (value);
}

/** Whether brackets and commas, those in strings included, are few enough to be parsed and written again.
 * @param {Buffer} bytes */
function isShallow(bytes) {
  let depth = 0;
  let values = 0;
  for (const byte of bytes) {
    if (byte === OPENING[0] || byte === OPENING[1]) depth += 1;
    else if (byte === CLOSING[0] || byte === CLOSING[1]) depth -= 1;
    else if (byte !== COMMA) continue;
    values += 1;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return false;
  }
  return true;
}

const OPENING = Buffer.from('[{');
const CLOSING = Buffer.from(']}');
const COMMA = 0x2c;

/** @param {unknown} params @returns {string} */
function toolOf(params) {
  const named = typeof params === 'object' && params !== null ? Object.entries(params) : [];
  const names = named.filter(([key]) => key.toLowerCase() === 'name');
  const [key, tool] = names[0] ?? [];
  if (names.length !== 1 || key !== 'name' || typeof tool !== 'string') throw new Refused('a call that names no tool');
  return tool;
}

/**
 * The whole body of a request, in memory. Throws Refused where it is too long or encoded.
 * @param {import('node:http').IncomingMessage} request @returns {Promise<Buffer>}
 */
export async function wholeBody(request) {
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') throw new Refused('the body is encoded');
  /** @type {Buffer[]} */
  const parts = [];
  let length = 0;
  try {
    for await (const part of request) {
      length += part.length;
      held += part.length;
      if (length > MAX_BODY) throw new Refused('the MCP message is too long');
      if (held > MAX_HELD) throw new Error('too many MCP messages at once');
      parts.push(part);
    }
    return Buffer.concat(parts);
  } finally {
    held -= length;
  }
}
