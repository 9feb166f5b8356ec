import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = path.resolve(import.meta.dirname, '../../../scripts/test.sh');
let root = '';
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'test-run-'));
  for (const dir of ['bin', 'scripts']) mkdirSync(path.join(root, dir));
  copyFileSync(script, path.join(root, 'scripts/test.sh'));
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (file: string, lines: string): void => {
  writeFileSync(path.join(root, file), `#!/bin/sh\n${lines}\n`);
  chmodSync(path.join(root, file), 0o755);
};

/** The commands that the script runs where each of them takes `minutes`. */
function commandsOf(argument: readonly string[], minutes: number): { status: number | null; commands: string } {
  const log = path.join(root, 'log');
  writeFileSync(log, '');
  // Every look at the clock is after one more command.
  write('bin/date', `echo x >>'${root}/looks'; echo $(($(wc -l <'${root}/looks') * ${minutes} * 60))`);
  write(
    'bin/mktemp',
    `if [ "\${1:-}" = -d ]; then mkdir -p '${root}/r'; echo '${root}/r'; else echo '${root}/r.json'; fi`,
  );
  for (const tool of ['npm', 'node']) write(`bin/${tool}`, `echo "${tool} $*" >>'${log}'`);
  for (const tool of ['install-tools', 'install-engine', 'check-package']) {
    write(`scripts/${tool}.sh`, `echo "${tool} $*" >>'${log}'`);
  }
  const { status } = spawnSync('sh', [path.join(root, 'scripts/test.sh'), ...argument], {
    env: { PATH: `${path.join(root, 'bin')}:/usr/bin:/bin`, CI: '1' },
  });
  return { status, commands: readFileSync(log, 'utf8') };
}

it('runs the same suites on a fast machine and on a slow one', () => {
  const fast = commandsOf([], 0);
  expect(fast.status).toBe(0);
  expect(fast.commands).toMatch(/^npm run --silent test -- /m);
  expect(fast.commands).not.toContain('test:long');
  expect(commandsOf([], 30)).toEqual(fast);
});

it('runs the long suites alone where they are named, and refuses another word', () => {
  const { status, commands } = commandsOf(['long'], 0);
  expect(status).toBe(0);
  expect(commands).toMatch(/^npm run --silent test:long -- /m);
  // Their tools are more.
  expect(commands).toMatch(/^install-tools long$/m);
  expect(commands).not.toMatch(/silent test --|silent check|check-package/);
  expect(commandsOf(['fast'], 0)).toEqual({ status: 2, commands: '' });
});
