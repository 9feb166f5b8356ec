import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type StagedClaude, stageClaude } from '../../../../../src/agents/claude/stage/stage.ts';
import type { StageOptions } from '../../../../../src/agents/claude/stage/stage-options.ts';

let top = '';
const at = (...parts: string[]): string => join(top, ...parts);
const write = (path: string, content: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
};

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'rc-stage-'));
  for (const dir of ['home/.claude', 'work/y', 'work-y']) mkdirSync(at(dir), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

function stage(more: Partial<StageOptions> = {}): Promise<StagedClaude> {
  return stageClaude({
    env: { PATH: process.env['PATH'], HOME: at('home') },
    home: at('home'),
    configDir: at('home/.claude'),
    ownConfigDir: at('config'),
    dataDir: at('data'),
    projectRoot: at('work/y'),
    gitCommonDir: undefined,
    permissions: 'skip',
    ...more,
  });
}

const contentOf = (staged: StagedClaude, path: string): string | undefined =>
  staged.entries.find((entry) => entry.path === path)?.content?.toString();
const everything = (staged: StagedClaude): string =>
  staged.entries.map((entry) => `${entry.path} ${entry.content?.toString() ?? ''}`).join('\n');

describe('conversations of the project', () => {
  it('keep the time of their last change, and a named one is staged however old it is', async () => {
    const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    const { instance } = await stage();
    for (let n = 1; n <= 60; n += 1) {
      const file = join(instance.dir, 'projects/-workspace', `${id(n)}.jsonl`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '{}\n');
      utimesSync(file, n, n);
    }
    const staged = await stage({ conversation: id(3) });
    const times = staged.entries
      .filter(({ path }) => path.endsWith('.jsonl') && path.includes('/-workspace/'))
      .map(({ path, mtimeMs }) => [path.slice(-8, -6), mtimeMs]);
    expect(times).toHaveLength(50);
    expect(times.slice(0, 2)).toEqual([
      ['03', 3000],
      ['12', 12_000],
    ]);
  });
});

describe('the staged home', () => {
  it('has all that Claude needs to start without a question, from an empty home too', async () => {
    rmSync(at('home'), { recursive: true });
    const staged = await stage({ placeholder: 'sk-ant-placeholder-0123456789abcdefghij', workdir: '/workspace/sub' });
    const json = JSON.parse(contentOf(staged, '.claude.json') ?? '') as Record<string, Record<string, unknown>>;
    expect(json).toMatchObject({ hasCompletedOnboarding: true, bypassPermissionsModeAccepted: true, theme: 'dark' });
    expect(json['customApiKeyResponses']?.['approved']).toEqual(['0123456789abcdefghij']);
    expect(Object.keys(json['projects'] ?? {})).toEqual(['/workspace', '/workspace/sub']);
    expect(staged.notes).toEqual([]);
  });

  it('has settings without keys that run, redirect or hold values, which a note names', async () => {
    write(
      'home/.claude/settings.json',
      JSON.stringify({
        model: 'opus',
        hooks: { Stop: [] },
        env: { TOKEN: 'secret-value' },
        apiKeyHelper: 'secret-value',
        statusLine: { type: 'command', command: 'secret-value' },
        permissions: {
          allow: ['Bash(ls:*)'],
          deny: ['WebFetch'],
          defaultMode: 'bypassPermissions',
          additionalDirectories: ['/'],
        },
      }),
    );
    const staged = await stage();
    expect(JSON.parse(contentOf(staged, '.claude/settings.json') ?? '')).toEqual({
      model: 'opus',
      permissions: { allow: ['Bash(ls:*)'], ask: undefined, deny: ['WebFetch'] },
      skipDangerousModePermissionPrompt: true,
    });
    const dropped = 'hooks, env, apiKeyHelper, statusLine, permissions.defaultMode, permissions.additionalDirectories';
    expect(staged.notes).toEqual([`~/.claude/settings.json: not staged: ${dropped}`]);
    const asking = JSON.parse(contentOf(await stage({ permissions: 'ask' }), '.claude/settings.json') ?? '');
    expect(asking.permissions).toEqual({ allow: ['Bash(ls:*)'], deny: ['WebFetch'], defaultMode: 'default' });
    expect(everything(staged)).not.toContain('secret-value');
  });

  it('has the deny list of settings that are half written at the moment of the start', async () => {
    const whole = JSON.stringify({ permissions: { deny: ['WebFetch'] } });
    for (const half of ['', whole.slice(0, 20)]) {
      write('home/.claude/settings.json', half);
      const staging = stage();
      setTimeout(() => write('home/.claude/settings.json', whole), 100);
      const settings = JSON.parse(contentOf(await staging, '.claude/settings.json') ?? '');
      expect(settings.permissions.deny, half).toEqual(['WebFetch']);
    }
  });

  it('is refused while settings cannot be read, because their deny list would be lost', async () => {
    const file = at('home/.claude/settings.json');
    for (const make of [
      () => write('home/.claude/settings.json', '{"permissions": {"deny": ['),
      () => write('home/.claude/settings.json', '["a list"]'),
      () => mkdirSync(file),
      () => symlinkSync('settings.json', file),
    ]) {
      make();
      await expect(stage(), String(make)).rejects.toMatchObject({
        code: 'SETTINGS_UNREADABLE',
        message: expect.stringContaining('~/.claude/settings.json'),
      });
      rmSync(file, { recursive: true });
    }
    // What stays empty holds no deny list.
    write('home/.claude/settings.json', '\n');
    expect(JSON.parse(contentOf(await stage(), '.claude/settings.json') ?? '')).not.toHaveProperty('permissions');
  });

  it('contains no account, other project, credential or unknown key, and reports that once', async () => {
    const secret = 'a-secret-of-the-host';
    write(
      'home/.claude.json',
      JSON.stringify({
        oauthAccount: { emailAddress: secret },
        primaryApiKey: secret,
        userID: secret,
        machineID: secret,
        theme: 'light',
        unknownKey: secret,
        mcpServers: {
          fine: { command: 'npx', args: ['-y', 'some-server'] },
          host: { command: '/usr/local/bin/x' },
          value: { command: 'npx', env: { KEY: secret } },
          header: { type: 'http', url: 'https://x.example', headers: { authorization: secret } },
          query: { type: 'http', url: `https://x.example/?k=${secret}` },
        },
        projects: {
          '/other-project': { allowedTools: [secret], mcpServers: { o: { command: 'npx', args: [secret] } } },
        },
      }),
    );
    for (const name of [
      '.credentials.json',
      'ide/1.lock',
      'debug/x',
      'session-env/a/sessionstart-hook-0.sh',
      'remote-settings.json',
      'brand-new/x',
      'backups/.claude.json.backup',
    ])
      write(`home/.claude/${name}`, secret);
    const staged = await stage();
    expect(everything(staged)).not.toContain(secret);
    expect(everything(staged)).not.toContain('other-project');
    const json = JSON.parse(contentOf(staged, '.claude.json') ?? '') as { mcpServers: object; theme: string };
    expect(Object.keys(json.mcpServers)).toEqual(['fine']);
    expect(json.theme).toBe('light');
    expect(staged.notes.join('\n')).toContain('unknown names, not staged: brand-new');
    expect(staged.notes.join('\n')).toMatch(/MCP servers not staged: host \(.*value \(.*header \(.*query \(/);
  });

  it('contains skills, commands and the like; a link that leads out is omitted and named', async () => {
    write('home/.claude/skills/a/SKILL.md', 'skill a');
    write('home/.claude/commands/x.md', 'command');
    write('home/.ssh/id', 'private-key');
    symlinkSync(at('home/.ssh'), at('home/.claude/skills/x'));
    symlinkSync('a', at('home/.claude/skills/b'));
    symlinkSync(at('home/.ssh'), at('home/.claude/agents'));
    execFileSync('mkfifo', [at('home/.claude/skills/pipe')]);
    const staged = await stage();
    expect(contentOf(staged, '.claude/skills/a/SKILL.md')).toBe('skill a');
    expect(contentOf(staged, '.claude/skills/b/SKILL.md')).toBe('skill a');
    expect(contentOf(staged, '.claude/commands/x.md')).toBe('command');
    expect(everything(staged)).not.toContain('private-key');
    expect(staged.notes).toEqual(
      [
        '~/.claude/skills: not staged: pipe (not a plain file), x (a link that leads elsewhere)',
        '~/.claude/agents was not staged: it is a link',
      ].sort((a, b) => (a.includes('skills') ? -1 : b.includes('skills') ? 1 : 0)),
    );
    // Without the rule the key would have come along.
    cpSync(at('home/.claude'), at('raw'), {
      recursive: true,
      dereference: true,
      filter: (path) => !path.endsWith('pipe'),
    });
    expect(execFileSync('grep', ['-rl', 'private-key', at('raw')]).toString()).toContain('skills/x/id');
  });

  it('follows no circular link, and ends at its limits', async () => {
    write('home/.claude/skills/a/SKILL.md', 'skill a');
    write('home/.claude/skills/a/.git/config', 'repository');
    write('home/.claude/skills/giant', 'x'.repeat((4 << 20) + 1));
    symlinkSync('..', at('home/.claude/skills/a/up'));
    symlinkSync('.', at('home/.claude/skills/a/same'));
    symlinkSync('nowhere', at('home/.claude/skills/dangling'));
    const staged = await stage();
    const names = staged.entries.map(({ path }) => path).filter((path) => path.startsWith('.claude/skills/'));
    expect(names).toEqual(['.claude/skills/a', '.claude/skills/a/SKILL.md']);
    expect(staged.notes).toEqual([
      '~/.claude/skills: not staged: a/same (a circular link), a/up (a link that leads elsewhere), ' +
        'dangling (a link that leads elsewhere), giant (too large)',
    ]);
  });

  it('has plugins with their records, whose paths are those inside', async () => {
    const cache = at('home/.claude/plugins/cache/market/tool/1.0');
    write('home/.claude/plugins/cache/market/tool/1.0/plugin.json', '{}');
    write('home/.claude/plugins/marketplaces/market/README.md', 'a clone');
    write(
      'home/.claude/plugins/installed_plugins.json',
      JSON.stringify({ version: 2, plugins: { 'tool@market': [{ installPath: cache, other: ['/etc', 7, null] }] } }),
    );
    write('home/.claude/plugins/flagged-plugins.json', 'no json');
    const staged = await stage();
    const inside = staged.entries.find(({ path }) => path.endsWith('installed_plugins.json'));
    const below = inside?.path.slice(0, -'/installed_plugins.json'.length) ?? '';
    expect(JSON.parse(inside?.content?.toString() ?? '')).toEqual({
      version: 2,
      plugins: {
        'tool@market': [{ installPath: `/home/agent/${below}/cache/market/tool/1.0`, other: ['/etc', 7, null] }],
      },
    });
    expect(contentOf(staged, `${below}/cache/market/tool/1.0/plugin.json`)).toBe('{}');
    expect(everything(staged)).not.toContain('a clone');
    expect(contentOf(staged, `${below}/flagged-plugins.json`)).toBeUndefined();
  });

  it('has the settings and skills of a profile instead of the user’s', async () => {
    write('home/.claude/CLAUDE.md', 'mine');
    write('config/profiles/reviewer/CLAUDE.md', 'reviewer');
    expect(contentOf(await stage({ profile: 'reviewer' }), '.claude/CLAUDE.md')).toBe('reviewer');
    await expect(stage({ profile: 'nobody' })).rejects.toMatchObject({ code: 'PROFILE_MISSING' });
    await expect(stage({ profile: '../x' })).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('notes instructions that the project imports from outside of it', async () => {
    write('work/x.md', 'x');
    write('home/.claude/rules.md', 'mine');
    write('work/y/CLAUDE.md', '@../x.md and @~/.claude/rules.md');
    const [note, ...others] = (await stage()).notes.filter((text) => text.startsWith('Instructions outside'));
    expect(others).toEqual([]);
    expect(note).toMatch(/: \.\.\/x\.md \(CLAUDE\.md imports it\), ~\/\.claude\/rules\.md \(CLAUDE\.md imports it\)$/);
  });

  it('has the identity for commits and no git key that runs a program', async () => {
    write(
      'home/.gitconfig',
      '[user]\n name = "A \\"B\\" C"\n email = a@b.example\n[core]\n editor = touch m\n[alias]\n x = !touch m\n[init]\n defaultBranch = trunk\n',
    );
    const text = contentOf(await stage(), '.gitconfig') ?? '';
    writeFileSync(at('out'), text);
    const read = (key: string): string =>
      execFileSync('git', ['config', '-f', at('out'), key])
        .toString()
        .trim();
    expect([read('user.name'), read('user.email'), read('init.defaultbranch')]).toEqual([
      'A "B" C',
      'a@b.example',
      'trunk',
    ]);
    expect(text).not.toContain('touch');
  });

  it('separates two projects that share a folder of transcripts, and excludes prompts of other projects', async () => {
    const id = '11111111-2222-4333-8444-555555555555';
    const line = (cwd: string): string =>
      `${JSON.stringify({ type: 'user', uuid: id, parentUuid: null, sessionId: id, timestamp: '2026-01-01T00:00:00Z', cwd, message: { role: 'user', content: 'hello' } })}\n`;
    const key = at('work/y').replace(/[^a-zA-Z0-9]/g, '-');
    expect(key).toBe(at('work-y').replace(/[^a-zA-Z0-9]/g, '-'));
    write(`home/.claude/projects/${key}/${id}.jsonl`, line(at('work-y')));
    write(
      'home/.claude/history.jsonl',
      `${[at('work/y'), at('work-y'), '/other'].map((project) => JSON.stringify({ display: `in ${project}`, project })).join('\n')}\n`,
    );
    const staged = await stage();
    expect(contentOf(staged, `.claude/projects/-workspace/${id}.jsonl`)).toBeUndefined();
    expect(contentOf(staged, '.claude/history.jsonl')?.split('\n').length).toBe(2);
    const other = await stage({ projectRoot: at('work-y') });
    expect(contentOf(other, `.claude/projects/-workspace/${id}.jsonl`)).toContain('"cwd":"/workspace"');
  });
});

describe('the project’s instance', () => {
  it('is shared by worktrees and not by submodules, and refuses an instance of another project', async () => {
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: at('work/y'),
        stdio: 'ignore',
      });
    };
    git('init');
    git('commit', '--allow-empty', '-m', 'x');
    git('worktree', 'add', at('tree'));
    const common = at('work/y/.git');
    const one = await stage({ gitCommonDir: common });
    const two = await stage({ projectRoot: at('tree'), gitCommonDir: common });
    expect(two.instance).toEqual(one.instance);
    mkdirSync(at('work/y/.git/modules/m'), { recursive: true });
    const submodule = await stage({ gitCommonDir: at('work/y/.git/modules/m') });
    expect(submodule.instance.key).not.toBe(one.instance.key);
    writeFileSync(join(one.instance.dir, 'project-root'), '/elsewhere\n');
    await expect(stage({ gitCommonDir: common })).rejects.toMatchObject({ code: 'INSTANCE_FOREIGN' });
  });

  it('stays empty with --isolate-claude-data, where links lead into the volume', async () => {
    const staged = await stage({ isolate: true });
    expect(readdirSync(staged.instance.dir).sort()).toEqual(['mount-point', 'project-root']);
    const links = staged.entries.filter(({ content }) => typeof content === 'object' && 'link' in content);
    expect(links.map(({ path }) => path)).toEqual(
      ['history.jsonl', 'plans', 'tasks', 'todos'].map((name) => `.claude/${name}`),
    );
    expect(staged.entries.some(({ path }) => path.startsWith('.claude/projects/'))).toBe(false);
  });
});
