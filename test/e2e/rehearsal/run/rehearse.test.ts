import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { mainJs, Scene } from '../../../support/scene.ts';

/** No rule of text knows what these lines are: the tests stay green. */
const HIDDEN = `
try { require("child_process").execSync("uname"); } catch {}
try { require("fs").readFileSync([require("os").homedir(), "." + "ssh", "id_" + "rsa"].join("/")); } catch {}
try { require("net").connect(443, "192.0.2.7").on("error", () => {}).unref(); } catch {}
`;

const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'p', version: '1.0.0', scripts: { test: 'node --test' } }),
  'lib/add.js': 'exports.add = (a, b) => a + b;\n',
  'test/add.test.js':
    'require("node:test")("adds", () => { if (require("../lib/add.js").add(1, 2) !== 3) throw new Error(); });\n',
};

function writeFiles(dir: string): void {
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), content);
  }
}

function project(): Scene {
  const scene = new Scene();
  writeFiles(scene.project);
  scene.git('add', '-A');
  scene.git('commit', '-qm', 'project');
  return scene;
}

const inside = (scene: Scene, script: string) => scene.run(['exec', scene.project, '--', 'sh', '-c', script]);

/** Kills a rehearsal. Its container ends with it: the observer's input did. */
async function killRehearsal(scene: Scene, id: string): Promise<void> {
  const command = spawn(process.execPath, [mainJs, 'rehearse'], {
    cwd: scene.project,
    env: scene.env,
    stdio: 'ignore',
  });
  await expect.poll(() => left(id, 'ps', '-q')).not.toBe('');
  command.kill('SIGKILL');
  await once(command, 'exit');
  await expect.poll(() => left(id, 'ps', '-q')).toBe('');
}

const left = (id: string, ...words: string[]): string =>
  execFileSync('docker', [...words, '--filter', `label=run-claude.session=${id}`], { encoding: 'utf8' });

it('names what the changes start, keeps it with the audit, is silent about a harmless change, and leaves nothing', async () => {
  await using scene = project();
  await inside(scene, 'echo "exports.sub = (a, b) => a - b;" >> lib/add.js; echo notes > notes.txt');
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  await killRehearsal(scene, session.id);
  const harmless = await scene.run(['rehearse', '--json']);
  // Nothing is left of it, nor of the one that was killed.
  expect([left(session.id, 'ps', '-aq'), left(session.id, 'volume', 'ls', '-q')]).toEqual(['', '']);
  expect(existsSync(path.join(scene.places().stateDir, 'sessions', session.id, 'explore'))).toBe(false);
  expect(JSON.parse(harmless.stdout)).toMatchObject({ findings: [], untouched: ['notes.txt'] });
  expect(JSON.parse(harmless.stdout).ran).toEqual(expect.arrayContaining(['git status', 'npm test', 'npm install']));
  expect(harmless.status).toBe(0);
  await scene.run(['discard', '--yes']);

  // At the end of a session: what it finds holds everything back.
  const report = path.join(scene.root, 'report.json');
  const auto = ['exec', '--auto-apply', '--rehearse', 'always', '--report', report, scene.project, '--', 'sh', '-c'];
  const held = await scene.run([...auto, `echo notes > notes.txt; cat >> lib/add.js <<'JS'\n${HIDDEN}JS`]);
  expect(held.stderr).toMatch(/WARNING: Opens a connection: lib\/add\.js: npm test: connects to 192\.0\.2\.7:443/);
  expect(held.status).toBe(121);
  expect(existsSync(path.join(scene.project, 'notes.txt'))).toBe(false);
  // It is in the report of the session, and in one that is written later for a code scanner.
  expect(readFileSync(report, 'utf8')).toContain('npm test: connects to 192.0.2.7:443');
  const sarif = path.join(scene.root, 'report.sarif');
  await scene.run(['status', '--report', sarif]);
  const [{ results }] = JSON.parse(readFileSync(sarif, 'utf8')).runs;
  expect(results.map(({ ruleId }: { ruleId: string }) => ruleId)).toContain('rehearsed-connection');
  // A resumed session holds the lock of its layer, and is rehearsed all the same.
  const resumed = await scene.run(['resume']);
  expect(resumed.stderr).not.toContain('were not rehearsed');
  expect(resumed.stderr).toMatch(/WARNING: Opens a connection: lib\/add\.js: npm test: connects to 192\.0\.2\.7:443/);
  expect(resumed.status).toBe(121);
  await scene.run(['discard', '--yes']);

  const hidden = `cat >> lib/add.js <<'JS'\n${HIDDEN}JS\nmkdir .tools; printf '#!/bin/sh\\nid\\nexit 1\\n' > .tools/fs.sh; chmod +x .tools/fs.sh; printf '[core]\\n\\tfsmonitor = .tools/fs.sh\\n' >> .git/config`;
  const ended = await inside(scene, hidden);
  expect(ended.stderr).not.toContain('lib/add.js');
  const before = scene.fingerprint();
  const found = await scene.run(['rehearse']);
  expect(found.status).toBe(123);
  expect(
    found.stderr.replaceAll(/ \(npm > [^)]*\)/g, ''),
  ).toContain(`WARNING: Opens a connection: lib/add.js: npm test: connects to 192.0.2.7:443
            Reads a secret: npm test: reads ~/.ssh/id_rsa
            Starts a program: npm test: starts uname
`);
  // What the audit read, and what it runs.
  expect(found.stderr).toMatch(
    /Hidden file of an unknown tool: \.tools\/fs\.sh: .*\n +and it runs: git status and \d more commands: starts sh \.tools\/fs\.sh/,
  );
  // Each finding once, and no other.
  expect(found.stderr.match(/lib\/add\.js/g)).toHaveLength(1);
  expect(scene.fingerprint()).toBe(before);

  const status = await scene.run(['status']);
  expect(status.stderr + status.stdout).toContain('Reads a secret: npm test');
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status).toBe(121);
  expect(readFileSync(path.join(scene.project, 'lib/add.js'), 'utf8')).toBe(FILES['lib/add.js']);
});

it('tries commands of the configuration, those that were added since the session started too', async () => {
  await using scene = project();
  writeFileSync(path.join(scene.project, '.env'), 'TOKEN=a8f5f167f44f4964e6c998dee827110c\n');
  await inside(scene, 'mkdir tools; echo "id -u > /dev/null; read line < .env" > tools/check.sh');
  const config = path.join(scene.root, 'config/run-claude');
  mkdirSync(config, { recursive: true });
  writeFileSync(
    path.join(config, 'config.toml'),
    '[[scene]]\nname = "check"\ncommand = "sh tools/check.sh"\nfiles = ["tools/check.sh"]\n',
  );
  const found = await scene.run(['rehearse', '--json']);
  expect(found.status).toBe(123);
  expect(JSON.parse(found.stdout)).toMatchObject({
    findings: [
      // It is masked in the copy: this reads its decoy.
      { path: 'tools/check.sh', rule: 'rehearsed-decoy-read', detail: 'check: reads .env (sh tools/check.sh)' },
      { path: 'tools/check.sh', rule: 'rehearsed-program', detail: 'check: starts sh tools/check.sh' },
      { path: 'tools/check.sh', rule: 'rehearsed-program', detail: 'check: starts id (sh tools/check.sh)' },
    ],
  });
  expect(JSON.parse(found.stdout).ran[0]).toBe('check');
});

it('rehearses a folder of --also by itself, and holds back what it finds there', async () => {
  await using scene = project();
  const library = path.join(scene.root, 'library');
  writeFiles(library);
  const change = `echo x >> notes.txt; cat >> /also/library/lib/add.js <<'JS'\n${HIDDEN}JS`;
  const words = ['--auto-apply', '--rehearse', 'always', '--also', library, scene.project];
  const held = await scene.run(['exec', ...words, '--', 'sh', '-c', change]);
  expect(held.stderr).toMatch(/WARNING: Opens a connection: lib\/add\.js: npm test: connects to 192\.0\.2\.7:443/);
  expect(held.status).toBe(121);
  expect(readFileSync(path.join(library, 'lib/add.js'), 'utf8')).toBe(FILES['lib/add.js']);
});
