import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { fixedCredential, GatewayProcess } from '../../../support/gateway-process.ts';

// The real program with a resolver of the test's own: both in a network namespace where nothing else is, the system's
// resolver library in between. Answers lead to a good server (127.0.0.2) or to a canary (127.0.0.1).

const STAND_IN = path.resolve(import.meta.dirname, '../../../support/stand-in/resolver.mjs');
const LIMITS = { connections: 512, bytesPerConnection: 1 << 30, headMs: 15_000, connectMs: 20_000, idleMs: 60_000 };

type Names = Record<string, { A?: readonly (string | readonly string[])[]; AAAA?: readonly string[]; CNAME?: string }>;
let dir = '';

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-resolver-'));
  writeFileSync(path.join(dir, 'resolv.conf'), 'nameserver 127.0.0.1\n');
});
afterEach(() => rmSync(dir, { recursive: true }));

function set(mode: string, names: Names): void {
  writeFileSync(path.join(dir, 'new'), JSON.stringify({ mode, names }));
  renameSync(path.join(dir, 'new'), path.join(dir, 'state'));
}

function start(hosts: readonly string[], more: Partial<GatewayConfig> = {}): Promise<GatewayProcess> {
  // The user's own namespace where the user is not root.
  const own = process.getuid?.() === 0 ? '-nmf' : '-rnmf';
  const script = `ip link set lo up && mount --bind ${dir}/resolv.conf /etc/resolv.conf || exit 9
    '${process.execPath}' '${STAND_IN}' '${dir}/state' & exec "$0" "$@"`;
  return GatewayProcess.start({
    credential: fixedCredential('real'),
    within: ['unshare', own, '--kill-child', 'sh', '-c', script],
    config: {
      rules: hosts.map((host) => ({ host, from: 'test' })),
      allowAddresses: ['127.0.0.2/32'],
      provider: { url: 'http://provider.test', relay: false },
      limits: LIMITS,
      ...more,
    },
  });
}

const get = (gateway: GatewayProcess, host: string): Promise<string> =>
  gateway.say(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

function ask(gateway: GatewayProcess): Promise<string> {
  return new Promise((done, failed) => {
    const out = request(
      { socketPath: path.join(gateway.dir, 'api.sock'), method: 'POST', path: '/v1/messages' },
      (answer) => {
        let text = `${answer.statusCode} `;
        answer.on('data', (part) => {
          text += part;
        });
        answer.on('end', () => done(text));
      },
    );
    out.on('error', failed);
    out.end('{"model":"m"}');
  });
}

it('a resolver that refuses, is silent, fails or returns nonsense gives a logged error in time, and later requests succeed', async () => {
  const names: Names = { 'up.test': { A: ['127.0.0.2'] }, 'provider.test': { A: ['127.0.0.2'] } };
  set('answer', names);
  await using gateway = await start(['up.test', 'missing.test'], { limits: { ...LIMITS, connectMs: 2000 } });
  await expect.poll(() => get(gateway, 'up.test')).toContain('good');
  await expect.poll(() => get(gateway, 'missing.test')).toMatch(/ 502 [\s\S]*missing\.test: there is no such name/);
  await expect.poll(() => ask(gateway)).toBe('200 good');
  for (const mode of ['refuse', 'silent', 'servfail', 'garbage']) {
    set(mode, names);
    const why = /up\.test: the resolver (fails|gives no answer)/;
    // A socket that is being closed may still answer.
    await expect.poll(() => get(gateway, 'up.test')).toMatch(/ 502 /);
    const before = gateway.entries().length;
    // More at once than there are threads to wait in.
    const [asked, ...answers] = await Promise.all([
      ask(gateway),
      ...Array.from({ length: 12 }, () => get(gateway, 'up.test')),
    ]);
    for (const answer of answers) expect([mode, answer]).toEqual([mode, expect.stringMatching(why)]);
    // The provider's connection of before is kept, so it may still be answered.
    expect([mode, asked]).toEqual([
      mode,
      expect.stringMatching(/^200 good|^502 .*can't be reached: provider\.test: the resolver/),
    ]);
    const logged = gateway
      .entries()
      .slice(before)
      .filter(({ kind }) => kind === 'http');
    expect(logged).toHaveLength(12);
    for (const entry of logged) {
      expect(entry).toMatchObject({ verdict: 'failed', host: 'up.test', why: expect.stringMatching(why) });
    }
    // By our own limit: the resolver library itself would wait longer, and then say that it failed.
    if (mode === 'silent') expect(answers.join('')).not.toContain('the resolver fails');
    set('answer', names);
    await expect.poll(() => get(gateway, 'up.test')).toContain('good');
    await expect.poll(() => ask(gateway)).toBe('200 good');
  }
  expect(gateway.pids).toHaveLength(1);
});

const hostile: Names = {
  'alias.test': { CNAME: 'private.test' },
  'private.test': { A: ['127.0.0.1'] },
  'mapped.test': { AAAA: ['::ffff:127.0.0.1'] },
  'compatible.test': { AAAA: ['::127.0.0.1'] },
  'translated.test': { AAAA: ['64:ff9b::7f00:1'] },
  'six.test': { AAAA: ['::1'] },
  'unspecified.test': { A: ['0.0.0.0'] },
  'unspecified6.test': { AAAA: ['::'] },
  'linklocal.test': { AAAA: ['fe80::1'] },
  'unique.test': { AAAA: ['fd00::1'] },
  'metadata.test': { A: ['169.254.169.254'] },
  'metadata6.test': { AAAA: ['fd00:ec2::254'] },
  'both.test': { A: ['127.0.0.2'], AAAA: ['::1'] },
  'many.test': { A: [...Array.from({ length: 20 }, () => '127.0.0.2'), '127.0.0.1'] },
};

it(`reaches nothing by ${Object.keys(hostile).length} hostile answers, nor by a name whose answer changes each time`, async () => {
  set('answer', { ...hostile, 'flips.test': { A: [['127.0.0.2'], ['127.0.0.1']] }, 'good.test': { A: ['127.0.0.2'] } });
  const rules = [...Object.keys(hostile), 'flips.test', 'good.test'];
  await using gateway = await start(rules);
  await expect.poll(() => get(gateway, 'good.test')).toContain('good');
  const answers = await Promise.all(Object.keys(hostile).map(async (host) => [host, await get(gateway, host)]));
  const through = answers.filter(([, text]) => !/ 403 [\s\S]* resolves to /.test(String(text)));
  expect(through).toEqual([]);
  const flips = await Promise.all(Array.from({ length: 40 }, () => get(gateway, 'flips.test')));
  expect(flips.filter((text) => text.includes('good')).length).toBeGreaterThan(0);
  expect(flips.filter((text) => text.includes(' 403 ')).length).toBeGreaterThan(0);
  expect(flips.join('')).not.toContain('canary');
  // Control: with the addresses allowed the same names lead there.
  await using weak = await start(rules, { allowAddresses: ['0.0.0.0/0', '::/0'] });
  await expect.poll(() => get(weak, 'good.test')).toContain('good');
  for (const host of ['alias.test', 'private.test', 'mapped.test', 'six.test', 'unspecified.test'])
    expect([host, await get(weak, host)]).toEqual([host, expect.stringContaining('canary')]);
});
