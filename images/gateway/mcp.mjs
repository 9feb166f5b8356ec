// MCP over HTTP: one message a request. A message is read, judged by its method and tool, and sent on as it was read, so
// that the server cannot read another one in the same bytes.
import { Refused } from './egress.mjs';
import { judgeShape } from './held-body.mjs';
import { cleanName } from './names.mjs';

/** What the host's side lets the agent do with a server. @typedef {{ tools?: readonly string[] | undefined }} McpRule */

/** Bytes of one message: it is in memory two times, parsed and as it is sent. */
export const MAX_MESSAGE = 4 * 1024 * 1024;
/** Each value takes much more memory than its bytes. */
const SHAPE = { nodes: 200_000, depth: 200 };
const MEMBERS = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
/** What passes besides calls of tools where a rule names the tools: it shows what there is, and changes nothing. */
const WITHOUT_TOOLS = /^(initialize|ping|tools\/list|notifications\/[a-z/_]+)$/;

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
  judgeShape(bytes, SHAPE);
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refused('the body is not one MCP message');
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} params @returns {string} */
function toolOf(params) {
  const named = typeof params === 'object' && params !== null ? Object.entries(params) : [];
  const names = named.filter(([key]) => key.toLowerCase() === 'name');
  const [key, tool] = names[0] ?? [];
  if (names.length !== 1 || key !== 'name' || typeof tool !== 'string') throw new Refused('a call that names no tool');
  return tool;
}
