import { expect, it } from 'vitest';
import { passedResponseHeaders } from '../../../../src/network/preview/judge-response.ts';

const address = { host: 'k7p.localhost', hostPort: 3000, token: 't', ports: [3000, 8080] };

function passed(headers: readonly string[], allowedHosts: readonly string[] = []): [string, string][] {
  const raw = passedResponseHeaders(headers, address, allowedHosts);
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as [string, string]] : []));
}

const valuesOf = (name: string, ...words: Parameters<typeof passed>): string[] =>
  passed(...words).flatMap(([one, value]) => (one === name ? [value] : []));

it('keeps a cookie to the host name of the page', () => {
  const cookies = ['Set-Cookie', 'a=1; Path=/; Domain=localhost; HttpOnly', 'set-cookie', 'b=2; domain = .localhost'];
  expect(valuesOf('set-cookie', cookies)).toEqual(['a=1; Path=/; HttpOnly', 'b=2']);
});

it('lets no page replace the token', () => {
  const cookies = [
    'Set-Cookie',
    'run-claude-token=x; Path=/a',
    'Set-Cookie',
    ' run-claude-token =x',
    'Set-Cookie',
    'c=3',
  ];
  expect(valuesOf('set-cookie', cookies)).toEqual(['c=3']);
});

it("adds a policy to the page's own that names the session's pages alone", () => {
  const policies = valuesOf('content-security-policy', ['Content-Security-Policy', "script-src 'self'"]);
  expect(policies[0]).toBe("script-src 'self'");
  expect(policies[1]).toContain(
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: http://k7p.localhost:3000 http://k7p.localhost:8080 " +
      'ws://k7p.localhost:3000 ws://k7p.localhost:8080;',
  );
  expect(policies[1]).toContain('form-action http://k7p.localhost:3000 http://k7p.localhost:8080;');
  expect(policies[1]).not.toMatch(/\*|https:/);
});

it('names hosts that the user allowed, and nothing that is not a host', () => {
  const [policy] = valuesOf(
    'content-security-policy',
    [],
    ['fonts.example.org', '*.cdn.example:8443', "x; script-src '*'"],
  );
  expect(policy).toContain('https://fonts.example.org https://*.cdn.example:8443;');
  expect(policy).not.toContain('x; script-src');
});

it('leaves no way to report to another address', () => {
  const policy = "default-src 'self'; report-uri https://attacker.example/?q; Report-To x, img-src a; report-to y";
  const headers = [
    ...['Content-Security-Policy', policy, 'Content-Security-Policy-Report-Only', policy],
    ...['Reporting-Endpoints', 'y="https://attacker.example"', 'Report-To', '{}', 'NEL', '{}'],
  ];
  const all = JSON.stringify(passed(headers));
  expect(all).not.toMatch(/attacker|report/i);
  expect(valuesOf('content-security-policy', headers)[0]).toBe("default-src 'self', img-src a");
});

it('drops what is about the connection, other addresses and permissions', () => {
  const headers = [
    ...['Connection', 'close', 'Transfer-Encoding', 'chunked', 'Alt-Svc', 'h2="attacker.example:443"'],
    ...[
      'Clear-Site-Data',
      '"cookies"',
      'Permissions-Policy',
      'camera=*',
      'Content-Type',
      'text/html',
      'Content-Length',
      '2',
    ],
  ];
  const names = passed(headers).map(([name]) => name);
  expect(names.slice(0, 2)).toEqual(['content-type', 'content-length']);
  expect(names).not.toContain('alt-svc');
  expect(valuesOf('permissions-policy', headers)[0]).toContain('camera=()');
});

it('passes on no header that makes the browser connect elsewhere by itself', () => {
  const headers = ['Link', '<https://evil.example>; rel=preconnect', 'Speculation-Rules', '"/r.json"', 'X-Own', '1'];
  expect(valuesOf('link', headers)).toEqual([]);
  expect(valuesOf('speculation-rules', headers)).toEqual([]);
  expect(valuesOf('x-own', headers)).toEqual(['1']);
});
