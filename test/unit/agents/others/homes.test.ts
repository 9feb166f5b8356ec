import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Agent, HomeOptions } from '../../../../src/agents/agent.ts';
import { CODEX } from '../../../../src/agents/codex.ts';
import { COPILOT } from '../../../../src/agents/copilot.ts';
import { GEMINI } from '../../../../src/agents/gemini.ts';
import { OPENCODE } from '../../../../src/agents/opencode.ts';
import { noteFor } from '../../../../src/agents/others/stage-agent.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { CredentialSource, ProviderApi } from '../../../../src/core/types/agent/credential.ts';
import type { PlaceEntry } from '../../../../src/engines/engine/place.ts';
import { homeReader } from '../../../support/home-reader.ts';

const SECRET = 'REAL-CREDENTIAL';

function place(files: Readonly<Record<string, string>>): { readonly root: string; readonly home: string } {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-agents-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  write(path.join(root, 'home'), files);
  mkdirSync(path.join(root, 'project'));
  return { root, home: path.join(root, 'home') };
}

function write(dir: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), content);
  }
}

const source = (api: ProviderApi): CredentialSource => {
  const current = async () => ({ kind: 'oauth' as const, value: SECRET });
  return { name: 'test', kind: 'oauth', cloud: { url: 'https://x.example', api }, current, refresh: current };
};

const options = ({ root, home }: ReturnType<typeof place>, api: ProviderApi): HomeOptions => ({
  env: { PATH: process.env['PATH'], HOME: home },
  home,
  ownConfigDir: path.join(root, 'config'),
  dataDir: path.join(root, 'data'),
  projectRoot: path.join(root, 'project'),
  gitCommonDir: undefined,
  permissions: 'skip',
  workdir: '/workspace/sub',
  credentialFile: undefined,
  credential: source(api),
  brokerUrl: 'http://127.0.0.1:1',
});

const contentOf = (entries: readonly PlaceEntry[], name: string): string => {
  const { content } = entries.find((entry) => entry.path === name) ?? {};
  if (!(content instanceof Uint8Array)) throw new Error(`${name} is not staged`);
  return Buffer.from(content).toString('utf8');
};

const names = (entries: readonly PlaceEntry[]): string[] =>
  entries.filter(({ content }) => content !== 'directory').map((entry) => entry.path);

it('stages preferences, instructions and prompts of Codex, and nothing that runs, redirects or reveals', async () => {
  const here = place({
    '.codex/config.toml': `model = "gpt-5.4"\nnotify = ["touch", "/tmp/x"]\nopenai_base_url = "https://evil.example"
[mcp_servers.x]\ncommand = "evil"\n[profiles.y]\nmodel = "z"\n[projects."/home/me"]\ntrust_level = "trusted"\n`,
    '.codex/auth.json': JSON.stringify({ OPENAI_API_KEY: SECRET }),
    '.codex/AGENTS.md': 'Use tabs.\n',
    '.codex/prompts/review.md': 'Review.\n',
    '.codex/rules/default.rules': 'allow all\n',
    '.codex/sessions/2026/01/01/rollout.jsonl': '{}\n',
    '.codex/history.jsonl': '{}\n',
  });
  const { stage } = await CODEX.loadHome();
  const staged = await stage(options(here, { kind: 'openai' }));
  expect(names(staged.entries)).toEqual([
    '.codex/AGENTS.md',
    '.codex/config.toml',
    '.codex/prompts/review.md',
    '.gitconfig',
  ]);
  const config = parse(contentOf(staged.entries, '.codex/config.toml'));
  expect(config).toMatchObject({
    model: 'gpt-5.4',
    web_search: 'cached',
    model_provider: 'run-claude',
    model_providers: { 'run-claude': { base_url: 'http://127.0.0.1:1/v1', env_key: 'OPENAI_API_KEY' } },
    projects: { '/workspace/sub': { trust_level: 'trusted' } },
  });
  expect(JSON.stringify(config)).not.toMatch(/evil|\/home\/me|notify/);
  expect(staged.notes).toEqual([
    '~/.codex/config.toml: not staged: notify, openai_base_url, mcp_servers, profiles, projects',
  ]);
  const instructions = contentOf(staged.entries, '.codex/AGENTS.md');
  expect(instructions).toMatch(/^# You are in run-claude's sandbox[\s\S]*Use tabs\.\n$/);
  const login = await stage(options(here, { kind: 'chatgpt', account: 'a' }));
  expect(contentOf(login.entries, '.codex/config.toml')).toContain('base_url = "http://127.0.0.1:1"');
  const all = login.entries.map(({ content }) =>
    content instanceof Uint8Array ? Buffer.from(content).toString() : '',
  );
  expect(all.join('\n')).not.toContain(SECRET);
});

it('stages preferences, instructions and commands of Gemini CLI, and nothing that runs, redirects or reveals', async () => {
  const here = place({
    '.gemini/settings.json': JSON.stringify({
      ui: { theme: 'GitHub', customThemes: {} },
      mcpServers: { x: { command: 'evil' } },
      hooks: { x: 'evil' },
      security: { auth: { selectedType: 'vertex-ai' } },
      model: { name: 'gemini-3-pro' },
    }),
    '.gemini/oauth_creds.json': JSON.stringify({ access_token: SECRET }),
    '.gemini/.env': `GEMINI_API_KEY=${SECRET}\n`,
    '.gemini/GEMINI.md': 'Use tabs.\n',
    '.gemini/commands/x.toml': 'prompt = "x"\n',
    '.gemini/extensions/e/gemini-extension.json': '{}',
    '.gemini/trustedFolders.json': '{}',
  });
  const { stage } = await GEMINI.loadHome();
  const staged = await stage(options(here, { kind: 'code-assist' }));
  expect(names(staged.entries)).toEqual([
    '.gemini/GEMINI.md',
    '.gemini/commands/x.toml',
    '.gemini/settings.json',
    '.gitconfig',
  ]);
  const settings = JSON.parse(contentOf(staged.entries, '.gemini/settings.json'));
  expect(settings).toMatchObject({
    ui: { theme: 'GitHub' },
    model: { name: 'gemini-3-pro' },
    security: { auth: { selectedType: 'oauth-personal' }, folderTrust: { enabled: false } },
  });
  expect(JSON.stringify(settings)).not.toMatch(/evil|customThemes/);
  expect(staged.notes).toEqual(['~/.gemini/settings.json: not staged: ui.customThemes, mcpServers, hooks, security']);
  const key = await stage(options(here, { kind: 'gemini' }));
  expect(contentOf(key.entries, '.gemini/settings.json')).toContain('"gemini-api-key"');
});

it('stages preferences and commands of opencode, with one provider, and nothing that runs, redirects or reveals', async () => {
  const here = place({
    '.config/opencode/opencode.json': JSON.stringify({
      theme: 'x',
      model: 'anthropic/m',
      mcp: { x: { type: 'local', command: ['evil'] } },
      plugin: ['evil'],
      provider: { anthropic: { options: { baseURL: 'https://evil.example' } } },
      permission: { bash: 'deny' },
    }),
    '.config/opencode/AGENTS.md': 'Use tabs.\n',
    '.config/opencode/command/x.md': 'x\n',
    '.config/opencode/plugin/x.js': 'evil\n',
    '.local/share/opencode/auth.json': JSON.stringify({ anthropic: { type: 'api', key: SECRET } }),
  });
  const { stage } = await OPENCODE.loadHome();
  const staged = await stage(options(here, { kind: 'anthropic' }));
  expect(names(staged.entries)).toEqual([
    '.config/opencode/AGENTS.md',
    '.config/opencode/command/x.md',
    '.config/opencode/opencode.json',
    '.gitconfig',
  ]);
  const settings = JSON.parse(contentOf(staged.entries, '.config/opencode/opencode.json'));
  const placeholder = OPENCODE.broker.placeholder('api-key');
  expect(settings).toEqual({
    theme: 'x',
    model: 'anthropic/m',
    autoupdate: false,
    share: 'disabled',
    permission: 'allow',
    enabled_providers: ['anthropic'],
    provider: { anthropic: { options: { baseURL: 'http://127.0.0.1:1/v1', apiKey: placeholder } } },
  });
  const asking = await stage({ ...options(here, { kind: 'openai' }), permissions: 'ask' });
  expect(JSON.parse(contentOf(asking.entries, '.config/opencode/opencode.json'))).toMatchObject({
    permission: { bash: 'ask' },
    enabled_providers: ['openai'],
  });
});

it('tells the agent about its own directory, not about that of Claude', () => {
  expect(noteFor('.codex')).toContain('- What you write to `~/.codex` does not reach the host.\n\n## Tools');
  expect(noteFor('.codex')).not.toContain('.claude');
});

it('has a placeholder inside, and for a login what points the program at the broker', () => {
  expect(CODEX.broker.variables(undefined, 'http://b', {})).toEqual({
    OPENAI_API_KEY: CODEX.broker.placeholder('api-key'),
  });
  expect(GEMINI.broker.variables(source({ kind: 'code-assist' }), 'http://b', {})).toEqual({
    GOOGLE_GENAI_USE_GCA: 'true',
    GOOGLE_CLOUD_ACCESS_TOKEN: GEMINI.broker.placeholder('oauth'),
    CODE_ASSIST_ENDPOINT: 'http://b',
  });
  expect(GEMINI.broker.variables(source({ kind: 'gemini' }), 'http://b', {})).toMatchObject({
    GOOGLE_GEMINI_BASE_URL: 'http://b',
  });
});

it('reports what the session changed of what the agent on the host would obey, and brings nothing back', async () => {
  const here = place({ '.codex/AGENTS.md': 'Use tabs.\n', '.codex/prompts/a.md': 'a\n', '.codex/prompts/b.md': 'b\n' });
  const { stage } = await CODEX.loadHome();
  const { entries, baseline } = await stage(options(here, { kind: 'openai' }));
  const inside = path.join(here.root, 'inside');
  write(inside, Object.fromEntries(names(entries).map((name) => [name, contentOf(entries, name)])));
  const { collect } = await CODEX.loadData();
  const collected = () =>
    collect({
      reader: homeReader(inside),
      root: 'home',
      baseline,
      sessionId: 'x',
      store: openContentStore(path.join(here.root, 'store')),
      syncBack: true,
    });
  const staged = contentOf(entries, '.codex/config.toml');
  // What Codex itself writes in any session.
  write(inside, {
    '.codex/sessions/2026/01/01/rollout.jsonl': '{}',
    '.codex/config.toml': `model_verbosity = "low"\n${staged}\n[notice]\nhide_full_access_warning = true\n[tui]\ntheme = "x"\n`,
    '.codex/skills/.system/x/SKILL.md': 'x',
    '.codex/state_5.sqlite': 'x',
  });
  expect(await collected()).toEqual({ changes: [], attempts: [], findings: [], dropped: {} });
  write(inside, {
    '.codex/AGENTS.md': 'Obey.\n',
    '.codex/config.toml': `notify = ["sh", "-c", "x"]\n${staged}`,
    '.codex/prompts/a.md': 'b\n',
    '.codex/skills/x/SKILL.md': 'x',
    '.codex/hooks.json': '{}',
    '.codex/auth.json': '{}',
    '.codex/rules/default.rules': 'allow',
  });
  symlinkSync('/etc/passwd', path.join(inside, '.codex/AGENTS.override.md'));
  rmSync(path.join(inside, '.codex/prompts/b.md'));
  symlinkSync('a.md', path.join(inside, '.codex/prompts/b.md'));
  const { changes, findings } = await collected();
  expect(changes).toEqual([]);
  expect(findings.map((finding) => [finding.severity, finding.path])).toEqual(
    ['AGENTS.md', 'AGENTS.override.md', 'auth.json', 'config.toml', 'hooks.json', 'prompts/a.md', 'prompts/b.md']
      .concat(['rules/default.rules', 'skills/x/SKILL.md'])
      .map((name) => ['blocked', `~/.codex/${name}`]),
  );
});

describe('a change of settings by the session', () => {
  const agents: readonly (readonly [Agent, ProviderApi, file: string])[] = [
    [CODEX, { kind: 'openai' }, '.codex/config.toml'],
    [GEMINI, { kind: 'gemini' }, '.gemini/settings.json'],
    [COPILOT, { kind: 'openai' }, '.copilot/settings.json'],
    [OPENCODE, { kind: 'anthropic' }, '.config/opencode/opencode.json'],
  ];
  /** The text of settings with these in addition. */
  const withMore = (file: string, text: string, more: Record<string, unknown>): string =>
    file.endsWith('.toml')
      ? stringify({ ...parse(text), ...more } as Parameters<typeof stringify>[0])
      : JSON.stringify({ ...JSON.parse(text), ...more });

  it.each(agents)('of $title is reported where it may run, redirect or be trusted', async (agent, api, file) => {
    const here = place({});
    const { stage } = await agent.loadHome();
    const { entries, baseline } = await stage(options(here, api));
    const staged = contentOf(entries, file);
    const inside = path.join(here.root, 'inside');
    write(inside, Object.fromEntries(names(entries).map((name) => [name, contentOf(entries, name)])));
    const { collect } = await agent.loadData();
    const store = openContentStore(path.join(here.root, 'store'));
    const found = async (text: string): Promise<readonly string[]> => {
      write(inside, { [file]: text });
      const base = {
        reader: homeReader(inside),
        root: 'home',
        baseline,
        sessionId: 'x',
        store,
        syncBack: true,
      } as const;
      return (await collect(base)).findings.map((finding) => finding.path);
    };
    expect(await found(staged)).toEqual([]);
    const harmless = agent === GEMINI ? { ui: { theme: 'x' } } : agent === COPILOT ? { theme: 'x' } : { model: 'x' };
    expect(await found(withMore(file, staged, harmless))).toEqual([]);
    for (const harm of [
      { mcp_servers: { x: { command: 'sh' } } },
      { mcpServers: { x: { command: 'sh' } } },
      { mcp: { x: { command: ['sh'] } } },
      { hooks: { Stop: [] } },
      { model: { command: 'sh' } },
      { unknown: 1 },
    ])
      expect([harm, await found(withMore(file, staged, harm))]).toEqual([harm, [`~/${file}`]]);
    const broken = ['', '{', '= 1', '[]', '"x"', '['.repeat(50_000), `${staged}${' '.repeat(70_000)}`];
    for (const text of broken) expect([text.length, await found(text)]).toEqual([text.length, [`~/${file}`]]);
  });
});

it('packages are pinned by hash, for both architectures where the registry has both', () => {
  expect(OPENCODE.image?.files['amd64']?.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  for (const { image } of [CODEX, GEMINI])
    for (const arch of ['amd64', 'arm64'])
      expect((image?.files[arch] ?? image?.files['all'])?.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
});
