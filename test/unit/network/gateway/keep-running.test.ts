import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { CredentialSource, Secret } from '../../../../src/core/types/agent/credential.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { GatewayConfig } from '../../../../src/core/types/gateway.ts';
import { keepRunning } from '../../../../src/network/gateway/keep-running.ts';
import { networkTotals, openNetworkLog, readNetworkLog } from '../../../../src/network/gateway/network-log.ts';
import { allowHost, watchAllowed } from '../../../../src/network/gateway/rules/live-rules.ts';
import { readUsage, usageLine, writeUsage } from '../../../../src/network/gateway/usage.ts';

/** A program that reports that it is ready, and ends when it is killed or its input ends. */
const READY = `echo '{"type":"ready"}'; exec cat 3>&1 >/dev/null`;

/** Starts programs in turn: true is one that works, false one that ends at once, a text a script, an error none. */
async function keep(turns: (boolean | string | Error)[], credential?: CredentialSource) {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-keep-'));
  const events: SessionEvent[] = [];
  const log = openNetworkLog(path.join(dir, 'network.jsonl'), (event) => events.push(event));
  const pids: number[] = [];
  const kept = keepRunning({
    config: { usage: {} } as GatewayConfig,
    targets: {},
    credential,
    secret: await credential?.current(),
    log,
    tell: (event) => events.push(event),
    start: async () => {
      const turn = turns.shift() ?? false;
      if (turn instanceof Error) throw turn;
      const child = spawn('sh', ['-c', turn === true ? READY : turn || 'exit 0'], { stdio: 'pipe' });
      pids.push(child.pid ?? 0);
      const exit = new Promise<number>((done) => child.once('exit', (code) => done(code ?? 128)));
      const remove = async (): Promise<void> => {
        child.kill('SIGKILL');
        await exit;
      };
      return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, wait: () => exit, remove };
    },
  });
  const texts = (): string[] => events.flatMap((event) => (event.kind === 'message' ? [event.text] : []));
  const end = async (): Promise<void> => {
    await kept.stop();
    log.close();
    rmSync(dir, { recursive: true, force: true });
  };
  await kept.ready.catch(async (error: Error) => {
    await end();
    throw error;
  });
  return { kept, pids, texts, end };
}

it('names the tool that the model asked for last, where that is a word', async () => {
  const report = (tool: unknown): string =>
    `echo '${JSON.stringify({ type: 'usage', usage: {}, atMost: {}, tool })}'; echo '{"type":"log","why":"x"}'`;
  for (const [tools, expected] of [
    [[], undefined],
    [['Bash', 'mcp__db__query'], 'mcp__db__query'],
    [['Bash', '\u001b[2J', 'a b', 'x'.repeat(65), 7, null], 'Bash'],
  ] as const) {
    const one = await keep([[`echo '{"type":"ready"}'`, ...tools.map(report), 'exec cat 3>&1 >/dev/null'].join('; ')]);
    await expect.poll(() => one.kept.lastTool()).toBe(expected);
    await one.end();
  }
});

it('starts a gateway again also when a restart fails, and reports once when it cannot be restarted', async () => {
  const one = await keep([true, false, new Error('the engine is busy'), true]);
  process.kill(one.pids[0] ?? 0, 'SIGKILL');
  await expect.poll(one.texts).toEqual(['the gateway ended and was started again']);
  process.kill(one.pids.at(-1) ?? 0, 'SIGKILL');
  const lost = await one.kept.lost;
  expect([lost.code, lost.message, lost.hint]).toEqual([
    'GATEWAY_LOST',
    'the gateway ended and could not be started again',
    'The session is stopped. Its work is kept.',
  ]);
  expect(one.texts()).toHaveLength(1);
  await one.end();
});

it('stops restarting a gateway that keeps ending at once', async () => {
  const one = await keep(Array.from({ length: 20 }, () => true));
  let lost = false;
  void one.kept.lost.then(() => {
    lost = true;
  });
  let killed = 0;
  await expect
    .poll(() => {
      // Only a gateway that reported that it is ready has started.
      if (killed < one.pids.length && one.texts().length >= one.pids.length - 1)
        process.kill(one.pids[killed++] ?? 0, 'SIGKILL');
      return lost;
    })
    .toBe(true);
  expect(one.pids).toHaveLength(6);
  await one.end();
});

it('leaves nothing running when it is stopped during a restart, and fails when the first start fails', async () => {
  const one = await keep([true, true]);
  process.kill(one.pids[0] ?? 0, 'SIGKILL');
  await one.end();
  for (const pid of one.pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(one.texts()).toEqual([]);
  await expect(keep([false])).rejects.toThrow('it ended before it was ready');
});

it('renews a credential minutes before it expires, and at most every half minute where clocks differ', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  try {
    for (const [leftMs, firstMs] of [
      [60 * 60_000, 55 * 60_000],
      // Ended long ago by this machine's clock, and so does what comes instead.
      [-60 * 60_000, 30_000],
      // Longer than a timer can count.
      [2 ** 33, 2 ** 31 - 1],
    ] as const) {
      let asked = 0;
      const current = async (): Promise<Secret> => ({
        kind: 'oauth',
        value: `v${asked}`,
        expiresMs: Date.now() + leftMs,
      });
      const refresh = (): Promise<Secret> => {
        asked += 1;
        return current();
      };
      const one = await keep([true], { name: 'test', kind: 'oauth', current, refresh });
      await vi.advanceTimersByTimeAsync(firstMs - 1000);
      expect([leftMs, asked]).toEqual([leftMs, 0]);
      await vi.advanceTimersByTimeAsync(2000);
      expect([leftMs, asked]).toEqual([leftMs, 1]);
      await vi.advanceTimersByTimeAsync(firstMs);
      expect([leftMs, asked]).toEqual([leftMs, 2]);
      await one.end();
    }
  } finally {
    vi.useRealTimers();
  }
});

it('reports each refused host once, up to twenty, with how to allow it', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-log-'));
  const texts: string[] = [];
  const log = openNetworkLog(path.join(dir, 'network.jsonl'), (event) => {
    if (event.kind === 'message') texts.push(event.text);
  });
  const refuse = (host: string, port: number): void =>
    log.add({
      at: '',
      kind: 'connect',
      verdict: 'refused',
      host,
      port,
      method: '',
      unlisted: true,
      up: 0,
      down: 0,
      ms: 0,
    });
  for (const port of [443, 80, 443, 8443]) refuse('a.test', port);
  expect(texts).toEqual([
    'network: refused a.test:443. To allow it: run-claude network allow a.test',
    'network: refused a.test:8443. To allow it: run-claude network allow a.test:8443',
  ]);
  for (let n = 0; n < 100; n += 1) refuse(`h${n}.test`, 443);
  expect(texts).toHaveLength(21);
  expect(texts.at(-1)).toBe('network: more hosts are refused; run-claude network lists them');
  log.close();
  expect(networkTotals(dir)).toHaveLength(103);
  rmSync(dir, { recursive: true });
});

it('keeps every allowed request in its file and totals during a flood of refused ones', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-log-'));
  const log = openNetworkLog(path.join(dir, 'network.jsonl'), () => undefined);
  const base = { at: '', kind: 'connect', port: 443, method: '', up: 5, down: 0, ms: 0 } as const;
  for (let n = 0; n < 60_000; n += 1)
    log.add({
      ...base,
      verdict: n % 2 === 0 ? 'refused' : 'failed',
      host: `h${n % 2 === 0 ? n : 1}`,
      why: 'x'.repeat(250),
    });
  log.add({ ...base, verdict: 'passed', host: 'late.test' });
  const [lines, totals] = [readNetworkLog(log.file), log.totals()];
  for (let twice = 0; twice < 2; twice += 1) log.close();
  rmSync(dir, { recursive: true });
  expect(totals.length).toBeLessThan(1010);
  expect(totals.find(({ host }) => host === '(others)')?.refused).toBeGreaterThan(28_000);
  for (const list of [lines, totals]) expect(list.at(-1)).toMatchObject({ host: 'late.test', up: 5 });
  expect(lines.length).toBeLessThan(30_000);
});

it('keeps a bounded number of hosts in its totals, however many below a wildcard are requested', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-log-'));
  const log = openNetworkLog(path.join(dir, 'network.jsonl'), () => undefined);
  const base = { at: '', kind: 'connect', port: 443, method: '', up: 5, down: 0, ms: 0 } as const;
  for (const verdict of ['failed', 'passed'] as const)
    for (let n = 0; n < 10_000; n += 1) log.add({ ...base, verdict, host: `${verdict}${n}.wild.test` });
  const totals = log.totals();
  log.close();
  rmSync(dir, { recursive: true });
  expect(totals.length).toBeLessThan(4010);
  const sum = (key: 'failed' | 'passed' | 'up'): number => totals.reduce((all, total) => all + total[key], 0);
  expect([sum('failed'), sum('passed'), sum('up')]).toEqual([10_000, 10_000, 100_000]);
});

it('forwards each host that is allowed while a session runs, and omits text that is not a rule', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-allow-'));
  const taken: string[][] = [];
  const unwatch = watchAllowed(dir, (rules) => taken.push(rules.map(({ host }) => host)));
  allowHost(dir, 'a.test');
  await expect.poll(() => taken).toEqual([['a.test']]);
  expect(() => allowHost(dir, '*')).toThrow('is not a host name that a rule can hold');
  writeFileSync(path.join(dir, 'network-allow.json'), '["a.test","*","https://x",7,"b.test"]');
  await expect.poll(() => taken.at(-1)).toEqual(['a.test', 'b.test']);
  writeFileSync(path.join(dir, 'network-allow.json'), 'torn');
  allowHost(dir, 'c.test');
  await expect.poll(() => taken.at(-1)).toEqual(['c.test']);
  // No rule is passed on twice, and no text that is not a rule.
  writeFileSync(path.join(dir, 'network-allow.json'), '["c.test","*"]');
  await new Promise((done) => setTimeout(done, 1000));
  unwatch();
  expect(taken.filter((hosts, i) => String(hosts) === String(taken[i - 1]))).toEqual([]);
  rmSync(dir, { recursive: true });
});

it('stores the totals of a session for other commands, and prints them in one line', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-usage-'));
  expect(readUsage(dir)).toBeUndefined();
  const usage = { requests: 12, inputTokens: 120_034, outputTokens: 5000, costUsd: 0.734 };
  writeUsage(dir, usage);
  expect(readUsage(dir)).toEqual(usage);
  expect(usageLine(usage)).toBe('12 requests to the model, 120,034 tokens in, 5,000 out, about $0.73 at list prices');
  expect(usageLine({ requests: 1, inputTokens: 9, outputTokens: 1, costUsd: 0.00007 })).toBe(
    '1 request to the model, 9 tokens in, 1 out, under $0.01 at list prices',
  );
  expect(usageLine(usage, 200_000)).toBe(
    '12 requests to the model in 3 min 20 s, 120,034 tokens in, 5,000 out, about $0.73 at list prices',
  );
  expect(usageLine(usage, 3)).toContain('12 requests to the model in 1 s, ');
  writeFileSync(path.join(dir, 'usage.json'), '{"requests":"many"}');
  expect(readUsage(dir)).toBeUndefined();
  rmSync(dir, { recursive: true });
});
