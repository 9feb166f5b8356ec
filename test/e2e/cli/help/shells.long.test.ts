import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MAIN = path.join(import.meta.dirname, '../../../../dist/main.js');
let home: string;
let env: Record<string, string>;

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'run-claude-completion-'));
  writeFileSync(path.join(home, 'run-claude'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(path.join(home, 'tasks.txt'), '');
  env = { HOME: home, PATH: `${home}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8', TERM: 'xterm' };
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const inFish = (typed: string, cwd = home): string =>
  execFileSync('fish', ['-c', `run-claude completion fish | source; complete -C '${typed}' 2>&1`], {
    env,
    cwd,
    encoding: 'utf8',
  });

test('fish completes with what each word means, and files where there is none', () => {
  expect(inFish('run-claude exec --engi')).toBe('--engine\tcontainer engine: auto (default), docker, podman\n');
  expect(inFish('run-claude apply --conflict th')).toBe('theirs\n');
  expect(inFish('run-claude batch ta')).toBe('tasks.txt\n');
});

test('in fish, names of files are options of no program', () => {
  const cwd = path.join(home, 'project');
  mkdirSync(cwd);
  for (const name of ['--copy', '-R', '$(touch made)', 'a;touch made']) writeFileSync(path.join(cwd, name), '');
  expect(inFish('run-claude batch ', cwd).trim().split('\n').sort()).toEqual([
    ...['$(touch made)', '--copy', '-R', 'a;touch made'],
  ]);
  expect(inFish('run-claude "$(touch made)" ', cwd)).not.toContain('ls:');
  expect(existsSync(path.join(cwd, 'made'))).toBe(false);
});

test('zsh completes at its prompt', () => {
  const script = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -U compinit && compinit -u -D; eval "$(run-claude completion zsh)"; PS1="> "; print rea""dy'
read_until() { local all= more; repeat 200; do zpty -r -t z more && all+=$more; [[ $all == *$1* ]] && break; sleep 0.1; done; print -r -- "$all"; }
read_until ready >/dev/null
zpty -n -w z $'run-claude exec --engi\\t'
read_until '--engine'
zpty -n -w z $'\\C-urun-claude batch ta\\t'
read_until 'tasks.txt'
`;
  const shown = execFileSync('zsh', ['-f', '-c', script], { env, cwd: home, encoding: 'utf8', timeout: 60_000 });
  expect(shown).toContain('exec --engine');
  expect(shown).toContain('batch tasks.txt');
});
