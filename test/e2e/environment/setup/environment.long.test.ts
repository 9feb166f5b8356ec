import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Pty } from '../../../support/pty.ts';
import { mainJs, type RunResult, Scene, type SceneOptions } from '../../../support/scene.ts';

/** A setup that needs no registry. */
const SETUP = [
  'mkdir -p node_modules/dep build ~/.local/bin',
  'cp lock.json node_modules/dep/lock.json',
  'echo made > build/out.txt',
  'echo changed >> lock.json',
  "printf '#!/bin/sh\\necho from-home\\n' > ~/.local/bin/own-tool",
  'chmod +x ~/.local/bin/own-tool',
].join(' && ');

const TABLE = `[environment]\nsetup = '''${SETUP}'''\nfiles = ["lock.json"]\nenv = { FROM_PROJECT = "yes" }\n`;

const asking = (table: string, options: SceneOptions = {}): Scene => {
  const scene = new Scene(options);
  scene.write('lock.json', '{"lock":1}\n');
  scene.write('.gitignore', 'node_modules\n');
  scene.write('.run-claude.toml', table);
  return scene;
};

/** The digest that a refused start names. */
const digestOf = async (scene: Scene): Promise<string> =>
  /--approve ([0-9a-f]{32})/.exec((await scene.run(['exec', '--', 'true'])).stderr)?.[1] ?? '';

const environmentsOf = (scene: Scene): string[] => {
  const dir = path.join(scene.places().cacheDir, 'environments');
  return existsSync(dir) ? readdirSync(dir).filter((name) => existsSync(path.join(dir, name, 'made.json'))) : [];
};

const inside = (scene: Scene, digest: string, script: string, ...more: string[]): Promise<RunResult> =>
  scene.run(['exec', '--approve', digest, ...more, '--', 'sh', '-c', script]);

describe("what a project's file asks for", () => {
  it('is shown whole and refused where nobody can be asked, also with --yes; nothing of it ran', async () => {
    await using scene = asking('[environment]\npackages = ["figlet"]\nsetup = "touch \\u001b[2J/workspace/ran"\n');
    for (const more of [[], ['--yes'], ['--approve', '0'.repeat(32)]]) {
      const refused = await scene.run(['exec', ...more, '--', 'true']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).not.toContain('\u001b');
      expect(refused.stderr).toMatch(/package +figlet/);
      expect(refused.stderr).toMatch(/setup +touch .*\/workspace\/ran/);
    }
    expect(environmentsOf(scene)).toEqual([]);
    expect(existsSync(path.join(scene.places().stateDir, 'sessions'))).toBe(false);
    const plan = await scene.run(['exec', '--dry-run', '--', 'true']);
    expect(plan.stdout).toContain('It is not part of this plan.');
    expect(plan.stdout).not.toMatch(/^packages/m);
    const approved = await scene.run(['exec', '--dry-run', '--approve', await digestOf(scene), '--', 'true']);
    expect(approved.stdout).toMatch(/^packages +figlet/m);
  });

  it('is asked about once on a terminal, and again when it changes', async () => {
    await using scene = asking(TABLE);
    const words = [process.execPath, mainJs, '--copy-workspace', '--shell', scene.project, '--', '-c', 'own-tool'];
    const start = (): Pty => new Pty(words, { cwd: scene.project, env: scene.env, columns: 100, rows: 60 });
    {
      await using pty = start();
      await pty.see(/variable FROM_PROJECT=yes[\s\S]*file for setup lock\.json[\s\S]*setup [\s\S]*\[y\/N\/\?\]:/);
      await pty.enter('no');
      expect(await pty.exited).toBe(130);
      expect(environmentsOf(scene)).toEqual([]);
    }
    {
      await using pty = start();
      await pty.see(/Allow all of this in the sandbox\? \[y\/N\/\?\]:/);
      await pty.enter('y');
      await pty.see(/Start the session\? \[Y\/n\/\?\]:/);
      await pty.enter('y');
      await pty.see(/from-home/);
      expect(await pty.exited).toBe(0);
    }
    {
      await using pty = start();
      expect(await pty.exited).toBe(0);
      expect(pty.output).not.toContain('Allow all of this');
      expect(pty.output).not.toContain('Running the setup');
    }
    scene.write('.run-claude.toml', TABLE.replace('"yes"', '"no"'));
    await using pty = start();
    await pty.see(/variable FROM_PROJECT=no[\s\S]*\[y\/N\/\?\]:/);
    await pty.enter('n');
    expect(await pty.exited).toBe(130);
  });
});

it('a devcontainer.json that the user agreed to gives setup, variables and ports; a session that changes the request is found, with the keys', async () => {
  await using scene = asking('[environment]\npackages = ["figlet"]\ndevcontainer = true\n');
  const devcontainer = {
    postCreateCommand: 'mkdir -p node_modules && echo made > node_modules/made.txt',
    containerEnv: { FROM_DEVCONTAINER: 'yes' },
    forwardPorts: [3000],
    remoteUser: 'root',
  };
  scene.write('.devcontainer/devcontainer.json', JSON.stringify(devcontainer, undefined, 2));
  const refused = await scene.run(['up', '--json']);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toMatch(/port +3000: the agent shows a page/);
  expect(refused.stderr).toContain('remoteUser: the agent is always the user agent');
  const digest = await digestOf(scene);
  const up = await scene.run(['up', '--json', '--approve', digest]);
  expect(up.stderr).toContain('pages of the agent in your browser, from its ports: 3000');
  const { id } = JSON.parse(up.stdout) as { id: string };
  expect(JSON.parse((await scene.run(['ports', id, '--json'])).stdout)).toMatchObject([{ port: 3000 }]);
  const script = 'figlet -v | head -1; cat node_modules/made.txt; echo $FROM_DEVCONTAINER $(id -un)';
  const result = await scene.run(['exec', '--session', id, '--', 'sh', '-c', script]);
  expect(result.stdout).toMatch(/FIGlet[\s\S]*\nmade\nyes agent\n$/);
  expect((await scene.run(['down', id])).status).toBe(0);

  const edits =
    "sed -i 's/3000/8080/; s/echo made/echo more/' .devcontainer/devcontainer.json; sed -i s/figlet/toilet/ .run-claude.toml";
  expect((await inside(scene, digest, edits)).status).toBe(120);
  const { stdout } = await scene.run(['audit', '--json']);
  const { findings } = JSON.parse(stdout) as { findings: readonly { path: string; detail?: string }[] };
  const detailOf = (file: string): string => findings.find(({ path }) => path === file)?.detail ?? '';
  expect(detailOf('.run-claude.toml')).toContain('environment.packages[]: toilet');
  expect(detailOf('.devcontainer/devcontainer.json')).toMatch(/postCreateCommand: .*echo more.*forwardPorts\[\]: 8080/);
  // What the session asked for is not what the user agreed to.
  expect((await scene.run(['exec', '--dry-run', '--', 'true'])).stdout).toContain(digest);
});

describe('a setup', () => {
  it.each(['layers', 'copy', 'volume'])(
    'runs once; home and project have what it made, and none of it comes back (%s)',
    async (strategy) => {
      await using scene = asking(TABLE);
      const digest = await digestOf(scene);
      const script = [
        'own-tool; cat node_modules/dep/lock.json build/out.txt lock.json; echo $FROM_PROJECT',
        'echo x > node_modules/dep/new; rm -r build; mkdir build; echo y > build/out.txt',
        'echo mine > created.txt; echo more >> src/file1.txt',
      ].join('; ');
      const first = await inside(scene, digest, script, `--copy-workspace=${strategy}`);
      expect(first.stdout.split('\n')).toEqual(['from-home', '{"lock":1}', 'made', '{"lock":1}', 'yes', '']);
      expect(first.stderr).toContain('Running the setup of the environment, once');
      const changes = await scene.run(['diff', '--stat']);
      expect(changes.stdout.match(/\S+$/gm)).toEqual(['created.txt', 'src/file1.txt']);
      const second = await inside(
        scene,
        digest,
        'cat node_modules/dep/new build/out.txt',
        `--copy-workspace=${strategy}`,
      );
      expect(second.stderr).not.toContain('Running the setup');
      expect(second.stdout).toBe('made\n');
      expect(environmentsOf(scene)).toHaveLength(1);
      scene.write('lock.json', '{"lock":2}\n');
      const refused = await inside(scene, digest, 'true', `--copy-workspace=${strategy}`);
      expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('REQUEST_NOT_APPROVED')]);
      const third = await inside(
        scene,
        await digestOf(scene),
        'cat node_modules/dep/lock.json',
        `--copy-workspace=${strategy}`,
      );
      expect(third.stdout).toBe('{"lock":2}\n');
      expect(environmentsOf(scene)).toHaveLength(2);
    },
  );

  it('reads no credential, no variable of the user and no other file of the project, and has no right of root', async () => {
    const secret = 'REAL-SECRET-71b2';
    const probe = [
      'env > /tmp/env',
      'cat /proc/[0-9]*/environ > /tmp/environ 2>/dev/null || true',
      'grep -rlsF REAL-SECRET /tmp /home /workspace /run /etc /var /opt /root > found.txt || true',
      'grep CapEff /proc/self/status >> found.txt',
      'if touch /usr/x /etc/x 2>/dev/null; then echo writable >> found.txt; fi',
      "curl -s -o /dev/null -w '%{http_code}' https://api.anthropic.com/v1/models >> found.txt || true",
      'ls -A >> found.txt',
      'true',
    ].join('; ');
    const table = (files: string): string => `[environment]\nsetup = '''${probe}'''\nfiles = [${files}]\n`;
    await using scene = asking(table('"lock.json"'), { apiKey: `sk-ant-${secret}`, apiUrl: 'http://127.0.0.1:9' });
    scene.write('secret.txt', secret);
    const look = async (): Promise<string[]> => {
      const more = ['--env', `TOKEN=${secret}`, '--unmask', 'secret.txt'];
      return (await inside(scene, await digestOf(scene), 'cat found.txt', ...more)).stdout.trim().split('\n');
    };
    const nothing = ['CapEff:\t0000000000000000', '000found.txt', 'lock.json'];
    expect(await look()).toEqual(nothing);
    // The same setup sees a secret that is planted where it looks.
    scene.write('.run-claude.toml', table('"lock.json", "secret.txt"'));
    expect(await look()).toEqual(['/workspace/secret.txt', ...nothing, 'secret.txt']);
  });

  it('that fails shows its last lines, and nothing of it is kept', async () => {
    await using scene = asking(
      '[environment]\nsetup = "echo before; mkdir made; echo why-it-failed >&2; exit 3; echo no"\n',
    );
    const digest = await digestOf(scene);
    for (let i = 0; i < 2; i++) {
      const failed = await inside(scene, digest, 'ls made');
      expect(failed.status).toBe(125);
      expect(failed.stderr).toMatch(/before[\s\S]*why-it-failed[\s\S]*ended with status 3/);
      expect(failed.stdout).toBe('');
    }
    expect(environmentsOf(scene)).toEqual([]);
  });

  it('reads no masked file', async () => {
    await using scene = asking('mask = [".env"]\n[environment]\nsetup = "cat .env"\nfiles = [".env"]\n');
    scene.write('.env', 'SECRET=1');
    const refused = await inside(scene, await digestOf(scene), 'true');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('.env is excluded or masked');
  });
});

describe('packages', () => {
  it('are in the image, which has the guards of every image; an unknown one is named', async () => {
    await using scene = asking('[environment]\npackages = ["figlet", "redis-server"]\n');
    const script = 'figlet -v | head -1; redis-server --version; command -v su mount passwd; id -u; echo end';
    const result = await inside(scene, await digestOf(scene), script);
    expect(result.stdout).toMatch(/^\s*FIGlet[\s\S]*Redis server[\s\S]*\n\d+\nend\n$/);
    expect(result.stdout).not.toMatch(/^0$/m);
    expect(result.stdout).not.toMatch(/\/(su|mount|passwd)\n/);
    scene.write('.run-claude.toml', '[environment]\npackages = ["no-such-package"]\n');
    const unknown = await inside(scene, await digestOf(scene), 'true');
    expect(unknown.status).toBe(125);
    expect(unknown.stderr).toContain('has no package no-such-package');
  });

  it('with the browser, take a screenshot of a local page, without a warning about the hosts that Chromium contacts by itself', async () => {
    await using scene = new Scene();
    scene.write('page.html', '<h1>Hello</h1>');
    const script = [
      'python3 -m http.server 3000 >/dev/null 2>&1 &',
      'sleep 2; chromium --headless --screenshot=/tmp/page.png --window-size=640,480 http://localhost:3000/page.html >/tmp/log 2>&1',
      'file /tmp/page.png; cat ~/.claude/CLAUDE.md; ls -l /opt/google/chrome/chrome',
    ].join('\n');
    const run = ['exec', '--copy-workspace', '--with', 'browser', '--', 'sh', '-c', script];
    const result = await scene.run(run);
    expect(result.stdout).toContain('PNG image data, 640 x 480');
    expect(result.stdout).toContain('Chromium is `/usr/bin/chromium`');
    expect(result.stderr).not.toContain('network: refused');
  });
});
