import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { bundleServer } from '../../../support/mcp-program/bundle.ts';
import { Scene } from '../../../support/scene.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// The real Claude Code, a stand-in of its provider, and a real MCP server (the SDK's, over stdio) that holds a secret.

const SECRET = 'token-REAL-SECRET-7b1f';
const call = (name: string) => ({ tools: [{ name: `mcp__box__${name}`, input: {} }] });
const HOSTILE = [
  'grep -rasl REAL[-]SECRET /proc/[0-9]*/environ /proc/[0-9]*/cmdline /home/agent /run /tmp > found.txt',
  'ls /run/run-claude/gw/sockets > sockets.txt 2>&1',
  'for s in server out; do curl -sS -m 3 --unix-socket /run/run-claude/gw/sockets/$s.sock http://x/mcp; done > direct.txt 2>&1',
  'curl -sS -m 20 -o /dev/null -w "%{http_code}\\n" https://box.mcp.internal/other > other.txt 2>&1',
  'curl -sS -m 20 -o /dev/null -w "%{http_code}\\n" http://box.mcp.internal/mcp > plain.txt 2>&1',
  'true',
].join('; ');

it('an MCP server with a secret runs next to the agent, which can call its named tools and reach nothing else of it', async () => {
  const standIn = await startMessagesApi({
    turns: [
      call('facts'),
      call('delete_all'),
      { tools: [{ name: 'Bash', input: { command: HOSTILE, description: 'step' } }] },
      { text: 'It is over.' },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-test' });
  const directory = await bundleServer(path.join(scene.root, 'server'));
  const read = (name: string): string => readFileSync(path.join(scene.project, name), 'utf8');
  writeFileSync(path.join(scene.root, 'token'), SECRET, { mode: 0o600 });
  mkdirSync(path.join(scene.root, 'config/run-claude'), { recursive: true });
  try {
    const secret = `API_TOKEN=cat '${scene.root}/token'`;
    const add = [
      'mcp',
      'add',
      'box',
      '--directory',
      directory,
      '--secret',
      secret,
      '--tool',
      'facts',
      '--',
      'node',
      'server.mjs',
    ];
    const added = await scene.run(add);
    expect(added.status, added.stderr).toBe(0);
    const result = await scene.run(['--copy-workspace', '--auto-apply', scene.project, '-p', 'work']);
    expect(result.stdout, result.stderr).toContain('It is over.');
    const asked = JSON.stringify(standIn.requests.map(({ body }) => body));
    const facts = /\{\\+"secret\\+":[^}]*\}/.exec(asked)?.[0].replaceAll('\\', '') ?? '{}';
    expect(JSON.parse(facts)).toEqual({
      secret: SECRET.length,
      workspace: false,
      home: false,
      interfaces: ['lo'],
      changesItself: false,
      provider: false,
    });
    expect(asked).toContain('the tool delete_all is not allowed');
    expect(asked).not.toContain('everything is deleted');
    expect(read('found.txt')).toBe('');
    expect(read('direct.txt')).not.toMatch(/jsonrpc|HTTP/);
    expect(read('other.txt')).toBe('403\n');
    expect(read('plain.txt')).toBe('403\n');
    expect(asked).not.toContain(SECRET);
    const log = await scene.run(['network', '--json']);
    expect(log.stdout).not.toContain(SECRET);
    const left = scene.shell(
      'docker ps -a --format "{{.Names}}" | grep companion || true; docker volume ls -q | grep companion || true',
    );
    expect(left.split('\n').filter((name) => name.includes(path.basename(scene.root)))).toEqual([]);
  } finally {
    await standIn.close();
  }
});
