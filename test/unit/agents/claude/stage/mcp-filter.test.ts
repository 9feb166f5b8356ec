import { expect, it } from 'vitest';
import { filterServers } from '../../../../../src/agents/claude/stage/mcp-filter.ts';

const npx = (...args: unknown[]) => ({ command: 'npx', args });

it('servers that can run inside and hold no secret are staged unchanged', () => {
  const servers = {
    everything: npx('-y', '@modelcontextprotocol/server-everything@2025.9.12', '--port', '8080'),
    long: npx('some-package-with-a-long-name-2', 'stdio'),
    script: { command: 'python3', args: ['-m', 'server'], env: {} },
    bare: { command: 'node' },
    remote: { type: 'http', url: 'https://mcp.example.org/mcp' },
    local: npx('--url=http://127.0.0.1:3000/x'),
  };
  expect(filterServers(servers)).toEqual({ servers, leftOut: [], offers: [] });
  expect(filterServers(undefined)).toEqual({ servers: {}, leftOut: [], offers: [] });
});

it('other servers are left out, each with the reason', () => {
  const secret = 'its arguments may hold a secret';
  const cases: [server: unknown, why: string][] = [
    ['text', 'not understood'],
    [{}, 'not understood'],
    [{ command: ['npx'] }, 'not understood'],
    [npx('a', 7), 'not understood'],
    [{ command: '/usr/local/bin/mine' }, 'its program is not in the image'],
    [{ ...npx('a'), env: { A: 'b' } }, 'has environment values, which may be secrets'],
    [{ url: 'https://a.example', headers: {} }, 'has headers or a login, which may be secrets'],
    [{ url: 'https://a.example', headersHelper: 'x' }, 'has headers or a login, which may be secrets'],
    [{ url: 'https://a.example', oauth: {} }, 'has headers or a login, which may be secrets'],
    [{ url: 'https://me@a.example' }, 'its address may hold a secret'],
    [{ url: 'https://:pw@a.example' }, 'its address may hold a secret'],
    [{ url: 'https://a.example?k=1' }, 'its address may hold a secret'],
    [{ url: 'no address' }, 'its address may hold a secret'],
    [{ url: 'https://a.example/#k' }, 'its address may hold a secret'],
    [{ url: 'https://a.example/s/a1b2c3d4e5f6a7b8c9/mcp' }, 'its address may hold a secret'],
    [npx('/home/me/server.js'), 'points at a path of the host'],
    [npx('~/server.js'), 'points at a path of the host'],
    [npx('C:\\server.js'), 'points at a path of the host'],
    [npx('--dir=/srv'), 'points at a path of the host'],
    [npx('--api-key', 'x'), secret],
    [npx('--github-token=x'), secret],
    [npx('Authorization: Bearer x'), secret],
    [npx('ghp_0123'), secret],
    [npx('sk-ant-x'), secret],
    [npx('--k=sk-ant-x'), secret],
    [npx('postgres://me:pw@db.example/x'), secret],
    [npx('--db=postgres://me:pw@db.example/x'), secret],
    [npx('--k=A1b2C3d4E5f6G7h8I9j0'), secret],
    [npx('A1b2C3d4E5f6G7h8I9j0K1=='), secret],
  ];
  for (const [server, why] of cases)
    expect(filterServers({ s: server }), JSON.stringify(server)).toMatchObject({
      servers: {},
      leftOut: [`s (${why})`],
    });
});

it('offers the command for a server that is left out only for its login, where it is safe to paste', () => {
  const offer = (name: string, url: string): readonly string[] =>
    filterServers({ [name]: { type: 'http', url, headers: { Authorization: 'Bearer x' } } }).offers;
  expect(offer('github', 'https://api.example.org/mcp/')).toEqual([
    "run-claude mcp add github --url https://api.example.org/mcp/ --from 'COMMAND'",
  ]);
  const url = 'https://docs.example.org/mcp';
  expect(filterServers({ docs: { type: 'http', url, oauth: { clientId: 'x' } } }).offers).toEqual([
    `run-claude mcp add docs --url ${url} --oauth`,
  ]);
  for (const url of [
    'https://a.example/s/a1b2c3d4e5f6a7b8c9/mcp',
    'https://a.example/?key=1',
    'http://a.example/',
    "https://a.example/';x",
    'https://me@a.example/',
  ])
    expect(offer('github', url), url).toEqual([]);
  expect(offer('a b; rm', 'https://a.example/')).toEqual([]);
});

it('leaves out without a word what a server of the gateway replaces', () => {
  const servers = { github: { type: 'http', url: 'https://a.example/', headers: {} }, other: { command: 'node' } };
  expect(filterServers(servers, { github: {} })).toEqual({
    servers: { other: servers.other },
    leftOut: [],
    offers: [],
  });
});

it('offers the command for a program that is left out only for its values, where it is safe to paste', () => {
  const offer = (server: object, name = 's'): readonly string[] => filterServers({ [name]: server }).offers;
  const env = { API_TOKEN: 'REAL', BASE: 'x' };
  expect(offer({ ...npx('-y', '@scope/server@1.0.0'), env })).toEqual([
    "run-claude mcp add s --secret 'API_TOKEN=COMMAND' --secret 'BASE=COMMAND' --host registry.npmjs.org -- npx -y @scope/server@1.0.0",
  ]);
  expect(offer({ command: 'node', env: { A: 'REAL' } })).toEqual(["run-claude mcp add s --secret 'A=COMMAND' -- node"]);
  expect(offer({ ...npx('/home/me/server.js'), env })).toEqual([]);
  expect(offer({ ...npx('--token', 'REAL'), env })).toEqual([]);
  expect(offer({ ...npx('a; touch /tmp/x'), env })).toEqual([]);
  expect(offer({ ...npx('a$(id)'), env })).toEqual([]);
  expect(offer({ ...npx('a'), env: { 'A=B; id; ': 'x' } })).toEqual([]);
  expect(offer({ ...npx('a'), env }, 'x; id')).toEqual([]);
  expect(offer({ command: 'mine', env })).toEqual([]);
  expect(JSON.stringify(filterServers({ s: { ...npx('a'), env } }))).not.toContain('REAL');
});
