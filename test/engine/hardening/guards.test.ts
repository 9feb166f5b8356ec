import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { ALLOWED, commandScript, REFUSED, VECTORS, vectorScript } from './git-vectors.ts';
import { type Weaken, Weakened } from './weakened.ts';

let dir: string;
let engine: Engine;
let containers: Weakened;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'run-claude-guards-'));
  engine = await connectForTest(Weakened.owner);
  containers = await Weakened.open(engine, await testImage(engine));
});

afterAll(async () => {
  await containers[Symbol.asyncDispose]();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
});

const roomy: Weaken = (body) => void Object.assign(body.HostConfig, { Memory: 2 ** 30, MemorySwap: 2 ** 30 });

/** Runs a script, its own file in the container; its lines as a set of "word rest". */
async function lines(script: string, weaken: Weaken = () => undefined): Promise<readonly string[]> {
  const file = join(dir, 'script.sh');
  writeFileSync(file, script, { mode: 0o644 });
  const bind = `${file}:/etc/run-claude-script:ro`;
  const { said } = await containers.run(['bash', '/etc/run-claude-script'], (body) => {
    roomy(body);
    weaken(body);
    body.HostConfig['Binds'] = [...((body.HostConfig['Binds'] as string[] | undefined) ?? []), bind];
  });
  return said.trim().split('\n');
}

/** The preload list without the guard of git. */
function withoutGitGuard(): Weaken {
  const list = join(dir, 'preload');
  writeFileSync(list, '/usr/lib/run-claude/nodump.so\n', { mode: 0o644 });
  return (body) => void Object.assign(body.HostConfig, { Binds: [`${list}:/etc/ld.so.preload:ro`] });
}

describe('git-guard.so', () => {
  it('prevents every program that git would run without it', async () => {
    const without = await lines(vectorScript(), withoutGitGuard());
    const withIt = await lines(vectorScript());
    const names = VECTORS.map(([name]) => name);
    expect(without).toEqual(names.map((name) => `ran ${name}`));
    expect(withIt).toEqual(names.map((name) => `quiet ${name}`));
  });

  it('refuses, by name, commands that change remotes, print credentials or write executable settings', async () => {
    expect(await lines(commandScript(REFUSED))).toEqual(REFUSED.map((line) => `refused ${line}`));
  });

  it('allows ordinary work', async () => {
    expect(await lines(commandScript(ALLOWED))).toEqual(ALLOWED.map((line) => `ok ${line}`));
  });

  it('allows a push only where the user allowed it', async () => {
    const push = 'git push -q /tmp/bare HEAD:refs/heads/new';
    const allow: Weaken = (body) => {
      (body.HostConfig['Tmpfs'] as Record<string, string>)['/etc/run-claude/allow-git-push'] = 'size=1m,mode=555';
    };
    expect(await lines(commandScript([push]))).toEqual([`refused ${push}`]);
    expect(await lines(commandScript([push]), allow)).toEqual([`ok ${push}`]);
  });
});

describe('nodump.so', () => {
  it('lets ordinary programs work', async () => {
    const checks: readonly (readonly [string, string])[] = [
      ['process substitution', 'test "$(cat <(echo hi))" = hi'],
      ['own maps', 'grep -q libc /proc/self/maps'],
      ['node', 'test "$(node -p 1+1)" = 2'],
      ['node inspector', 'node --inspect=127.0.0.1:0 -e 0 2>&1 | grep -q "Debugger listening"'],
      ['node workers', `node -e 'new (require("node:worker_threads").Worker)("process.exit(0)", { eval: true })'`],
      ['file watching', `node -e 'require("node:fs").watch("/tmp").close()'`],
      ['python', 'test "$(python3 -c "print(1+1)")" = 2'],
      ['python processes', 'python3 -c "import multiprocessing as m; m.Pool(2).map(abs, [1])"'],
      ['git', 'git --version'],
      ['claude', 'claude --version'],
    ];
    const script = checks.map(([name, line]) => `(${line}) >/dev/null 2>&1 && echo ok ${name} || echo failed ${name}`);
    expect(await lines(['export HOME=/tmp', ...script].join('\n'))).toEqual(checks.map(([name]) => `ok ${name}`));
  });

  it('keeps a process of the same user from reading another’s environment, memory and descriptors', async () => {
    const script = `
      SECRET=hidden sleep 60 & sleep 0.5
      for f in environ mem maps fd/0; do cat /proc/$!/$f >/dev/null 2>&1 && echo read $f || echo refused $f; done
      kill $!`;
    const files = ['environ', 'maps', 'fd/0'];
    const withIt = await lines(script);
    for (const file of files) expect(withIt).toContain(`refused ${file}`);
    const list = join(dir, 'none');
    writeFileSync(list, '', { mode: 0o644 });
    const none: Weaken = (body) => void Object.assign(body.HostConfig, { Binds: [`${list}:/etc/ld.so.preload:ro`] });
    const without = await lines(script, none);
    for (const file of files.slice(0, 2)) expect(without).toContain(`read ${file}`);
  });
});
