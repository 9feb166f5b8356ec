import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { localTimeZone } from '../../../../src/core/host/facts.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-probe-'));
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('names the time zone that /etc/localtime links to, and asks JavaScript where the link is broken', () => {
  const zones: Readonly<Record<string, string>> = {
    '/usr/share/zoneinfo/Europe/Berlin': 'Europe/Berlin',
    '../usr/share/zoneinfo/posix/America/Argentina/Buenos_Aires': 'America/Argentina/Buenos_Aires',
    '/var/db/timezone/zoneinfo/Etc/GMT+3': 'Etc/GMT+3',
    '/usr/share/zoneinfo/UTC': 'UTC',
  };
  for (const [target, zone] of Object.entries(zones)) {
    const link = path.join(dir, zone.replaceAll('/', '-'));
    symlinkSync(target, link);
    expect(localTimeZone(link)).toBe(zone);
  }
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const copy = path.join(dir, 'copy');
  writeFileSync(copy, 'TZif2');
  symlinkSync('/usr/share/zoneinfo/$(x)', path.join(dir, 'odd'));
  for (const one of ['copy', 'odd', 'none']) expect(localTimeZone(path.join(dir, one))).toBe(own);
});
