import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { judgeGitConfig } from '../../../src/audit/git-config.ts';

// Git itself is the judge: each key that the audit blocks as one that runs something does run it, in one repository,
// and what the gate lets pass (the configuration without it) does not. `RUN` is a program that makes the marker.
const KEYS: readonly (readonly [key: string, value: string, trigger: readonly string[], input?: string])[] = [
  ['core.fsmonitor', 'RUN;:', ['status']],
  ['diff.external', 'RUN;:', ['diff']],
  ['diff.z.command', 'RUN;:', ['diff']],
  ['diff.z.textconv', 'RUN;cat', ['diff']],
  ['filter.z.clean', 'RUN;cat', ['add', 'f']],
  ['core.editor', 'RUN;:', ['commit', '--amend']],
  ['core.sshCommand', 'RUN;:', ['ls-remote', 'ssh://h/x']],
  ['core.gitProxy', 'RUN', ['ls-remote', 'git://h/x']],
  ['core.askPass', 'RUN', ['credential', 'fill'], 'protocol=https\nhost=h\n\n'],
  ['credential.helper', '!RUN;:', ['credential', 'fill'], 'protocol=https\nhost=h\n\n'],
  ['alias.zz', '!RUN', ['zz']],
  ['tar.tgz.command', 'RUN;cat', ['archive', '--format=tgz', 'HEAD']],
  ['trailer.z.command', 'RUN;:', ['interpret-trailers'], 'a\n'],
  ['gpg.program', 'RUN', ['commit', '-S', '--allow-empty', '-m', 'x']],
  ['browser.z.cmd', 'RUN;:', ['web--browse', '-b', 'z', 'http://h']],
  ['difftool.z.cmd', 'RUN', ['difftool', '-y', '-t', 'z']],
  ['remote.o.uploadpack', 'RUN;git-upload-pack', ['fetch', 'o']],
];

it('runs what each blocked key names, and nothing without it', { timeout: 300_000 }, () => {
  const root = mkdtempSync(path.join(tmpdir(), 'git-runs-'));
  try {
    const repo = path.join(root, 'repo');
    const marker = path.join(root, 'marker');
    const program = path.join(root, 'run.sh');
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\n`);
    chmodSync(program, 0o755);
    const env = {
      PATH: process.env['PATH'],
      HOME: root,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'n',
      GIT_AUTHOR_EMAIL: 'e',
      GIT_COMMITTER_NAME: 'n',
      GIT_COMMITTER_EMAIL: 'e',
    };
    execFileSync('git', ['init', '-q', repo], { env });
    writeFileSync(path.join(repo, 'f'), 'a');
    writeFileSync(path.join(repo, '.gitattributes'), '* diff=z filter=z\n');
    const git = (argv: readonly string[], input = ''): void => {
      spawnSync('git', ['-C', repo, ...argv], { env, input, timeout: 180_000 });
    };
    git(['add', '-A']);
    git(['commit', '-qm', 'a']);
    git(['config', 'remote.o.url', repo]);
    const file = path.join(repo, '.git/config');
    const clean = readFileSync(file, 'utf8');
    const ran: string[] = [];
    const expected: string[] = [];
    for (const [key, value, trigger, input] of KEYS) {
      const attempt = (): boolean => {
        rmSync(marker, { force: true });
        writeFileSync(path.join(repo, 'f'), `${Math.random()}`);
        git(trigger, input);
        git(['rebase', '--abort']);
        return existsSync(marker);
      };
      git(['config', key, value.replace('RUN', program)]);
      const planted = readFileSync(file, 'utf8');
      const verdict = judgeGitConfig(clean, planted)
        .map(({ class: shown, severity }) => `${severity} ${shown}`)
        .join();
      const runs = attempt();
      writeFileSync(file, clean);
      ran.push(`${key}: ${verdict}, ${runs ? 'runs' : 'does not run'}, then ${attempt() ? 'runs' : 'nothing'}`);
      expected.push(`${key}: blocked exec, runs, then nothing`);
    }
    expect(ran).toEqual(expected);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
