import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

// Accessories of the user's configuration that cannot be used: no session ends for one of them.

const CONFIG = `
[[mcp]]
name = "docs"
url = "https://docs.test/mcp"
oauth = true

[[mcp]]
name = "gone"
command = ["node", "server.js"]
directory = "/nonexistent"

[[broker]]
host = "api.test"
header = "Authorization"
from = ["false"]

[plugin]
passthrough = ["git status", "npx *"]
`;

it('a session starts without what it cannot use of the configuration, and doctor names it', async () => {
  await using scene = new Scene();
  const dir = path.join(scene.root, 'config/run-claude');
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'config.toml'), CONFIG);
  const words = ['exec', '--', 'sh', '-c', 'echo it ran'];
  const run = await scene.run(words);
  expect([run.status, run.stdout]).toEqual([0, 'it ran\n']);
  const warnings = (stderr: string): string[] => stderr.match(/WARNING: .* is left out: .*/g) ?? [];
  expect(warnings(run.stderr).sort()).toEqual([
    expect.stringMatching(/^WARNING: MCP server docs is left out: .*run-claude mcp login docs$/),
    expect.stringMatching(
      /^WARNING: MCP server gone is left out: .*\/nonexistent is not a directory\. Name the directory that has the server\.$/,
    ),
    expect.stringMatching(/^WARNING: The secret of api\.test is left out: \[\[broker\]\] api\.test: false failed\. /),
  ]);

  const without = await scene.run(['exec', '--no-mcp', '--', 'sh', '-c', 'echo it ran']);
  expect([without.status, without.stdout, warnings(without.stderr)]).toEqual([
    0,
    'it ran\n',
    [expect.stringContaining('The secret of api.test')],
  ]);

  const offline = await scene.run(['exec', '--network', 'none', '--', 'sh', '-c', 'echo it ran']);
  expect([offline.status, offline.stdout, warnings(offline.stderr)]).toEqual([0, 'it ran\n', []]);
  expect(offline.stderr).toContain('without a network these settings are not used: [[broker]], [[mcp]]');

  for (const check of [['doctor'], ['exec', '--check', '--', 'true']]) {
    const { stdout } = await scene.run(check);
    expect(stdout).toMatch(/^warning {2}MCP servers +docs: there is no login/m);
    expect(stdout).toMatch(/^warning {2}MCP servers +gone: .*is not a directory/m);
    expect(stdout).toMatch(/^warning {2}Outside the copy +npx \*: npx is not known to run and write nothing/m);
    expect(stdout).not.toContain('fault');
  }

  const added = await scene.run(['mcp', 'add', 'new', '--directory', '/nonexistent', '--', 'node', 'server.js']);
  expect([added.status, added.stderr]).toEqual([2, expect.stringContaining('/nonexistent is not a directory')]);
  expect((await scene.run(['mcp', 'list'])).stdout).not.toContain('new');
});

it('an agent that needs its provider is not started without a network', async () => {
  await using scene = new Scene({ apiKey: 'sk-ant-test' });
  const refused = await scene.run(['--network', 'none', '-p', 'hello']);
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringContaining('ERROR USAGE: Claude cannot reach its provider with --network none'),
  ]);
  scene.write('.run-claude.toml', 'network = "none"\n');
  expect((await scene.run(['-p', 'hello'])).stderr).toContain('with network = "none" of .run-claude.toml');
  expect(JSON.parse((await scene.run(['sessions', '--json'])).stdout)).toEqual([]);
});

it('a proxy that no start takes is a fault of doctor and of --check', async () => {
  await using scene = new Scene();
  const proxy = { HTTPS_PROXY: 'socks5://127.0.0.1:1080' };
  const words = 'HTTPS_PROXY is not an http:// or https:// address';
  for (const check of [['doctor'], ['exec', '--check', '--', 'true']]) {
    const { status, stdout } = await scene.run(check, { env: proxy });
    expect([status, stdout]).toEqual([1, expect.stringMatching(new RegExp(`^fault +Way out +${words}`, 'm'))]);
  }
  const { status, stderr } = await scene.run(['exec', '--', 'true'], { env: proxy });
  expect([status, stderr]).toEqual([2, expect.stringContaining(words)]);
  expect(stderr).not.toContain('works on');
});
