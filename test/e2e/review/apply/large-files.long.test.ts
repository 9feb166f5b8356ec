import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

/** More than Node reads in one go. */
const MEGABYTES = 2100;
const BYTES = MEGABYTES * 1024 * 1024;
const WRITE = `head -c ${MEGABYTES}M /dev/zero | openssl enc -aes-128-ctr -nosalt -K 00 -iv 00`;

function digestOf(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(1 << 20);
  const fd = openSync(file, 'r');
  for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece))
    hash.update(piece.subarray(0, length));
  closeSync(fd);
  return hash.digest('hex');
}

it('a file of two gigabytes comes back like any other, is shown by its size, and can be undone', async () => {
  await using scene = new Scene();
  const file = path.join(scene.project, 'data.bin');
  const script = `${WRITE} > data.bin; sha256sum data.bin`;
  const made = await scene.run(['exec', scene.project, '--', 'sh', '-c', script]);
  expect(made.stderr).toContain('1 file created');
  const [digest] = made.stdout.split(' ');
  const shown = await scene.run(['diff', '--view']);
  expect(shown.stdout).toContain('data.bin');
  expect(shown.stdout).toMatch(/binary: nothing → 2[.\d]* GB/);
  expect((await scene.run(['apply', '--yes'])).status).toBe(0);
  expect(statSync(file).size).toBe(BYTES);
  expect(digestOf(file)).toBe(digest);
  // Both sides of the next change are of that size.
  const edited = await scene.run(['exec', '--auto-apply', scene.project, '--', 'sh', '-c', 'echo more >> data.bin']);
  expect(edited.status).toBe(0);
  expect(statSync(file).size).toBe(BYTES + 5);
  expect((await scene.run(['undo', '--yes'])).status).toBe(0);
  expect(digestOf(file)).toBe(digest);
});

it('sparse files come back sparse, up to the size that the session may write in total', async () => {
  await using scene = new Scene();
  const [small, giant] = ['small.img', 'giant.img'];
  const script = `for one in ${small} ${giant}; do echo start > $one; done
    truncate -s 1100M ${small}; echo end >> ${small}; truncate -s 1T ${giant}; sha256sum ${small}`;
  const options = ['--disk', '2g', '--auto-apply', '--allow-suspect', '*.img'];
  const made = await scene.run(['exec', ...options, scene.project, '--', 'sh', '-c', script]);
  expect(made.status, made.stderr).toBe(121);
  const file = path.join(scene.project, small);
  expect(statSync(file).size).toBe(1100 * 1024 ** 2 + 4);
  expect(statSync(file).blocks * 512).toBeLessThan(1 << 20);
  expect(digestOf(file)).toBe(made.stdout.split(' ')[0]);
  expect(made.stderr).toMatch(/giant\.img: sparse: 1099511627776 bytes, .*BLOCKED/);
});
