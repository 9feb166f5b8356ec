import { expect, it } from 'vitest';
import { judgeRequest, type PreviewAddress, type RequestHead } from '../../../../src/network/preview/judge-request.ts';

const address: PreviewAddress = {
  host: '261121-140512-k7p.localhost',
  hostPort: 3000,
  token: 'secret-of-this-session',
  ports: [3000, 8080],
};
const HOST = ['Host', '261121-140512-k7p.localhost:3000'];
const COOKIE = ['Cookie', 'theme=dark; run-claude-token=secret-of-this-session; lang=en'];

function judge(headers: readonly string[], head: Partial<RequestHead> = {}) {
  return judgeRequest(
    { method: 'GET', target: '/', rawHeaders: headers, isUpgrade: false, isForeign: false, ...head },
    address,
  );
}

const statusOf = (...words: Parameters<typeof judge>): number => {
  const judgement = judge(...words);
  return judgement.kind === 'refused' ? judgement.status : 0;
};

it('passes a request with the token, and keeps the token from the program', () => {
  const judgement = judge([...HOST, ...COOKIE, 'Accept', '*/*']);
  expect(judgement).toEqual({
    kind: 'pass',
    headers: [...HOST, 'Accept', '*/*', 'Cookie', 'theme=dark; lang=en', 'Connection', 'close'],
  });
});

it.each([
  ['127.0.0.1', ['Host', '127.0.0.1:3000']],
  ['localhost', ['Host', 'localhost:3000']],
  ['a name that now has the address of this machine', ['Host', 'attacker.example:3000']],
  ['another session', ['Host', '261121-140512-zzz.localhost:3000']],
  ['another port', ['Host', '261121-140512-k7p.localhost:3001']],
  ['two names', [...HOST, ...HOST]],
  ['no name', []],
])('refuses a request to %s', (_what, host) => {
  expect(statusOf([...host, ...COOKIE])).toBe(421);
});

it.each([
  ['no cookie', []],
  ['another token', ['Cookie', 'run-claude-token=secret-of-that-session']],
  ['the start of the token', ['Cookie', 'run-claude-token=secret-of-this-sessio']],
  ['the token under another name', ['Cookie', 'token=secret-of-this-session']],
])('refuses a request with %s', (_what, cookie) => {
  expect(statusOf([...HOST, ...cookie])).toBe(403);
});

it('finds the token next to a cookie of the same name that the page has set for a path', () => {
  const cookies = ['Cookie', 'run-claude-token=of-the-page; run-claude-token=secret-of-this-session'];
  expect(judge([...HOST, ...cookies]).kind).toBe('pass');
});

it.each([
  ['a page of another site', ['Sec-Fetch-Site', 'cross-site']],
  ['a page of another site, in an older browser', ['Origin', 'http://attacker.example']],
  ['another session', ['Origin', 'http://261121-140512-zzz.localhost:3000']],
  [
    'another program at this host name',
    ['Origin', 'http://261121-140512-k7p.localhost:9000', 'Sec-Fetch-Site', 'same-site'],
  ],
  ['a script of another program at this host name', ['Sec-Fetch-Site', 'same-site']],
  ['a page with another scheme', ['Origin', 'https://261121-140512-k7p.localhost:3000']],
  ['a sandboxed frame', ['Origin', 'null', 'Sec-Fetch-Site', 'cross-site']],
  ['a sandboxed frame, in an older browser', ['Origin', 'null']],
  ['two origins', ['Origin', 'http://261121-140512-k7p.localhost:3000', 'Origin', 'http://attacker.example']],
  ['a site that no browser names', ['Sec-Fetch-Site', 'sibling']],
])('refuses a request from %s, with the token too', (_what, headers) => {
  expect(statusOf([...HOST, ...COOKIE, ...headers])).toBe(403);
  expect(statusOf([...HOST, ...headers], { target: '/?run-claude-token=secret-of-this-session' })).toBe(403);
});

it.each([
  ['itself', ['Origin', 'http://261121-140512-k7p.localhost:3000', 'Sec-Fetch-Site', 'same-origin']],
  ['another port of the session', ['Origin', 'http://261121-140512-k7p.localhost:8080', 'Sec-Fetch-Site', 'same-site']],
  [
    'a script tag on another port of the session',
    ['Referer', 'http://261121-140512-k7p.localhost:8080/a', 'Sec-Fetch-Site', 'same-site'],
  ],
  ['a form without a referrer', ['Origin', 'null', 'Sec-Fetch-Site', 'same-origin']],
  ['the address bar', ['Sec-Fetch-Site', 'none']],
])('passes a request of %s', (_what, headers) => {
  expect(judge([...HOST, ...COOKIE, ...headers]).kind).toBe('pass');
});

it('refuses a program of another user of this machine, with the token too', () => {
  expect(statusOf([...HOST, ...COOKIE], { isForeign: true })).toBe(403);
  expect(statusOf(HOST, { isForeign: true, target: '/?run-claude-token=secret-of-this-session' })).toBe(403);
});

it('takes the token from the address once, and sends the browser on without it', () => {
  const judgement = judge(HOST, { target: '/shop?page=2&run-claude-token=secret-of-this-session' });
  expect(judgement).toEqual({
    kind: 'enter',
    location: 'http://261121-140512-k7p.localhost:3000/shop?page=2',
    cookie: 'run-claude-token=secret-of-this-session; Path=/; HttpOnly; SameSite=Strict',
  });
});

it('sends the browser to no other host, whatever the path is', () => {
  const judgement = judge(HOST, { target: '//attacker.example/?run-claude-token=secret-of-this-session' });
  expect(judgement.kind === 'enter' && new URL(judgement.location).host).toBe('261121-140512-k7p.localhost:3000');
});

it.each(['//', '//[', '//:x', '//[::1', '/%', '/\\\\x'])('answers the path %s, with a token or without', (target) => {
  expect(judge([...HOST, ...COOKIE], { target }).kind).toBe('pass');
  expect(statusOf(HOST, { target })).toBe(403);
});

it.each([
  ['Service-Worker', 'script'],
  ['Sec-Fetch-Dest', 'serviceworker'],
])('refuses a service worker, which would answer without the policy (%s)', (...header) => {
  expect(statusOf([...HOST, ...COOKIE, ...header, 'Sec-Fetch-Site', 'same-origin'])).toBe(403);
});

it.each([
  ['an address instead of a path', { target: 'http://127.0.0.1:22/' }, 400],
  ['a star', { target: '*', method: 'OPTIONS' }, 400],
  ['a tunnel', { method: 'CONNECT' }, 405],
  ['an echo of its headers', { method: 'TRACE' }, 405],
  ['HTTP/2 on the same connection', { isUpgrade: true, rawHeaders: [...HOST, ...COOKIE, 'Upgrade', 'h2c'] }, 400],
])('refuses a request for %s', (_what, head, status) => {
  expect(statusOf([...HOST, ...COOKIE], head)).toBe(status);
});

it('passes on what belongs to no connection, and a WebSocket as one', () => {
  const own = [
    'Connection',
    'Upgrade, X-Hop',
    'Upgrade',
    'websocket',
    'X-Hop',
    '1',
    'Proxy-Authorization',
    'x',
    'TE',
    'x',
  ];
  const judgement = judge([...HOST, ...COOKIE, ...own, 'Sec-WebSocket-Key', 'k'], { isUpgrade: true });
  expect(judgement).toEqual({
    kind: 'pass',
    headers: [
      ...HOST,
      ...['Sec-WebSocket-Key', 'k', 'Cookie', 'theme=dark; lang=en', 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
    ],
  });
});

it('frames a body of unknown length anew', () => {
  const judgement = judge([...HOST, ...COOKIE, 'Transfer-Encoding', 'gzip, chunked'], { method: 'POST' });
  expect(judgement.kind === 'pass' && judgement.headers.join(' ')).toMatch(
    /Transfer-Encoding chunked Connection close$/,
  );
});
