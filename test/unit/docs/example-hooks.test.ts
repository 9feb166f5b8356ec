import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { GitScene } from '../../support/review/git-scene.ts';

const examples = path.resolve('examples/hooks');
const read = (name: string): string => readFileSync(path.join(examples, name), 'utf8');

interface PreCommitHook {
  readonly entry: string;
  readonly stages: readonly string[];
  readonly pass_filenames: boolean;
}
const ofPreCommit = (stage: string): string => {
  const { repos } = parse(read('pre-commit-config.yaml')) as { repos: { hooks: PreCommitHook[] }[] };
  const hooks = repos.flatMap((repo) => repo.hooks).filter(({ stages }) => stages.includes(stage));
  expect(hooks).toMatchObject([{ pass_filenames: false, always_run: true, language: 'system' }]);
  return hooks[0]?.entry ?? '';
};
const ofLefthook = (hook: string): string => {
  const file = parse(read('lefthook.yml')) as Record<string, { jobs: { run: string; use_stdin?: boolean }[] }>;
  const [job] = file[hook]?.jobs ?? [];
  if (hook === 'pre-push') expect(job?.use_stdin).toBe(true);
  return (job?.run ?? '').replace('{1}', '"$1"');
};

/** The commands of each tool before a commit and before a push, as the tool runs them: in sh, with git's own input. */
const TOOLS = {
  husky: [read('husky-pre-commit'), read('husky-pre-push')],
  lefthook: [ofLefthook('pre-commit'), ofLefthook('pre-push')],
  'pre-commit': [ofPreCommit('pre-commit'), ofPreCommit('pre-push')],
} as const;

/** A run-claude that records how it was called, and ends with a status of the test's. */
function installed(scene: GitScene, status: number): { readonly env: NodeJS.ProcessEnv; readonly calls: () => string } {
  const bin = path.join(scene.root, 'bin');
  const log = path.join(scene.root, 'calls');
  mkdirSync(bin, { recursive: true });
  writeFileSync(log, '');
  writeFileSync(
    path.join(bin, 'run-claude'),
    `#!/bin/sh\necho "$@" >> '${log}'\ncase "$*" in *--pre-push*) cat >> '${log}' ;; esac\nexit ${status}\n`,
  );
  chmodSync(path.join(bin, 'run-claude'), 0o755);
  return { env: { ...scene.env, PATH: `${bin}:${scene.env['PATH']}` }, calls: () => readFileSync(log, 'utf8') };
}

function run(scene: GitScene, env: NodeJS.ProcessEnv, ...args: readonly string[]): boolean {
  try {
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], {
      cwd: scene.repo,
      env,
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

describe.each(Object.entries(TOOLS))('examples/hooks for %s', (_, [commit, push]) => {
  it.each([
    [0, true, true],
    [123, true, false],
    [121, false, false],
  ])('with the exit status %d: commits %s, pushes %s', (status, commits, pushes) => {
    using scene = new GitScene();
    scene.commit({ a: '1\n' });
    const remote = path.join(scene.root, 'remote');
    scene.git('init', '-q', '--bare', remote);
    scene.git('remote', 'add', 'origin', remote);
    for (const [name, text] of [
      ['pre-commit', commit],
      ['pre-push', push],
    ] as const)
      writeFileSync(path.join(scene.repo, '.git/hooks', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const { env, calls } = installed(scene, status);
    expect(run(scene, env, 'commit', '-q', '--allow-empty', '-m', 'next')).toBe(commits);
    expect(calls()).toBe('audit --staged\n');
    expect(run(scene, env, 'push', '-q', 'origin', 'main')).toBe(pushes);
    expect(calls()).toMatch(/^audit --pre-push.*\nrefs\/heads\/main [0-9a-f]{40} refs\/heads\/main 0{40}$/m);
  });
});
