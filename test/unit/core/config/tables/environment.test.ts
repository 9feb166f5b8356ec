import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../../../../src/core/config/config-file.ts';
import { mergePolicy, type PolicySources } from '../../../../../src/core/config/merge-policy.ts';
import { joinEnvironments } from '../../../../../src/core/config/values/environment.ts';

const read = (table: string) => readConfigFile(`[environment]\n${table}`, 'F').environment;
const merge = (config: string, project: string, flags: PolicySources['flags'] = []) =>
  mergePolicy({
    config: { where: 'config.toml', settings: readConfigFile(config, 'config.toml') },
    projectFile: { where: '.run-claude.toml', settings: readConfigFile(project, '.run-claude.toml') },
    projectIgnore: [],
    environment: {},
    flags,
  });

describe('[environment]', () => {
  it('reads packages, setup, variables and files, sorted and each once', () => {
    expect(
      read('packages = ["ruby", "g++", "ruby"]\nsetup = "npm ci"\nenv = { B = "2" }\nfiles = ["b/c", "a.json"]'),
    ).toEqual({ packages: ['g++', 'ruby'], setup: 'npm ci', env: { B: '2' }, files: ['a.json', 'b/c'] });
    expect(read('')).toEqual({ packages: [], setup: undefined, env: {}, files: [] });
  });

  it.each([
    '-o=Dir::Etc=/x',
    '--reinstall',
    'ruby-',
    'ruby=1:3.1',
    'ruby/bookworm',
    'ruby:arm64',
    'task^',
    'a b',
    'a;reboot',
    '$(id)',
    './local.deb',
    'Ruby',
    'r',
    'a\\nb',
    '',
  ])('refuses %j, which is not the name of a package', (name) => {
    expect(() => read(`packages = ["${name}"]`)).toThrow('is not the name of a Debian package');
  });

  it.each([
    '/etc/passwd',
    '../x',
    'a/../x',
    './a',
    'a//b',
    '',
    '.git/config',
    '.GIT/config',
    'a/git~1',
    'a\\u0000b',
    'a\\nb',
  ])('refuses the file %j', (file) => {
    expect(() => read(`setup = "x"\nfiles = ["${file}"]`)).toThrow(/is not a path in the project/);
  });

  it('refuses unknown keys, reserved variables, files without a setup, and unknown features', () => {
    expect(() => read('package = ["x"]')).toThrow("environment: unknown key 'package'");
    expect(() => read('env = { LD_PRELOAD = "x" }')).toThrow('LD_PRELOAD is set by the sandbox itself');
    expect(() => read('env = { https_proxy = "x" }')).toThrow('is set by the sandbox itself');
    expect(() => read('files = ["a"]')).toThrow('files without setup');
    expect(() => read('with = ["toString"]')).toThrow("'toString' is not allowed");
  });

  it('refuses more variables than a user reads', () => {
    const many = Array.from({ length: 101 }, (_, index) => `A${index} = ""`).join(', ');
    expect(() => read(`env = { ${many} }`)).toThrow('more than 100 variables');
    expect(() => read(`env = { A = "${'x'.repeat(1000)}" }`)).toThrow('A is longer than 1000 characters');
    expect(read(`env = { A = "${'x'.repeat(999)}" }`)?.env['A']).toHaveLength(999);
  });

  it('adds the packages and variables of a feature', () => {
    const browser = read('packages = ["ruby"]\nwith = ["browser"]');
    expect(browser?.packages).toEqual(expect.arrayContaining(['chromium', 'ruby']));
    expect(browser?.env['CHROME_PATH']).toBe('/usr/bin/chromium');
  });

  it('joins two: both setups in order, the later variable', () => {
    const join = joinEnvironments(
      { packages: ['b'], setup: 'one', env: { A: '1', B: '1' }, files: ['f'] },
      { packages: ['a'], setup: 'two', env: { B: '2' }, files: ['e', 'f'] },
    );
    expect(join).toEqual({ packages: ['a', 'b'], setup: 'one\ntwo', env: { A: '1', B: '2' }, files: ['e', 'f'] });
  });
});

describe('who decides about [environment]', () => {
  const asked = '[environment]\npackages = ["evil"]\nsetup = "x"\nenv = { A = "1" }\nwith = ["browser"]';

  it("takes the user's at once, and nothing of the project's", () => {
    const merged = merge('[environment]\npackages = ["mine"]', asked);
    expect(merged.policy.environment?.packages).toEqual(['mine']);
    expect(merged.origins.get('environment')).toBe('config.toml');
    expect(merged.request?.environment.setup).toBe('x');
    expect(merged.request?.environment.packages).toContain('chromium');
    expect(merge('', asked).policy.environment).toBeUndefined();
  });

  it('lets no project approve itself, turn on a feature, or name a file of variables', () => {
    const merged = merge('', `approved = ["x"]\nenv-file = ["/etc/passwd"]\n${asked}`);
    expect(merged.policy).toMatchObject({ approved: [], with: [], envFiles: [] });
    expect(merged.warnings).toHaveLength(2);
    expect(() => merge('', 'with = ["browser"]')).toThrow("unknown key 'with'");
  });

  it('asks for nothing where the table is empty', () => {
    expect(merge('', '[environment]\n').request).toBeUndefined();
  });

  it('adds --with to the table of the user', () => {
    const flags = [{ flag: '--with', setting: 'with', value: ['browser'] }];
    const { policy, origins } = merge('[environment]\npackages = ["mine"]', '', flags);
    expect(policy.environment?.packages).toEqual(expect.arrayContaining(['mine', 'chromium']));
    expect(origins.get('environment')).toBe('config.toml, --with');
    expect(() => merge('', '', [{ flag: '--with', setting: 'with', value: ['x'] }])).toThrow("--with: 'x'");
  });
});
