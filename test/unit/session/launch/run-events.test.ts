import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { recordRun } from '../../../../src/session/launch/run-events.ts';
import { eventsFile } from '../../../../src/session/record/events/events-file.ts';

let sessionDir: string;
beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'run-events-'));
});
afterEach(() => rmSync(sessionDir, { recursive: true }));

const events = (): string[] =>
  readFileSync(eventsFile(sessionDir), 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { text: string }).text);

it('the cost of a run is recorded once a minute and at its end, a limit once when it is near', () => {
  let usage = { requests: 0, costUsd: 0 };
  let ms = 0;
  const near: string[] = [];
  const limits = { maxCostUsd: 1, maxRequests: undefined, timeoutMs: 1_000_000 };
  const run = recordRun({
    sessionDir,
    limits,
    usage: () => usage,
    hosts: () => [],
    onRefusedAgain: () => undefined,
    onNear: (one) => near.push(one),
    nowMs: () => ms,
  });
  for (const [second, requests, costUsd] of [
    [10, 1, 0.1],
    [70, 2, 0.2],
    [80, 3, 0.85],
    [90, 3, 0.86],
  ] as const) {
    ms = second * 1000;
    usage = { requests, costUsd };
    run.look();
  }
  run.stop();
  expect(events()).toEqual([
    '2 requests, about $0.20 at list prices',
    '80% of its cost are used',
    '3 requests, about $0.86 at list prices',
  ]);
  expect(near).toEqual(['cost']);
});

it('a refused host that is asked for again calls the user once, and a flood of them three times', () => {
  let calls = 0;
  let hosts = [{ host: 'a.example', refused: 1, quiet: false }];
  const run = recordRun({
    sessionDir,
    limits: { maxCostUsd: undefined, maxRequests: undefined, timeoutMs: undefined },
    usage: () => undefined,
    hosts: () => hosts,
    onRefusedAgain: () => {
      calls += 1;
    },
    onNear: () => undefined,
  });
  run.look();
  expect(calls).toBe(0);
  hosts = [
    { host: 'a.example', refused: 2, quiet: false },
    { host: 'noise.example', refused: 9, quiet: true },
  ];
  run.look();
  run.look();
  expect(calls).toBe(1);
  hosts = Array.from({ length: 1000 }, (_, i) => ({ host: `${i}.example`, refused: 5, quiet: false }));
  run.look();
  run.stop();
  expect(calls).toBe(3);
});
