import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../../../support/scene.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

async function clientOf(scene: Scene) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [mainJs, 'mcp', 'serve', '--yes', scene.project],
    env: { ...scene.env },
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (piece: Buffer) => {
    stderr += piece.toString('utf8');
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return {
    call: async (name: string, args: object = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: { ...args } }, undefined, {
        timeout: 300_000,
      });
      return { text: (content as { text: string }[])[0]?.text ?? '', isError: isError === true };
    },
    stderr: () => stderr,
    close: () => client.close(),
  };
}

it('an MCP client works in a copy, a link leads nowhere on the host, and a review is asked for once', async () => {
  await using scene = new Scene();
  const before = scene.fingerprint();
  const secret = path.join(scene.home, 'secret.txt');
  writeFileSync(secret, 'SECRET-OF-THE-HOST\n');
  const one = await clientOf(scene);
  expect((await one.call('bash', { command: 'pwd; cat README.md' })).text).toContain('/workspace\n# sample');
  await one.call('write', { path: 'src/new.txt', content: 'one\ntwo\n' });
  await one.call('edit', { path: '/workspace/src/new.txt', before: 'two', after: 'three' });
  expect((await one.call('read', { path: 'src/new.txt' })).text).toBe('     1\tone\n     2\tthree');
  expect((await one.call('glob', { pattern: 'src/new*' })).text).toBe('src/new.txt');
  expect((await one.call('grep', { pattern: 'thre+' })).text).toContain('src/new.txt:2:three');
  expect((await one.call('diff', { path: 'src' })).text).toContain(
    'created src/new.txt\n@@ -0,0 +1,2 @@\n+one\n+three',
  );
  expect((await one.call('status')).text).toContain('created src/new.txt');

  await one.call('bash', { command: `ln -s ${secret} link; ln -s ${scene.project} project` });
  for (const name of [
    'link',
    secret,
    `../../../../..${secret}`,
    'project/README.md',
    path.join(scene.project, 'README.md'),
  ]) {
    const read = await one.call('read', { path: name });
    expect(read, name).toMatchObject({ isError: true });
    expect(read.text).not.toContain('SECRET');
  }
  // Inside, the link leads to a file that does not exist: one is made there, not on the host.
  await one.call('write', { path: 'link', content: 'from inside' });
  expect(readFileSync(secret, 'utf8')).toBe('SECRET-OF-THE-HOST\n');

  for (let at = 0; at < 30; at++) await one.call('propose', { summary: `please\u001b[31m ${at}` });
  expect(one.stderr().split('\n').length).toBeLessThan(20);
  await one.close();
  const listed = (await scene.run(['sessions'])).stdout;
  expect(listed.match(/asks for a review/g)).toHaveLength(1);
  expect(listed).toContain('please\\x1b[31m 29');

  // The next client finds the same environment; after `down` the next call opens another.
  const two = await clientOf(scene);
  expect((await two.call('bash', { command: 'cat src/new.txt' })).text).toContain('three');
  expect(scene.fingerprint()).toBe(before);
  expect((await scene.run(['down'])).status).toBe(120);
  expect((await two.call('bash', { command: 'cat src/new.txt' })).text).toContain('No such file');
  await two.close();
  await scene.run(['down']);
  expect(scene.fingerprint()).toBe(before);
  const [, session] = JSON.parse((await scene.run(['sessions', '--all', '--json'])).stdout);
  // The links that lead out are held back.
  expect((await scene.run(['apply', session.id, '--yes', '--only', 'src/*'])).status).toBe(121);
  expect(scene.git('status', '--porcelain')).toBe('?? src/new.txt\n');
});

it('Claude Code on the host as the client: its calls land in the copy, and it can only propose', async () => {
  const turns = [
    { text: 'one', tools: [{ name: 'mcp__box__bash', input: { command: 'echo by-claude > claude.txt; hostname' } }] },
    { text: 'two', tools: [{ name: 'mcp__box__propose', input: { summary: 'a file of Claude' } }] },
    { text: 'all done' },
  ];
  const standIn = await startMessagesApi({ turns });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  const dir = mkdtempSync(path.join(tmpdir(), 'claude-of-host-'));
  try {
    const image = (await scene.run(['build'])).stdout.trim();
    const container = execFileSync('docker', ['create', image], { encoding: 'utf8' }).trim();
    execFileSync('docker', ['cp', `${container}:/opt/claude/package/claude`, path.join(dir, 'claude')]);
    execFileSync('docker', ['rm', container]);
    const server = {
      command: process.execPath,
      args: [mainJs, 'mcp', 'serve', '--yes', scene.project],
      env: scene.env,
    };
    const config = path.join(dir, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { box: server } }));
    const words = ['-p', 'work', '--mcp-config', config, '--strict-mcp-config'];
    const allowed = ['--allowedTools', 'mcp__box__bash,mcp__box__propose'];
    const child = spawn(path.join(dir, 'claude'), [...words, ...allowed], {
      cwd: scene.project,
      env: {
        ...scene.env,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        MCP_TIMEOUT: '120000',
        MCP_TOOL_TIMEOUT: '300000',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (piece: Buffer) => {
        out += piece.toString('utf8');
      });
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect([status, out]).toEqual([0, expect.stringContaining('all done')]);
  } finally {
    await standIn.close();
    rmSync(dir, { recursive: true, force: true });
  }
  const results = JSON.stringify(standIn.requests);
  expect(results).toMatch(/sandbox\\+n\[exit status 0\]/);
  expect(existsSync(path.join(scene.project, 'claude.txt'))).toBe(false);
  expect((await scene.run(['sessions'])).stdout).toContain('asks for a review: a file of Claude');
  expect((await scene.run(['down', '--auto-apply'])).status).toBe(0);
  expect(readFileSync(path.join(scene.project, 'claude.txt'), 'utf8')).toBe('by-claude\n');
});
