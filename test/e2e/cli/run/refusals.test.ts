import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

it('wrong, missing and superfluous words are refused with a message, and nothing starts', async () => {
  await using scene = new Scene();
  mkdirSync(path.join(scene.project, 'doctor'));
  const before = scene.fingerprint();
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--copy-worksapce', '.'], 2, /unknown option --copy-worksapce[\s\S]*--copy-workspace/],
    [['help', 'aply'], 2, /run-claude help apply/],
    [['--cpus', '-1'], 2, /number of processors/],
    [['./nowhere'], 2, /no such folder: '\.\/nowhere'[\s\S]*after --/],
    [['exec', '/', '--', 'true'], 2, /\/ is not a project/],
    [['exec', scene.home, '--', 'true'], 2, /home directory/],
    [['exec', scene.root, '--', 'true'], 2, /home directory/],
    [['exec', '--bind', '--auto-apply', '.', '--', 'true'], 2, /--auto-apply works on a copy/],
    [['exec', '.', 'doctor', '--', 'true'], 2, /doctor/],
    [['exec', '--allow-host', 'http://a.test', '.', '--', 'true'], 2, /'http:\/\/a\.test' is not HOST or HOST:PORT/],
    [['--check', '--allow-address', '10.0.0.0/99'], 2, /'10\.0\.0\.0\/99' is not an address range/],
    [['--dry-run', '--profile', 'nobody'], 2, /there is no profile 'nobody'/],
    [['--check', '--report', 'nowhere/r.json'], 2, /nowhere\/r\.json: there is no such folder/],
    [
      ['exec', '--dry-run=pod', '.', '--', 'true'],
      125,
      /--dry-run=pods? does not support: a directory of this machine[\s\S]*DOCKER_HOST/,
    ],
    [
      ['exec', '--dry-run=pods', '.', '--', 'true'],
      125,
      /--dry-run=pods? does not support: a directory of this machine[\s\S]*DOCKER_HOST/,
    ],
    [['exec', '--without-layer', 'swap', '.', '--', 'true'], 2, /a session that is started has every layer/],
    [['undo'], 2, /no session of .*project yet/],
    [['stauts'], 2, /'stauts' is neither a command nor a folder[\s\S]*run-claude status/],
    [['-p', 'hello'], 125, /no login for Claude[\s\S]*ANTHROPIC_API_KEY/],
    [['exec', '--image', 'nowhere.invalid/nothing:at-all', '.', '--', 'true'], 125, /no image nowhere\.invalid/],
  ];
  for (const [words, status, message] of cases) {
    const result = await scene.run(words);
    expect([result.status, result.stderr], words.join(' ')).toEqual([status, expect.stringMatching(message)]);
    expect(result.stderr).not.toContain('    at ');
  }
  // The folder `src` is there: after -p it is a prompt all the same, and -p means a copy.
  const planned = await scene.run(['--dry-run', '-p', 'src']);
  expect(planned.status).toBe(0);
  expect(planned.stdout).toMatch(/works on +a copy/);
  expect(planned.stdout).toMatch(/program .*-p src\n/);
  const bundles = await scene.run(['exec', '--dry-run=oci', '--env', 'TOKEN=hunter2', '.', '--', 'true']);
  expect(bundles.stdout).toContain('TOKEN=');
  expect(bundles.stdout + bundles.stderr).not.toContain('hunter2');
  const { agent } = JSON.parse(bundles.stdout) as { agent: { process: { args: string[] } } };
  expect(agent.process.args.slice(0, 2)).toEqual(['/usr/lib/run-claude/init', '--prove']);
  const lost = new Scene({ env: { DOCKER_HOST: 'unix:///nowhere/engine.sock' } });
  const result = await lost.run(['exec', '.', '--', 'true']);
  await lost[Symbol.asyncDispose]();
  expect([result.status, result.stderr]).toEqual([125, expect.stringMatching(/engine/)]);
  expect(existsSync(path.join(scene.root, 'state/run-claude/sessions'))).toBe(false);
  expect(scene.fingerprint()).toBe(before);
});
