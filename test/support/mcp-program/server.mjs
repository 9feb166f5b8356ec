// An MCP server that is a program (stdio), with the SDK: what it has, what it can reach, and a tool that nobody allowed.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import process from 'node:process';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** @param {() => void} work */
function works(work) {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** @type {Record<string, (input: Record<string, unknown>) => string>} */
const TOOLS = {
  facts: () =>
    JSON.stringify({
      secret: (process.env['API_TOKEN'] ?? '').length,
      workspace: existsSync('/workspace/README.md'),
      home: existsSync('/home/agent/.claude.json'),
      interfaces: Object.keys(networkInterfaces()),
      changesItself: works(() => writeFileSync(new URL('planted.mjs', import.meta.url), '')),
      provider: existsSync('/run/run-claude/gw/sockets/api.sock'),
    }),
  fetch: ({ url }) => {
    try {
      return execFileSync('curl', ['-sS', '-m', '10', '-w', ' status %{http_code}', String(url)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    } catch (error) {
      return `failed: ${String(/** @type {{ stderr?: unknown }} */ (error).stderr).slice(0, 200)}`;
    }
  },
  delete_all: () => {
    process.stderr.write('delete_all was called\n');
    return 'everything is deleted';
  },
};

const server = new Server({ name: 'stand-in', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(TOOLS).map((name) => ({
    name,
    description: `the tool ${name}`,
    inputSchema: { type: 'object', properties: { url: { type: 'string' } } },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: TOOLS[params.name]?.(params.arguments ?? {}) ?? 'no such tool' }],
}));
await server.connect(new StdioServerTransport());
