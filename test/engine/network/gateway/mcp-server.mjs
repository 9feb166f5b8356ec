// An MCP server over HTTP in a container of the test's own: two tools, and a line of output for each message.
import { readFileSync } from 'node:fs';
import https from 'node:https';
import process from 'node:process';

const [wanted = ''] = process.argv.slice(2);
const TOOLS = ['search', 'delete_all'].map((name) => ({
  name,
  description: `the tool ${name}`,
  inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
}));

/** @param {{ method?: string, params?: { name?: string, protocolVersion?: string } }} message */
function resultOf({ method, params = {} }) {
  if (method === 'initialize')
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'stand-in', version: '1' },
    };
  if (method === 'tools/list') return { tools: TOOLS };
  if (method === 'tools/call') return { content: [{ type: 'text', text: `result of ${params.name}` }] };
  return {};
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function serve(request, response) {
  let text = '';
  for await (const part of request) text += part;
  const isUser = request.headers.authorization === wanted;
  process.stdout.write(`${isUser ? 'user' : 'stranger'} ${request.method} ${request.url} ${text}\n`);
  if (!isUser) response.writeHead(401).end();
  else if (request.method !== 'POST') response.writeHead(405).end();
  else {
    const message = JSON.parse(text);
    if (message.id === undefined) response.writeHead(202).end();
    else {
      const answer = { jsonrpc: '2.0', id: message.id, result: resultOf(message) };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    }
  }
}

https
  .createServer(
    { key: readFileSync('/srv/key.pem'), cert: readFileSync('/srv/cert.pem') },
    (request, response) => void serve(request, response),
  )
  .listen(443, () => process.stdout.write('listening\n'));
