import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LineTail } from '../../../../src/session/log/line-tail.ts';

it.each<readonly [what: string, make: (file: string) => void]>([
  ['link', (file) => symlinkSync('/etc/passwd', file)],
  ['folder', (file) => mkdirSync(file)],
])('a %s in place of the file is the damage of a record, and no bug', (_what, make) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-tail-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'events.jsonl');
  make(file);
  expect(() => [...new LineTail(file).read()]).toThrow(
    expect.objectContaining({ code: 'RECORD_UNREADABLE', message: expect.stringContaining(file) }),
  );
});
