import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readInput } from '../../../../src/cli/audit/read-input.ts';

it('reads standard input for -, and a file by its name', async () => {
  const stdin = Readable.from([Buffer.from('a\n'), Buffer.from('b\n')]);
  expect((await readInput('-', 'the patch', stdin)).toString()).toBe('a\nb\n');
  expect((await readInput(import.meta.filename, 'the patch', stdin)).toString()).toContain('reads standard input');
});

it('refuses a terminal, and what cannot be read', async () => {
  const terminal = Object.assign(Readable.from([]), { isTTY: true });
  await expect(readInput('-', 'the patch', terminal)).rejects.toThrow('which is a terminal');
  await expect(readInput('/nonexistent/x', 'the patch')).rejects.toThrow('cannot read the patch');
  await expect(readInput('/', 'the patch')).rejects.toThrow('cannot read the patch');
});
