import { expect, it } from 'vitest';
import { endsTls } from '../../../../../src/network/gateway/agent-side.ts';
import { resolveBrokers } from '../../../../../src/network/gateway/rules/brokers.ts';
import { checkMcpServer } from '../../../../../src/network/gateway/rules/mcp-servers.ts';

const check = (url: string, more: object = {}) => checkMcpServer({ name: 'a', url, ...more });

it('takes https, and a port of this machine’s loopback', () => {
  for (const url of [
    'https://a.test/mcp',
    'http://127.0.0.1:8931/mcp',
    'http://localhost:1024/',
    'http://localhost:8931',
  ])
    expect(() => check(url)).not.toThrow();
});

it.each([
  ['http://a.test/mcp'],
  ['http://169.254.169.254:8080/latest'],
  ['http://[::1]:8931/mcp'],
  ['http://[fe80::1]:8931/mcp'],
  ['http://127.0.0.2:8931/mcp'],
  ['http://0.0.0.0:8931/mcp'],
  ['http://10.0.0.1:8931/mcp'],
  ['http://localhost.a.test:8931/mcp'],
  ['http://localhost:8931@a.test/mcp'],
  ['http://me@localhost:8931/mcp'],
  ['http://localhost/mcp'],
  ['http://127.0.0.1:22/mcp'],
  ['http://127.0.0.1:70000/mcp'],
  ['http://127.0.0.1:47801/mcp'],
  ['http://127.0.0.1:8931/mcp?key=1'],
  ['http://127.0.0.1:8931/a/../mcp'],
  ['https://127.0.0.1:8931/mcp'],
])('refuses %s', (url) => expect(() => check(url)).toThrow(/\[\[mcp\]\] a/));

it('refuses what only a server behind the gateway has', () => {
  for (const more of [{ oauth: true }, { header: 'A', from: ['x'] }, { tools: ['t'] }])
    expect(() => check('http://127.0.0.1:8931/mcp', more)).toThrow('no secret, no login and no list of tools');
});

it('reads no requests to a server of this machine', async () => {
  const mcpServers = [{ name: 'a', url: 'http://127.0.0.1:8931/mcp' }];
  expect(endsTls({ brokers: [], mcpServers })).toBe(false);
  expect(await resolveBrokers({ brokers: [], mcpServers })).toEqual([]);
  const both = [...mcpServers, { name: 'b', url: 'https://b.test/mcp' }];
  expect(endsTls({ brokers: [], mcpServers: both })).toBe(true);
  expect((await resolveBrokers({ brokers: [], mcpServers: both })).map(({ host }) => host)).toEqual(['b.test']);
});
