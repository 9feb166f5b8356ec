import { lutimesSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { settableTime, settableTimeOfMs } from '../../../../src/core/store/file-time.ts';

it('sets a time to the exact microsecond, and whole milliseconds to the nanosecond', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-time-'));
  const file = path.join(dir, 'f');
  writeFileSync(file, '');
  const set = (time: number): bigint => {
    lutimesSync(file, time, time);
    return statSync(file, { bigint: true }).mtimeNs;
  };
  try {
    for (let n = 0n; n < 400n; n += 1n) {
      const ns = 1_795_312_009_000_000_000n + n * 7_919_003n;
      expect(set(settableTime(String(ns)))).toBe((ns / 1000n) * 1000n);
      const ms = 1_795_312_009_000 + Number(n) * 17;
      expect(set(settableTimeOfMs(ms))).toBe(BigInt(ms) * 1_000_000n);
      const later = set(settableTimeOfMs(ms + 0.9999997)) - BigInt(ms) * 1_000_000n;
      expect(later).toBeLessThanOrEqual(1_000_000n);
    }
    // Control: a plain double loses some microseconds.
    const plain = Array.from({ length: 400 }, (_, n) => 1_795_312_009_000 + n);
    expect(plain.some((ms) => set(ms / 1000) !== BigInt(ms) * 1_000_000n)).toBe(true);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
