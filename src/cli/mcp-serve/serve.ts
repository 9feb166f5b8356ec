import type { Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { ZodError, z } from 'zod';
import { RunClaudeError } from '../../core/errors.ts';
import type { Box } from '../../session/kept/box.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Tool, ToolAnswer } from './tool.ts';
import { TOOLS } from './tools.ts';

export interface ServeOptions {
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Opens the environment, or finds the one that is up. */
  readonly openBox: () => Promise<Box>;
}

/** Serves the tools on these streams until the client closes its end, or the signal fires. The environment stays up. */
export async function serveTools({ version, stdin, stdout, signal, openBox }: ServeOptions): Promise<void> {
  const opened = reopening(openBox);
  const server = new Server({ name: 'run-claude', version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { text, isError = false } = await callTool(params.name, params.arguments ?? {}, (row, input) =>
      row.run(input, { box: opened.box, signal: extra.signal }),
    );
    return { content: [{ type: 'text', text }], isError };
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    stdout.once('error', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport(stdin, stdout));
  await ended;
  await server.close();
  await opened.close();
}

/** The environment, opened at its first use. One that has ended is opened anew; a failure is tried again. */
function reopening(open: () => Promise<Box>): { box(): Promise<Box>; close(): Promise<void> } {
  let current: Promise<Box> | undefined;
  return {
    box() {
      if (current !== undefined) return current;
      const opening = open();
      const forget = (): void => {
        if (current === opening) current = undefined;
      };
      current = opening;
      opening.then((box) => {
        // What it opened next to the session ends with it.
        void box.closed.then(forget).then(() => box.close().catch(() => undefined));
      }, forget);
      return opening;
    },
    close: async () => (await current?.catch(() => undefined))?.close(),
  };
}

async function callTool(
  name: string,
  input: unknown,
  run: (row: Tool, input: unknown) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const row = TOOLS.find((one) => one.name === name);
  if (row === undefined) return { text: `there is no tool ${name}`, isError: true };
  try {
    return await run(row, input);
  } catch (error) {
    if (error instanceof ZodError) return { text: z.prettifyError(error), isError: true };
    if (!(error instanceof Error)) throw error;
    const hint = error instanceof RunClaudeError && error.hint !== undefined ? `. ${error.hint}` : '';
    return { text: cleanText(error.message + hint), isError: true };
  }
}

function described({ name, description, input, isReadOnly }: Tool) {
  const { $schema: _schema, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  return {
    name,
    description,
    inputSchema: inputSchema as { type: 'object' },
    annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false },
  };
}
