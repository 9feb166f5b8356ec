import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import { activityText, showActivityLine } from '../../../../src/session/launch/activity-line.ts';
import type { LiveReader } from '../../../../src/workspace/view/workspace.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('a long run shows one line each second, not after an unfinished line of the agent, and none after its end', async () => {
  const told: SessionEvent[] = [];
  const changes = [
    { path: 'src/later.ts', stamp: '1790000000000000009' },
    { path: 'a', stamp: '1790000000000000001' },
    { path: 'deleted', stamp: '' },
  ];
  const reader = { look: async () => ({ changes, ignored: [] }) } as unknown as LiveReader;
  let tool: string | undefined;
  const line = showActivityLine({
    id: 'ID',
    tell: (event) => told.push(event),
    usage: () => ({ requests: 1, costUsd: 0.123 }),
    lastTool: () => tool,
    changes: async () => reader,
    nowMs: () => Date.now(),
  });
  await vi.advanceTimersByTimeAsync(1900);
  expect(told).toEqual([]);
  await vi.advanceTimersByTimeAsync(2000);
  tool = 'Edit';
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.splice(0)).toEqual([
    { kind: 'message', level: 'info', text: 'To see its changes as they happen: run-claude diff --follow ID' },
    { kind: 'status-line', text: 'Running for 2 s, $0.12, 1 request' },
    expect.objectContaining({ text: expect.stringMatching(/^Running for 3 s, \$0\.12, 1 request/) }),
    {
      kind: 'status-line',
      text: 'Running for 4 s, $0.12, 1 request, Edit, 3 files',
      file: 'src/later.ts',
    },
  ]);
  line.beforeOutput(Buffer.from('half a line'));
  await vi.advanceTimersByTimeAsync(3000);
  expect(told.splice(0)).toEqual([{ kind: 'status-line' }]);
  line.beforeOutput(Buffer.from(' and its end\n'));
  await vi.advanceTimersByTimeAsync(1000);
  expect(told.splice(0)).toHaveLength(2);
  line.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(told).toEqual([{ kind: 'status-line' }]);
});

it('writes the time, and what is known of the rest', () => {
  const nothing = { elapsedMs: 0, requests: 0, costUsd: 0, tool: undefined, files: undefined };
  expect([65_000, 3_725_000].map((elapsedMs) => activityText({ ...nothing, elapsedMs }))).toEqual([
    'Running for 1 min 5 s, 0 requests',
    'Running for 1 h 2 min, 0 requests',
  ]);
  expect(activityText({ ...nothing, elapsedMs: 2000, requests: 2, costUsd: 0.004, files: 1 })).toBe(
    'Running for 2 s, 2 requests, 1 file',
  );
});
