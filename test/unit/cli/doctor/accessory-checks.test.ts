import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loginStore } from '../../../../src/agents/mcp-login/login-store.ts';
import { accessoryChecks, readAccessories } from '../../../../src/cli/doctor/accessory-checks.ts';
import { fault, ok, warning } from '../../../../src/cli/doctor/check.ts';
import { leftOutServers } from '../../../../src/session/stage/servers/usable-servers.ts';

async function configured(text: string, project = '') {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-accessory-checks-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [configDir, dataDir, cwd] = [path.join(root, 'config'), path.join(root, 'data'), path.join(root, 'project')];
  for (const dir of [configDir, dataDir, cwd]) mkdirSync(dir);
  writeFileSync(path.join(cwd, '.run-claude.toml'), project);
  writeFileSync(path.join(configDir, 'config.toml'), text);
  const places = { home: root, stateDir: root, cacheDir: root, dataDir, configDir };
  const read = await readAccessories({ places, cwd, env: {} });
  const place = { roots: [], isLocal: true };
  return { read, dataDir, configDir, check: () => accessoryChecks(read, place, dataDir) };
}

const SERVERS = `
[[mcp]]
name = "free"
url = "https://free.test/mcp"
[[mcp]]
name = "docs"
url = "https://docs.test/mcp"
oauth = true
[[mcp]]
name = "gone"
command = ["x"]
directory = "/nonexistent"
[plugin]
passthrough = ["git status", "taskset *"]
`;

it('names each accessory that a session would leave out, with its remedy', async () => {
  const { check } = await configured(SERVERS);
  expect(await check()).toEqual([
    ok('mcp', '1 of 3 can be used'),
    warning('mcp', 'docs: there is no login to the MCP server docs', 'To log in: run-claude mcp login docs'),
    warning('mcp', 'gone: [[mcp]] gone: /nonexistent is not a directory', 'Name the directory that has the server.'),
    warning(
      'passthrough',
      'taskset *: taskset is not known to run and write nothing, so the entry has to name every word, without a * at its end',
      'Change it in [plugin] of config.toml.',
    ),
  ]);
});

it('takes a login that can still be used, and names one that has expired', async () => {
  const { check, dataDir } = await configured(SERVERS.slice(0, SERVERS.indexOf('[[mcp]]\nname = "gone"')));
  const store = loginStore(dataDir, 'docs', { platform: 'linux' });
  const login = {
    version: 1 as const,
    server: 'https://docs.test/mcp',
    resource: 'https://docs.test/mcp',
    issuer: 'https://docs.test',
    tokenEndpoint: 'https://docs.test/token',
    client: { id: 'x', secret: undefined, method: 'none' as const },
    access: 'a',
    refresh: undefined,
    expiresMs: Date.now() + 60_000,
  };
  await store.locked(() => store.write(login));
  expect(await check()).toEqual([ok('mcp', '2 of 2 can be used')]);
  await store.locked(() => store.write({ ...login, expiresMs: 1 }));
  expect((await check())[1]?.text).toContain('docs has expired, and it cannot be refreshed');
  await store.locked(() => store.write({ ...login, server: 'https://other.test/mcp' }));
  expect((await check())[1]?.text).toContain('there is no login');
});

it('says nothing where the configuration has none, and has a fault for a file that no session can read', async () => {
  expect(await (await configured('')).check()).toEqual([]);
  const { read, configDir } = await configured('[[mcp]]\nname = "x"\n');
  expect(read.mcpServers).toEqual([]);
  expect(read.checks).toEqual([expect.objectContaining({ name: 'configuration', result: 'fault' })]);
  expect(read.checks[0]).toEqual(fault('configuration', expect.stringContaining(configDir), expect.any(String)));
});

it.each([
  ['[audit.severities]\nno-such-rule = "blocked"', '', 'no-such-rule is not the id of a rule'],
  ['port = ["99999"]', '', "port: '99999' is not a port"],
  ['allow-host = ["https://github.com/x"]', '', "allow-host: 'https://github.com/x' is not HOST"],
  ['[[broker]]\nhost = "*.a.test"\nheader = "A"\nfrom = ["x"]', '', 'config.toml: [[broker]] *.a.test'],
  ['cache = ["uvv"]', '', "there is no cache 'uvv'"],
  ['profile = "none"', '', "config.toml: there is no profile 'none'"],
  ['', 'memory = "x"', ".run-claude.toml: memory: 'x' is not allowed"],
])('has a fault for each value with which no session starts here: %j %j', async (config, project, words) => {
  const { read } = await configured(config, project);
  expect(read.checks).toEqual([fault('configuration', expect.stringContaining(words), expect.any(String))]);
});

it('knows before a start which servers it leaves out, and no others', async () => {
  const { read, dataDir } = await configured(SERVERS);
  const place = { roots: [], isLocal: true };
  expect(await leftOutServers(read, place, dataDir)).toEqual(['docs', 'gone']);
  expect(await leftOutServers({}, place, dataDir)).toEqual([]);
  const inside = {
    ...read,
    mcpServers: [],
    mcpPrograms: read.mcpPrograms.map((one) => ({ ...one, directory: dataDir })),
  };
  expect(await leftOutServers(inside, place, dataDir)).toEqual([]);
  expect(await leftOutServers(inside, { ...place, roots: [dataDir] }, dataDir)).toEqual(['gone']);
  expect(await leftOutServers(inside, { ...place, isLocal: false }, dataDir)).toEqual(['gone']);
});
