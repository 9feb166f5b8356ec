import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GIT_RULES } from '../../../../src/audit/general-rules/git.ts';
import { judgeGitConfig } from '../../../../src/audit/git-directory/config.ts';
import { splitKey } from '../../../../src/core/git/config-parse.ts';
import { classOfKey, keyPatterns } from '../../../../src/core/git/keys.ts';
import { NOT_PROVEN, PROOFS, type Proof } from './exec-keys.ts';

// Git itself is the judge: each key that the audit blocks as one that runs something does run it, in a repository of its
// own, and what the gate lets pass (the configuration without it) does not.
const root = mkdtempSync(path.join(tmpdir(), 'git-runs-'));
const template = path.join(root, 'template');
const marker = path.join(root, 'marker');
const program = path.join(root, 'program');
afterAll(() => rmSync(root, { recursive: true, force: true }));

const env = {
  PATH: `${root}/work/bin:${process.env['PATH']}:${execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()}`,
  HOME: root,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'n',
  GIT_AUTHOR_EMAIL: 'e',
  GIT_COMMITTER_NAME: 'n',
  GIT_COMMITTER_EMAIL: 'e',
  TERM: 'dumb',
};
const fill = (text: string): string => text.replaceAll('RUN', `touch ${marker}`).replaceAll('PROGRAM', program);
/** Runs a shell script in the user's repository, whatever its exit status. */
const shell = (text: string): void =>
  void spawnSync('sh', ['-c', fill(text)], { cwd: path.join(root, 'work/r'), env, input: '', timeout: 180_000 });

beforeAll(() => {
  writeFileSync(program, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  mkdirSync(path.join(template, 'r'), { recursive: true });
  mkdirSync(path.join(template, 'bin'));
  // What git would open on a machine that has it, and wait for.
  for (const tool of ['vim', 'vimdiff', 'gvimdiff', 'nvimdiff', 'nvim', 'emacs', 'meld'])
    writeFileSync(path.join(template, 'bin', tool), '#!/bin/sh\n', { mode: 0o755 });
  const text = 'git init -q -b main; echo a >f; git add f; git commit -qm a; echo b >f';
  execFileSync('sh', ['-c', text], { cwd: path.join(template, 'r'), env });
});

/** A fresh repository, planted or not: what the audit says of its configuration, and whether git then ran it. */
function attempt({ planted, before, then }: Proof, isPlanted: boolean): { ran: boolean; verdicts: string[] } {
  const work = path.join(root, 'work');
  rmSync(work, { recursive: true, force: true });
  rmSync(marker, { force: true });
  cpSync(template, work, { recursive: true, preserveTimestamps: true });
  if (before !== undefined) shell(before);
  expect(existsSync(marker), before).toBe(false);
  const file = path.join(work, 'r/.git/config');
  const clean = readFileSync(file, 'utf8');
  for (const one of isPlanted ? planted.split(' && ') : []) {
    const at = one.indexOf(' = ');
    execFileSync('git', ['config', one.slice(0, at), fill(one.slice(at + 3))], { cwd: path.join(work, 'r'), env });
  }
  const hits = judgeGitConfig(clean, readFileSync(file, 'utf8'));
  shell(then);
  return {
    ran: existsSync(marker),
    verdicts: hits.map((hit) => `${hit.severity ?? severityOf(hit.rule)} ${hit.rule.replace('git-config-', '')}`),
  };
}

const severityOf = (id: string) => GIT_RULES.find((rule) => rule.id === id)?.severity;

it.each(PROOFS)('$planted', (proof) => {
  const keys = proof.planted.split(' && ').length;
  const blocked = Array.from({ length: keys }, () => 'blocked exec');
  expect(attempt(proof, true)).toEqual({ ran: true, verdicts: blocked });
  expect(attempt(proof, false)).toEqual({ ran: false, verdicts: [] });
});

it('has a proof for every key of the table, or the reason why there is none', () => {
  const shown = PROOFS.flatMap(({ shows }) => shows.split(' '));
  expect([...shown, ...Object.keys(NOT_PROVEN)].sort()).toEqual([...keyPatterns('exec')].sort());
  for (const { shows, planted } of PROOFS) {
    const classes = planted.split(' && ').map((one) => classOfKey(one.slice(0, one.indexOf(' = '))));
    expect(classes.every((one) => one === 'exec')).toBe(true);
    const sections = shows.split(' ').map((pattern) => splitKey(pattern).section);
    for (const section of sections) expect(planted.toLowerCase()).toContain(section);
  }
});
