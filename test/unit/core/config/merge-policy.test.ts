import { describe, expect, it } from 'vitest';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { readConfigFile } from '../../../../src/core/config/config-file.ts';
import {
  type MergedPolicy,
  mergePolicy,
  type NamedSettings,
  type PolicySources,
} from '../../../../src/core/config/merge-policy.ts';
import { DEFAULTS, SETTINGS, settingNamed } from '../../../../src/core/config/settings.ts';
import {
  formatDurationMs,
  formatSizeMb,
  parseDurationMs,
  parseSizeMb,
} from '../../../../src/core/config/values/quantities.ts';

const named = (where: string, text: string): NamedSettings => ({ where, settings: readConfigFile(text, where) });

const merge = (config: string, project: string, more: Partial<PolicySources> = {}): MergedPolicy =>
  mergePolicy({
    config: named('config.toml', config),
    projectFile: named('.run-claude.toml', project),
    projectIgnore: [],
    environment: {},
    flags: [],
    ...more,
  });

describe('mergePolicy', () => {
  it('gives the defaults, and the origin of each other value', () => {
    expect(merge('', '').policy).toEqual({ ...DEFAULTS, permissions: 'ask' });
    const merged = merge('memory = "4g"\nexclude = ["a"]', 'memory = "2g"\nexclude = ["b"]', {
      environment: { RUN_CLAUDE_PIDS: '100' },
      flags: [{ flag: '--memory', setting: 'memory', value: '16g' }],
    });
    expect(merged.policy).toMatchObject({ memoryMb: 16384, pids: 100, exclude: ['a', 'b'] });
    expect(merged.origins.get('memoryMb')).toBe('--memory');
    expect(merged.origins.get('pids')).toBe('RUN_CLAUDE_PIDS');
    expect(merged.origins.get('exclude')).toBe('config.toml, .run-claude.toml');
  });
  it('puts the ports of a devcontainer.json into the request, and leaves them out without a gateway', () => {
    const environment = { packages: [], setup: undefined, env: {}, files: [] };
    const devcontainer = { environment, ports: [3000] };
    expect(merge('', '', { devcontainer })).toMatchObject({
      request: devcontainer,
      warnings: [],
      policy: { ports: [] },
    });
    const without = merge('network = "none"', '', { devcontainer });
    expect(without.request).toBeUndefined();
    expect(without.warnings).toEqual(['forwardPorts of the devcontainer.json: not with --network none']);
  });
  it('takes the mode that was chosen for the project where a user is at a terminal, between file and variable', () => {
    const config = '[project."/home/me/x"]\nmode = "copy"\n[project."/home/me/y"]\nmode = "bind"\n';
    const at = (root: string, more: Partial<PolicySources> = {}) =>
      merge(config, '', { root, isAttended: true, ...more });
    expect(at('/home/me/x').policy).toMatchObject({ mode: 'copy', permissions: 'skip' });
    expect(at('/home/me/x').origins.get('mode')).toBe('config.toml: [project."/home/me/x"], on a terminal');
    expect(at('/home/me/y').policy).toMatchObject({ mode: 'bind', permissions: 'ask' });
    expect(at('/home/me').origins.has('mode')).toBe(false);
    expect(merge(config, '').origins.has('mode')).toBe(false);
    expect(merge(config, '').policy.mode).toBe('bind');
    expect(merge(`mode = "copy"\n${config}`, '', { root: '/home/me/y', isAttended: true }).policy.mode).toBe('bind');
    expect(at('/home/me/x', { environment: { RUN_CLAUDE_MODE: 'bind' } }).policy.mode).toBe('bind');
    const flags = [{ flag: '--bind', setting: 'mode', value: 'bind' }];
    expect(at('/home/me/x', { flags }).origins.get('mode')).toBe('--bind');
  });
  it('lets a session use the port of an MCP server of this machine, once, and no other', () => {
    const server = (name: string, url: string): string => `[[mcp]]\nname = "${name}"\nurl = "${url}"\n`;
    const two = server('a', 'http://127.0.0.1:8931/mcp') + server('b', 'http://localhost:8931/other');
    expect(merge(two, '').policy.allowLocal).toEqual(['8931']);
    expect(merge(two, '').origins.get('allowLocal')).toBe('config.toml: [[mcp]]');
    expect(merge(`allow-local = ["8931:notes"]\n${two}`, '').policy.allowLocal).toEqual(['8931:notes']);
    expect(merge(two, '', { flags: [{ flag: '--no-mcp', setting: 'mcp', value: false }] }).policy.allowLocal).toEqual(
      [],
    );
    expect(merge(`network = "none"\n${two}`, '').policy.allowLocal).toEqual([]);
    expect(merge('', two).policy.allowLocal).toEqual([]);
    const remote = [
      'https://a.test/mcp',
      'http://169.254.169.254:8931/x',
      'http://[::1]:8931/x',
      'http://127.0.0.2:8931/x',
    ];
    for (const url of remote) expect(merge(server('a', url), '').policy.allowLocal).toEqual([]);
  });
  it('takes an approval for the project whose table has it alone, and refuses one for all', () => {
    const config = '[project."/a"]\napproved = ["x"]\n[project."/b"]\nmode = "copy"\n';
    expect(merge(config, '', { root: '/a' }).policy).toMatchObject({ approved: ['x'], mode: 'bind' });
    expect(merge(config, '', { root: '/a' }).origins.get('approved')).toBe('config.toml: [project."/a"]');
    for (const root of ['/b', '/a/b', '/']) expect(merge(config, '', { root }).policy.approved).toEqual([]);
    expect(merge(config, '').policy.approved).toEqual([]);
    expect(merge('', config, { root: '/a' }).policy.approved).toEqual([]);
    const flags = [{ flag: '--approve', setting: 'approved', value: ['y'] }];
    expect(merge(config, '', { root: '/a', flags }).policy.approved).toEqual(['x', 'y']);
    expect(() => merge('approved = ["x"]', '', { root: '/a' })).toThrow(
      expect.objectContaining({
        message: 'config.toml: approved holds for one project',
        hint: 'Write it below [project."/a"].',
      }),
    );
  });
  it('takes no such choice from the project itself', () => {
    const file = '[project."/home/me/x"]\nmode = "bind"\n';
    const chosen = '[project."/home/me/x"]\nmode = "copy"\n';
    const merged = merge(chosen, `mode = "bind"\n${file}`, { root: '/home/me/x', isAttended: true });
    expect(merged.policy.mode).toBe('copy');
    expect(merged.warnings).toEqual([
      '.run-claude.toml: mode = "bind" would loosen your settings; ignored',
      '.run-claude.toml: [project] cannot be set by a project; ignored',
    ]);
    expect(merge('', file, { root: '/home/me/x', isAttended: true }).origins.has('mode')).toBe(false);
  });
  it('names an unknown key and the nearest one, in both files', () => {
    expect(() => merge('netwrok = "none"', '')).toThrow("config.toml: unknown key 'netwrok'");
    expect(() => merge('', 'memry = "1g"')).toThrow(".run-claude.toml: unknown key 'memry'");
    expect(() => merge('[audit]\nrule = 1', '')).toThrow("config.toml: audit: unknown key 'rule'");
    expect(() => merge('yes = true', '')).toThrow("unknown key 'yes'");
  });
  it.each([
    [
      'paths of a rule',
      `[[audit.rules]]\nid = "r"\npaths = ["{a,b}{a,b}${'{a,b}'.repeat(60)}"]`,
      /rules\]\] "r", paths: .*62 wildcards/,
    ],
    ['a rule with many stars', `[[audit.rules]]\nid = "r"\npaths = ["${'*a'.repeat(31)}b"]`, /31 wildcards/],
    ['many patterns', `[[audit.rules]]\nid = "r"\npaths = [${'"a",'.repeat(201)}]`, /rules\]\]: 201 patterns/],
    ['a long exclusion', `exclude = ["${'a'.repeat(1001)}"]`, /exclude: 'a{40}…' has 1001 characters/],
    ['a mask', `mask = ["${'?'.repeat(31)}"]`, /mask: .*31 wildcards/],
  ])('refuses patterns that matching could take too long for, in both files: %s', (_, text, message) => {
    const whole = text.startsWith('[') ? `${text}\nseverity = "suspect"\nwhy = "w"` : text;
    expect(() => merge(whole, '')).toThrow(message);
    expect(() => merge('', whole)).toThrow(message);
    expect(() => merge('', whole)).toThrow(/^\.run-claude\.toml: /);
  });
  it('refuses such patterns of every other source, and takes what people write', () => {
    const hostile = '*a'.repeat(40);
    expect(() => merge('', '', { projectIgnore: [hostile] })).toThrow(/^\.run-claudeignore: .*40 wildcards/);
    for (const setting of ['exclude', 'include', 'mask', 'allow-suspect', 'include-ignored'])
      expect(() => merge('', '', { flags: [{ flag: `--${setting}`, setting, value: [hostile] }] })).toThrow(
        `--${setting}: '${hostile.slice(0, 40)}…' has 40 wildcards`,
      );
    const usual = [
      '**/node_modules/**',
      'src/**/*.{test,spec}.[jt]s?(x)',
      '*.*.*.bak',
      '_______________________________a',
    ];
    expect(merge('', '', { projectIgnore: usual }).policy.exclude).toEqual(usual);
  });
  it('refuses values that are not allowed, and names their source', () => {
    expect(() => merge('memory = 8', '')).toThrow('config.toml: memory');
    expect(() => merge('network = "host"', '')).toThrow('config.toml: network');
    expect(() => merge('memory = ', '')).toThrow('config.toml, line 1');
    expect(() => merge('', '', { environment: { RUN_CLAUDE_PIDS: 'many' } })).toThrow('RUN_CLAUDE_PIDS');
  });
  it('warns of a mistyped variable', () => {
    expect(merge('', '', { environment: { RUN_CLAUDE_NETWROK: 'none' } }).warnings).toEqual([
      'RUN_CLAUDE_NETWROK is not a setting of run-claude; did you mean RUN_CLAUDE_NETWORK?',
    ]);
  });
  it('passes variables in, but none that the sandbox sets itself', () => {
    const env = (word: string): unknown =>
      merge('', '', { environment: { A: '1' }, flags: [{ flag: '--env', setting: 'env', value: [word] }] }).policy.env;
    expect(env('A')).toEqual({ A: '1' });
    expect(env('B=x=y')).toEqual({ B: 'x=y' });
    for (const word of ['C', 'LD_PRELOAD=x', 'ANTHROPIC_API_KEY=x', 'https_proxy=x', '1A=x']) {
      expect(() => env(word)).toThrow('--env');
    }
  });
});

describe("the project's own file", () => {
  const loosening: readonly [config: string, line: string][] = [
    ['', 'network = "open"'],
    ['network = "none"', 'network = "gateway"'],
    ['', 'memory = "9g"'],
    ['cpus = 1', 'cpus = "all"'],
    ['timeout = "1h"', 'timeout = "2h"'],
    ['mode = "copy"', 'mode = "bind"'],
    ['', 'credentials = "file"'],
    ['', 'allow-host = ["evil.example"]'],
    ['', 'include-ignored = true'],
    ['', 'include-ignored = ["x"]'],
    ['', 'allow-git-push = true'],
    ['permissions = "ask"', 'permissions = "skip"'],
    ['', 'image = "evil"'],
    ['', 'env = ["SECRET"]'],
    ['', 'allow-suspect = ["**"]'],
    ['', 'include = ["x"]'],
    ['isolate-claude-data = true', 'isolate-claude-data = false'],
    ['fail-on = "note"', 'fail-on = "blocked"'],
    ['', '[[broker]]\nhost = "h"\nheader = "h"\nfrom = ["sh"]'],
    ['', '[audit.severities]\nhook = "note"'],
  ];
  it.each(loosening)('after %j cannot weaken it with %j', (config, line) => {
    const merged = merge(config, line);
    expect(merged.policy).toEqual(merge(config, '').policy);
    expect(merged.warnings).toHaveLength(1);
    // The same line in the user's own file is accepted: the file is refused, not the line.
    if (!line.startsWith('env')) expect(merge(line, '').policy).not.toEqual(merge(config, '').policy);
  });
  it('can tighten', () => {
    const merged = merge(
      '',
      'mode = "copy"\nnetwork = "none"\nmemory = "1g"\ncpus = 1\ntimeout = "5m"\nmask = [".env"]\nsync-back = false\n' +
        'permissions = "ask"\nfail-on = "note"\n[audit.severities]\nhook = "blocked"',
    );
    expect(merged.warnings).toEqual([]);
    expect(merged.policy).toMatchObject({ mode: 'copy', network: 'none', memoryMb: 1024, cpus: 1, timeoutMs: 300_000 });
    expect(merged.policy).toMatchObject({ mask: ['.env'], syncBack: false, permissions: 'ask', failOn: 'note' });
  });
  it('gives no warning for a value that is set already', () => {
    expect(merge('network = "none"', 'network = "none"').warnings).toEqual([]);
  });
});

describe('quantities', () => {
  it('reads and writes sizes and durations', () => {
    expect(['8g', '512m', '1.5G', '1tb', '8', '0m', '-1g'].map(parseSizeMb)).toEqual([
      8192,
      512,
      1536,
      1_048_576,
      undefined,
      undefined,
      undefined,
    ]);
    const durations = {
      '90s': 90_000,
      '1h30m': 5_400_000,
      '24d': 24 * 86_400_000,
      '24d1s': undefined,
      '0s': undefined,
    };
    for (const [text, ms] of Object.entries({ ...durations, '5': undefined }))
      expect([text, parseDurationMs(text)]).toEqual([text, ms]);
    expect([formatSizeMb(8192), formatSizeMb(512), formatDurationMs(5_400_000)]).toEqual(['8g', '512m', '1h30m']);
  });
});

it('has an existing setting for every option, and a key of the policy for every setting', () => {
  for (const option of RUN_OPTIONS) {
    if (option.setting) expect(settingNamed.has(option.setting), option.name).toBe(true);
  }
  for (const setting of SETTINGS) expect(Object.keys(DEFAULTS)).toContain(setting.key);
});
