import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { GatewayProcess } from '../../../support/gateway-process.ts';

it('starts although a companion took the place of its socket, and opens that of the others', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-out-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const socketOf = (name: string): string => path.join(dir, `${name}.sock`);
  mkdirSync(path.join(socketOf('taken'), 'x'), { recursive: true });
  const victim = path.join(dir, 'victim');
  writeFileSync(victim, 'kept', { mode: 0o600 });
  symlinkSync(victim, socketOf('linked'));
  const companions = ['taken', 'linked', 'good'].map((name) => ({ name, socket: socketOf(name), rules: [] }));
  await using gateway = await GatewayProcess.start({ config: { companions } });
  for (const file of [socketOf('linked'), socketOf('good'), path.join(gateway.dir, 'proxy.sock')]) {
    expect(lstatSync(file).isSocket()).toBe(true);
    expect(lstatSync(file).mode & 0o777).toBe(0o666);
  }
  expect(lstatSync(victim).mode & 0o777).toBe(0o600);
  expect(readFileSync(victim, 'utf8')).toBe('kept');
  expect(existsSync(path.join(socketOf('taken'), 'x'))).toBe(true);
  expect(readFileSync(gateway.log.file, 'utf8')).toContain('the way out of taken failed: ');
});
