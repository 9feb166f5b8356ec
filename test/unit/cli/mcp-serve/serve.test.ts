import { PassThrough } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, vi } from 'vitest';
import { serveTools } from '../../../../src/cli/mcp-serve/serve.ts';
import { MAX_ANSWER_CHARACTERS } from '../../../../src/cli/mcp-serve/tools.ts';
import type { Box, RunOptions } from '../../../../src/session/kept/box.ts';
import type { FileRequest } from '../../../../src/session/kept/requests.ts';

interface FakeBox {
  readonly box: Box;
  readonly asked: FileRequest[];
  readonly ran: { readonly argv: readonly string[]; readonly options: RunOptions | undefined }[];
  readonly proposed: string[];
  end(): void;
}

function fakeBox(id: string, output = ''): FakeBox {
  const [asked, ran, proposed]: [FileRequest[], FakeBox['ran'], string[]] = [[], [], []];
  let end: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const box: Box = {
    record: { id, project: '/home/user/project', plan: { policy: { network: 'gateway' } } } as unknown as Box['record'],
    async run(argv, options) {
      ran.push({ argv, options });
      const [stdout, stderr] = [Buffer.from(output), Buffer.from('')];
      return { status: 4, timedOut: false, stdout, stderr, droppedBytes: 0 };
    },
    async ask(request) {
      asked.push(request);
      return { text: `asked for ${request.kind}`, isCut: request.kind === 'grep' };
    },
    changes: async () => ({ changes: [], ignored: [] }),
    diff: async (wanted = () => true) => ({
      text: ['src/a.ts', 'src/b.ts', 'srcs'].filter(wanted).join(),
      isCut: false,
    }),
    propose(summary) {
      proposed.push(summary);
      return proposed.length === 1;
    },
    closed,
    close: vi.fn(async () => undefined),
  };
  return { box, asked, ran, proposed, end };
}

/** The SDK's client and the server over two pipes. */
async function served(openBox: () => Promise<Box>) {
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const over = new AbortController();
  const ended = serveTools({ version: '1.2.3', stdin: toServer, stdout: toClient, signal: over.signal, openBox });
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      toClient.on('data', (piece: Buffer) => {
        buffer.append(piece);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    send: async (message) => void toServer.write(serializeMessage(message)),
    close: async () => void toServer.end(),
  };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return {
    client,
    call: async (name: string, args: object = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: { ...args } });
      return { text: (content as { text: string }[])[0]?.text, isError };
    },
    async close() {
      await client.close();
      await ended;
    },
  };
}

describe('mcp serve', () => {
  it('lists ten tools with schemas, and opens nothing for that', async () => {
    const openBox = vi.fn(async () => fakeBox('one').box);
    const { client, close } = await served(openBox);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'open',
      'bash',
      'read',
      'write',
      'edit',
      'glob',
      'grep',
      'diff',
      'status',
      'propose',
    ]);
    for (const { inputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(description).toMatch(/\.$/);
    }
    expect(client.getServerVersion()).toMatchObject({ name: 'run-claude', version: '1.2.3' });
    await close();
    expect(openBox).not.toHaveBeenCalled();
  });

  it('passes each tool to one environment, which many calls open once', async () => {
    const fake = fakeBox('one', 'out\n');
    const openBox = vi.fn(async () => fake.box);
    const { call, close } = await served(openBox);
    const [opened, ran] = await Promise.all([call('open'), call('bash', { command: 'make', cwd: 'src' })]);
    expect(opened.text).toContain('run-claude down one');
    expect(ran).toEqual({ text: 'out\n[exit status 4]', isError: false });
    expect(fake.ran).toMatchObject([
      { argv: ['/bin/bash', '-c', 'make'], options: { cwd: 'src', timeoutMs: 120_000 } },
    ]);
    await call('read', { path: 'a', offset: 2 });
    await call('write', { path: 'a', content: 'b' });
    await call('edit', { path: 'a', before: 'b', after: 'c' });
    await call('glob', { pattern: '*' });
    expect((await call('grep', { pattern: 'x', ignore_case: true })).text).toBe('asked for grep\n[there is more]');
    expect(fake.asked.map(({ kind }) => kind)).toEqual(['read', 'write', 'edit', 'glob', 'grep']);
    expect(fake.asked.at(-1)).toMatchObject({ ignoreCase: true });
    expect((await call('diff', { path: '/workspace/src/' })).text).toBe('src/a.ts,src/b.ts');
    expect((await call('status')).text).toBe('session one, 0 changes so far');
    expect(openBox).toHaveBeenCalledTimes(1);
    await close();
  });

  it('opens another environment once the first has ended, and tries again after a failure', async () => {
    const [first, second] = [fakeBox('one'), fakeBox('two')];
    const results = [() => first.box, () => second.box];
    const openBox = vi.fn(async () => {
      if (openBox.mock.calls.length === 1) throw new Error('no engine answers');
      return (results.shift() ?? (() => second.box))();
    });
    const { call, close } = await served(openBox);
    expect(await call('open')).toEqual({ text: 'no engine answers', isError: true });
    expect((await call('open')).text).toContain('session one');
    first.end();
    await first.box.closed;
    expect((await call('open')).text).toContain('session two');
    expect([first, second].map(({ box }) => vi.mocked(box.close).mock.calls.length)).toEqual([1, 0]);
    await close();
  });

  it('refuses what does not fit the schema, and a tool that it does not have', async () => {
    const fake = fakeBox('one');
    const { call, close } = await served(async () => fake.box);
    for (const [name, args] of [
      ['bash', {}],
      ['bash', { command: 'x', timeout_ms: 1e12 }],
      ['read', { path: '' }],
      ['open', { project: '/etc' }],
      ['apply', {}],
      ['constructor', {}],
    ] as const)
      expect(await call(name, args), name).toMatchObject({ isError: true });
    expect([fake.ran, fake.asked]).toEqual([[], []]);
    await close();
  });

  it('hands no control characters on, from output, names or errors', async () => {
    const fake = fakeBox('one', 'a\tb\u001b[2Jc\nd\n');
    vi.spyOn(fake.box, 'ask').mockRejectedValue(new Error('no\u0007'));
    vi.spyOn(fake.box, 'changes').mockResolvedValue({
      changes: [{ kind: 'created', path: 'x\ny\u009b' }],
      ignored: [],
    } as unknown as Awaited<ReturnType<Box['changes']>>);
    const { call, close } = await served(async () => fake.box);
    expect((await call('bash', { command: 'x' })).text).toBe('a\tb\\x1b[2Jc\nd\n[exit status 4]');
    expect((await call('read', { path: 'x' })).text).toBe('no\\x07');
    expect((await call('status')).text).toContain('created x\\ny\\x9b');
    await close();
  });

  it('leaves the middle of a long output out, and says how much', async () => {
    const { call, close } = await served(async () => fakeBox('one', 'x'.repeat(100_000)).box);
    const { text = '' } = await call('bash', { command: 'x' });
    expect(text.length).toBeLessThan(MAX_ANSWER_CHARACTERS + 100);
    expect(text).toContain('[70000 characters left out]');
    await close();
  });
});
