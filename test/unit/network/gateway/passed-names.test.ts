import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../../images/gateway/certificate.mjs';
import { passedNames, refusedParameter } from '../../../../images/gateway/passed-names.mjs';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import { checkBrokers, resolveBrokers } from '../../../../src/network/gateway/rules/brokers.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';

// What passes besides the method and the path that a rule names: through the real program, to a server that keeps the
// bytes. The rules are of a configuration file.

const HOSTS = ['narrow.test', 'wide.test', 'named.test', 'free.test'];
const RULES = `
[[broker]]
host = "narrow.test"
header = "Private-Token"
from = ["echo", "users-own-token-51c0"]
requests = ["POST /issues/**", "GET /issues/**"]

[[broker]]
host = "wide.test"
header = "Private-Token"
from = ["echo", "users-own-token-51c0"]
methods = ["GET", "POST"]

[[broker]]
host = "named.test"
header = "Private-Token"
from = ["echo", "users-own-token-51c0"]
requests = ["POST /issues"]
parameters = ["title", "due.date"]
headers = ["X-Trace"]
content-types = ["text/plain"]

[[allow]]
host = "free.test"
requests = ["POST /issues"]
`;
const company = createCa(Date.now());
const servers: Server[] = [];
let arrived: string[] = [];
let gateway: GatewayProcess;

async function listen(host: string): Promise<number> {
  const server = createTlsServer(createHostCertificate(company, host, Date.now()), (socket) => {
    let bytes = '';
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        bytes += chunk.toString('latin1');
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0 || bytes.length < end + 4 + Number(/content-length: (\d+)/i.exec(bytes)?.[1] ?? 0)) return;
        arrived.push(bytes);
        socket.end('HTTP/1.1 200 OK\r\nset-cookie: session=of-the-user\r\ncontent-length: 4\r\n\r\nhere');
      });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.2', done));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const bundle = path.join(tmpdir(), `run-claude-passed-names-${process.pid}`);
  writeFileSync(bundle, '');
  const ports = await Promise.all(HOSTS.map(async (host) => [host, [`127.0.0.2@${await listen(host)}`]] as const));
  gateway = await GatewayProcess.start({
    config: {
      caBundle: bundle,
      extraCa: company.certificate,
      allowAddresses: ['127.0.0.2/32'],
      rules: HOSTS.map((host) => ({ host, from: 'test' })),
      brokers: await resolveBrokers(readConfigFile(RULES, 'test')),
      hosts: Object.fromEntries(ports),
    },
  });
  rmSync(bundle);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const server of servers) server.close();
});

beforeEach(() => {
  arrived = [];
});

const FORM = 'application/x-www-form-urlencoded';

/** What the agent gets for a POST. */
function post(host: string, target: string, type: string, body: string, more = ''): Promise<string> {
  const described = type === '' ? '' : `Content-Type: ${type}\r\n`;
  return gateway.sayInside(
    host,
    `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${described}Content-Length: ${body.length}\r\n${more}\r\n${body}`,
  );
}

describe('another method than the one that was judged', () => {
  const json = 'application/json';
  const attempts: [string, string, string, string, string?][] = [
    ['a query', '/issues/1?_method=DELETE', '', ''],
    ['a query with a blank before the name', '/issues/1?+_method=DELETE', '', ''],
    ['a query with a dot', '/issues/1?.method=DELETE', '', ''],
    ['a query with a bracket', '/issues/1?[method=DELETE', '', ''],
    ['a query with an encoded bracket', '/issues/1?%5Bmethod=DELETE', '', ''],
    ['an encoded letter', '/issues/1?_metho%64=DELETE', '', ''],
    ['an encoded blank', '/issues/1?%20_method=DELETE', '', ''],
    ['a NUL after the name', '/issues/1?_method%00x=DELETE', '', ''],
    ['a list', '/issues/1?_method[]=DELETE', '', ''],
    ['behind a parameter that passes', '/issues/1?page=1&_method=DELETE', '', ''],
    ['behind a semicolon', '/issues/1?page=1;_method=DELETE', '', ''],
    ['behind a second question mark', '/issues/1?page=1?_method=DELETE', '', ''],
    ['behind a member without end', '/issues/1?page[a=1&_method=DELETE', '', ''],
    ['other names', '/issues/1?httpMethod=DELETE', '', ''],
    ['another user', '/issues/1?sudo=root', '', ''],
    ["the agent's own token", '/issues/1?private_token=mine', '', ''],
    ['a form', '/issues/1', FORM, '_method=DELETE'],
    ['a form with a blank', '/issues/1', FORM, 'page=1&+_method=DELETE'],
    ['a form with a dot', '/issues/1', `${FORM}; charset=UTF-8`, '.method=DELETE'],
    ['a form in another charset', '/issues/1', `${FORM}; charset=utf-7`, 'page=1'],
    ['a form of parts', '/issues/1', 'multipart/form-data; boundary=b', '--b\r\n\r\n_method\r\n--b--'],
    ['a body without a type', '/issues/1', '', '_method=DELETE'],
    ['a body with two types', '/issues/1', json, '{}', `Content-Type: ${FORM}\r\n`],
    ['two types, one with an underscore', '/issues/1', json, '{}', `Content_Type: ${FORM}\r\n`],
    ['an encoded form', '/issues/1', FORM, 'page=1', 'Content-Encoding: gzip\r\n'],
    ['JSON', '/issues/1', json, '{"_method":"DELETE"}'],
    ['JSON with an escape', '/issues/1', json, '{"\\u005fmethod":"DELETE"}'],
    ['JSON of another kind', '/issues/1', 'application/vnd.api+json', '{"X-HTTP-Method-Override":"DELETE"}'],
    ['what is not JSON', '/issues/1', json, '{"a":1,}'],
    ['JSON in another charset', '/issues/1', 'application/json; charset=utf-16', '{}'],
    ['a plain text', '/issues/1', 'text/plain', '_method=DELETE'],
    ["git's type at another address", '/issues/1', 'application/x-git-receive-pack-request', '_method=DELETE'],
  ];
  it.each(attempts)('is refused in %s', async (_, target, type, body, more) => {
    for (const host of ['narrow.test', 'wide.test']) {
      const answer = await post(host, target, type, body, more);
      expect([host, answer]).toEqual([host, expect.stringMatching(/ 40[03] [\s\S]*run-claude: /)]);
    }
    expect(arrived).toEqual([]);
  });
});

it('passes parameters, forms and JSON of common APIs as they are', async () => {
  const passing: [string, string, string][] = [
    ['/issues/1?per_page=5&labels[]=a%20b&labels%5B%5D=c&filter[author][name]=x&q=a+b:c', '', ''],
    ['/issues/1?$top=5&recursive&ref=refs/heads/main', '', ''],
    ['/issues/1', FORM, 'labels=a, b&q={"x": 1}?'],
    ['/issues/1', 'application/json; charset=utf-8', '{"title":"a","method":"x","big":12345678901234567890}'],
    ['/issues/1', 'application/merge-patch+json', '[{"_method":"is a member of a member"}]'],
    ['/issues/1', 'application/octet-stream', '_method=DELETE'],
    ['/issues/1', '', ''],
  ];
  for (const [target, type, body] of passing)
    expect([target, body, await post('narrow.test', target, type, body)]).toEqual([
      target,
      body,
      expect.stringContaining('here'),
    ]);
  expect(arrived.map((one) => one.split('\r\n\r\n')[1])).toEqual(passing.map(([, , body]) => body));
  expect(arrived.map((one) => one.split(' ')[1])).toEqual(passing.map(([target]) => target));
  const types = arrived.map((one) => /^content-type: (.*)\r$/im.exec(one)?.[1]);
  expect(types).toEqual([
    ...[undefined, undefined, FORM, 'application/json', 'application/merge-patch+json', 'application/octet-stream'],
    undefined,
  ]);
});

it.each(['narrow.test', 'wide.test', 'free.test'])(
  'passes no header to %s by which the agent is another user, or asks for another request',
  async (host) => {
    const mine = [
      ...[
        'Sudo: root',
        'X-Method: DELETE',
        'X-HTTP-Method-Override: DELETE',
        'X-HTTP-Method: DELETE',
        'X_Method: DELETE',
      ],
      ...['Authorization: Bearer mine', 'authorization: Basic mine', 'Job-Token: mine', 'Private-Token: mine'],
      ...[
        'private_token: mine',
        'PRIVATE-TOKEN: mine',
        'Deploy-Token: mine',
        'X-Api-Key: mine',
        'X-Gitlab-Token: mine',
      ],
      ...['X-Redmine-Switch-User: mine', 'X-Forwarded-User: mine', 'Remote-User: mine', 'Cookie: a=mine'],
      ...['X-Original-URL: /mine', 'X-Rewrite-Url: /mine', 'X-Forwarded-Host: mine', 'Referer: /mine', 'Origin: mine'],
      ...['Proxy-Authorization: mine', 'X-Anything-New: mine', 'Via: mine', 'Expect: 100-continue'],
    ];
    const good = ['Accept: */*', 'User-Agent: curl', 'If-Match: "e"', 'X-GitHub-Api-Version: 2022-11-28'];
    const answer = await post(host, '/issues', 'application/json', '{}', [...mine, ...good, ''].join('\r\n'));
    expect(answer).toContain('here');
    expect(answer).not.toContain('of-the-user');
    const [head = ''] = (arrived[0] ?? '').split('\r\n\r\n');
    const [, ...lines] = head.split('\r\n');
    expect(lines.map((line) => line.toLowerCase()).sort()).toEqual(
      [
        ...[`host: ${host}`, ...good, 'content-type: application/json', 'content-length: 2', 'connection: close'],
        ...(host === 'free.test' ? [] : ['private-token: users-own-token-51c0']),
      ]
        .map((line) => line.toLowerCase())
        .sort(),
    );
  },
);

it('passes what the rule names in addition, and its refusals say what would have to be named', async () => {
  const named = await post('named.test', '/issues?title=a', FORM, 'title=b&due.date=c', 'X-Trace: t\r\nX-Other: o\r\n');
  expect(named).toContain('here');
  expect(arrived[0]).toMatch(/x-trace: t\r\n/i);
  expect(arrived[0]).not.toMatch(/x-other/i);
  expect(await post('named.test', '/issues', 'text/plain', '_method=DELETE')).toContain('here');
  expect(await post('named.test', '/issues?titles=a', '', '')).toContain('the parameter "titles" is not among those');
  expect(await post('named.test', '/issues', FORM, 'titles=a')).toContain('the parameter "titles" is not among those');
  expect(await post('named.test', '/issues', 'text/html', 'a')).toContain(
    'the content-type text/html is not among those',
  );
});

it('accepts no name in a rule that would choose another method, host or user', () => {
  const rule = { host: 'api.test', header: 'X-Key', from: ['true'], methods: ['GET'] };
  const check = (also: object) => () => checkBrokers({ brokers: [{ ...rule, ...also }], allowRequests: [] });
  expect(check({ parameters: ['due.date', '$x', 'a-b'], headers: ['X-Trace', 'traceparent'] })).not.toThrow();
  for (const name of ['_method', '', 'a b', 'a&b', '*', 'a[b]', '%61', 'x-http-method-override'])
    expect(check({ parameters: [name] }), name).toThrow('parameters cannot have');
  for (const name of [
    'Sudo',
    'authorization',
    'Cookie',
    'X-KEY',
    'Job-Token',
    'x-api-key',
    'Host',
    'content-type',
    'X-Method',
    'x-forwarded-host',
    'a:b',
    'Upgrade',
    '',
  ])
    expect(check({ headers: [name] }), name).toThrow('headers cannot have');
  for (const type of ['text', 'text/*', 'text/plain; charset=utf-8'])
    expect(check({ contentTypes: [type] }), type).toThrow('content-types cannot have');
  // Without a secret the agent may be itself, where its rule says so.
  const allow = { host: 'api.test', requests: ['GET /x'], headers: ['Authorization'] };
  expect(() => checkBrokers({ brokers: [], allowRequests: [allow] })).not.toThrow();
});

it('has no name on its own lists that chooses another method, user or token', () => {
  const { parameters, headers } = passedNames({});
  for (const name of [...parameters, ...headers])
    expect(name).not.toMatch(
      /method|(?<!page_?|next_)token$|auth(?!or)|secret|password|sudo|user$|cookie|api.?key|forward|host/i,
    );
  expect(refusedParameter('page=1&page=2', parameters, 'query')).toBeUndefined();
  expect(refusedParameter('', parameters, 'query')).toContain('""');
});

it('passes the names of the reference, and no others', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/reference/network.md'), 'utf8');
  const section = page.split('## What passes with a request')[1]?.split('\n## ')[0] ?? '';
  const [parameters, headers, types] = [...section.matchAll(/```text\n([\s\S]*?)```/g)].map(([, text = '']) =>
    text.trim().split(/\s+/).sort(),
  );
  const { parameters: passed, ...others } = passedNames({ mcp: {} });
  expect([parameters, headers, types]).toEqual([
    [...passed].sort(),
    [...others.headers].sort(),
    ['application/*+json', 'application/json', FORM, ...others.types].sort(),
  ]);
});
