import { describe, expect, it } from 'vitest';
import { dryRunText } from '../../../../src/cli/run/dry-run-text.ts';
import { renderedText } from '../../../../src/cli/run/render-plan.ts';
import { DEFAULTS } from '../../../../src/core/config/settings.ts';
import type { EngineFacts } from '../../../../src/core/types/engine.ts';
import type { HostFacts, Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { SecretFile } from '../../../../src/core/types/secret/secret-file.ts';
import { lostLayers } from '../../../../src/engines/capabilities/refuse.ts';
import { describePlan, startScreen } from '../../../../src/session/plan/describe-plan.ts';
import { maskPlan, restoreVariables } from '../../../../src/session/plan/mask-plan.ts';
import { type PlanFindings, type PlanInput, planBasis, planRun } from '../../../../src/session/plan/plan-run.ts';
import { refuseProject } from '../../../../src/session/plan/refuse-project.ts';
import { SPECS } from '../../../support/rendered-specs.ts';

const engine: EngineFacts = {
  kind: 'docker',
  name: 'Docker 27',
  version: '27.0',
  apiVersion: '1.46',
  endpoint: 'unix:///var/run/docker.sock',
  os: 'linux',
  arch: 'x86_64',
  kernel: '6.1',
  local: true,
  rootless: false,
  usernsRemap: false,
  cgroupVersion: 2,
  seccomp: true,
  memoryLimit: true,
  swapLimit: true,
  pidsLimit: true,
  cpuLimit: true,
  runtimes: ['runc'],
  dataRoot: '/var/lib/docker',
};
const host: HostFacts = {
  platform: 'linux',
  uid: 501,
  gid: 20,
  umask: 0o022,
  home: '/home/me',
  stateDir: '/home/me/.local/state/run-claude',
  cacheDir: '/home/me/.cache/run-claude',
  dataDir: '/home/me/.local/share/run-claude',
  configDir: '/home/me/.config/run-claude',
  freeDiskMb: 10_000,
  stdinTty: true,
  stdoutTty: true,
  stderrTty: true,
  columns: 80,
  rows: 24,
};
interface Other {
  readonly policy?: Partial<Policy>;
  readonly engine?: Partial<EngineFacts>;
  readonly host?: Partial<HostFacts>;
  readonly root?: string;
  readonly owner?: number;
  readonly rest?: Partial<PlanInput>;
  readonly found?: Partial<PlanFindings>;
}
const inputOf = (other: Other): PlanInput => ({
  policy: { ...DEFAULTS, mode: 'copy', ...other.policy },
  host: { ...host, ...other.host },
  engine: { ...engine, ...other.engine },
  project: {
    root: other.root ?? '/home/me/p',
    startIn: '',
    git: 'directory',
    gitCommonDir: undefined,
    ownerUid: other.owner ?? 501,
    ownerGid: other.owner ?? 20,
  },
  program: { kind: 'claude', args: ['hi'], print: false },
  userEnvironment: { term: 'xterm', colorterm: undefined, timeZone: 'Europe/Berlin' },
  also: [],
  ...other.rest,
});
const FOUND: PlanFindings = {
  sessionId: '261121-140512-k7p',
  alsoIds: [],
  spareId: 61_100,
  servantIdsWithAccount: [],
  image: { tag: 'run-claude:0', claudeVersion: undefined },
};
const plan = (other: Other = {}): Plan => planRun(inputOf(other), { ...FOUND, ...other.found });

describe('the project', () => {
  it.each([
    '/',
    '/home',
    '/home/me',
    '/home/me/.local',
    '/home/me/.config/run-claude',
    '/home/me/.cache/run-claude/bases/x',
  ])('is never %s', (root) => expect(() => plan({ root })).toThrow(expect.objectContaining({ status: 2 })));
  it.each(['/home/me2', '/home/me/p', '/srv'])('may be %s', (root) => expect(plan({ root }).project.root).toBe(root));
});

describe('the user inside', () => {
  it.each([
    [{}, '501:20'],
    [{ host: { uid: 0, gid: 0 } }, '61100:61100'],
    [{ host: { uid: 0, gid: 0 }, policy: { strategy: 'copy' } }, '61100:61100'],
    [{ host: { uid: 0, gid: 0 }, policy: { strategy: 'volume' } }, '61100:61100'],
    [{ host: { uid: 0, gid: 0 }, engine: { usernsRemap: true } }, '61100:61100'],
    [{ policy: { mode: 'bind' }, owner: 33 }, '33:33'],
    [{ policy: { mode: 'bind' }, owner: 33, host: { uid: 0, gid: 0 } }, '33:33'],
    [{ policy: { mode: 'bind' }, owner: 0 }, '0:0'],
    [{ engine: { rootless: true } }, '0:0'],
    [{ engine: { usernsRemap: true } }, '501:20'],
    [{ policy: { strategy: 'volume' } }, '501:20'],
    [{ engine: { local: false } }, '61100:61100'],
    [{ engine: { local: false, rootless: true } }, '61100:61100'],
    [{ engine: { local: false }, host: { uid: 0 } }, '61100:61100'],
  ] as [Other, string][])('of %j is %s', (other, user) => expect(plan(other).user).toBe(user));
  it.each([
    [0o022, undefined],
    [0o002, 0o002],
    [0o077, 0o077],
    [0, 0],
    [0o777, 0o077],
  ])('has the umask %i of the user, which leaves it what it makes: %s', (umask, given) =>
    expect(plan({ host: { umask } }).umask).toBe(given),
  );
  it('is named as a weakening when it is root', () => {
    expect(plan({ policy: { mode: 'bind' }, owner: 0 }).weakenings[0]).toContain('uid 0');
    expect(plan().weakenings).toEqual([]);
    expect(plan({ policy: { mode: 'bind' }, owner: 33 }).weakenings[0]).toMatch(/uid 33, the project owner's/);
    expect(plan({ policy: { mode: 'bind' } }).weakenings.join()).not.toMatch(/uid/);
    const found = { servantIdsWithAccount: [61_001] };
    expect(plan({ found }).weakenings).toEqual([expect.stringContaining('an account of this machine has uid 61001')]);
    expect(plan({ found, engine: { local: false } }).weakenings).toEqual([]);
    const rules = { exclude: ['private/'] };
    const line = expect.stringContaining('excluded paths are not kept from the agent in bind mode');
    expect(plan({ policy: { mode: 'bind', ...rules } }).weakenings).toContainEqual(line);
    expect(plan({ policy: { mode: 'copy', ...rules } }).weakenings).toEqual([]);
    expect(plan({ policy: { mode: 'bind', mask: ['.env'] } }).weakenings).not.toContainEqual(line);
    expect(plan({ policy: { gpu: true }, engine: { ...engine, gpus: true } }).weakenings[0]).toMatch(
      /driver is attackable/,
    );
    expect(plan({ policy: { allowLocal: ['5432:db'], ports: ['3000'] } }).weakenings).toEqual([
      'pages of the agent in your browser, from its ports: 3000',
      'services of your machine that the agent can use: 5432:db',
    ]);
  });
  it('names the MCP servers of the session, without those that it starts without', () => {
    const mcpServers = [{ name: 'docs', url: 'https://docs.test/mcp' }];
    const mcpPrograms = [{ name: 'jira', command: ['x'], env: {}, secrets: {}, hosts: [], tools: ['search'] }];
    const of = (leftOutServers?: string[]) =>
      plan({ policy: { mcpServers, mcpPrograms }, rest: { ...(leftOutServers && { leftOutServers }) } }).weakenings;
    expect(of()).toEqual(['MCP servers: docs (all tools), jira (search)']);
    expect(of(['jira'])).toEqual(['MCP servers: docs (all tools)']);
    expect(of(['jira', 'docs'])).toEqual([]);
  });
});

describe('the strategy', () => {
  it.each([
    [{}, 'layers'],
    [{ engine: { local: false } }, 'volume'],
    [{ engine: { usernsRemap: true } }, 'volume'],
    [{ policy: { strategy: 'copy' } }, 'copy'],
    [{ policy: { mode: 'bind' } }, 'bind'],
  ] as [Other, string][])('of %j is %s', (other, strategy) => expect(plan(other).strategy).toBe(strategy));
  it('is the only part of the plan that depends on the trial of an overlay volume', () => {
    const tried = (other: Other, works: boolean): Plan =>
      plan({ ...other, found: { trial: { works, why: works ? '' : 'NFS' } } });
    const needsTrial = (other: Other): boolean => planBasis(inputOf(other), FOUND).needsTrial;
    expect(needsTrial({})).toBe(true);
    expect(tried({}, true)).toEqual({ ...plan(), strategyReason: 'overlay volumes work here' });
    expect(tried({}, false)).toEqual({ ...plan(), strategy: 'copy', strategyReason: 'NFS' });
    for (const other of [{ engine: { local: false } }, { policy: { mode: 'bind' } }] as Other[]) {
      expect(needsTrial(other)).toBe(false);
      expect(tried(other, false)).toEqual(plan(other));
    }
  });
  it('is refused by name where it cannot work', () => {
    const policy = { strategy: 'layers' } as const;
    expect(() => plan({ policy, found: { trial: { works: false, why: 'NFS' } } })).toThrow('NFS');
    expect(() => plan({ policy, engine: { local: false } })).toThrow('does not run on this kernel');
    expect(() => plan({ policy, engine: { usernsRemap: true } })).toThrow('remaps users');
    expect(() => plan({ policy: { mode: 'bind' }, engine: { usernsRemap: true } })).toThrow('remaps users');
    expect(() => plan({ policy: { mode: 'bind' }, engine: { local: false, endpoint: 'ssh://h' } })).toThrow(
      'bind mode',
    );
  });
});

it('refuses every directory that an agent must not have', () => {
  const { home, stateDir, cacheDir, dataDir, configDir } = host;
  for (const root of ['/', home, '/home', stateDir, `${cacheDir}/x`, dataDir, configDir, '/home/me/.config'])
    expect(() => refuseProject(root, host), root).toThrow(/is not a project|home directory|run-claude's own/);
  const elsewhere = {
    ...host,
    stateDir: '/var/state',
    cacheDir: '/var/cache',
    dataDir: '/var/data',
    configDir: '/etc/rc',
  };
  for (const root of ['/var', '/etc', '/var/data/x']) expect(() => refuseProject(root, elsewhere), root).toThrow();
  for (const root of ['/home/me/project', '/home/mel', '/home/me/.config/nvim', '/srv'])
    expect(() => refuseProject(root, host), root).not.toThrow();
});

describe('an engine that cannot enforce a protection is refused by its name', () => {
  it.each(['seccomp', 'memoryLimit', 'pidsLimit'] as const)('%s', (fact) => {
    expect(() => plan({ engine: { [fact]: false } })).toThrow('cannot set');
  });
  it('processor limits only when asked for', () => {
    expect(() => plan({ engine: { cpuLimit: false }, policy: { cpus: 1 } })).toThrow('--cpus');
    expect(plan({ engine: { cpuLimit: false } }).policy.cpus).toBe(0);
    expect(() => plan({ policy: { runtime: 'runsc' } })).toThrow("no runtime 'runsc'");
    expect(() => plan({ policy: { gpu: true } })).toThrow('Docker 27 has no graphics processors to give');
  });
});

describe('the plan', () => {
  it('cannot be changed by what prints it, asks about it or runs it, in any part', () => {
    const of = plan({ policy: { env: { A: '1' }, caches: ['npm'] } });
    const parts = (value: unknown): readonly object[] =>
      typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(parts)] : [];
    expect(parts(of).length).toBeGreaterThan(10);
    expect(parts(of).filter((part) => !Object.isFrozen(part))).toEqual([]);
    expect(() => Object.assign(of.policy, { network: 'open' })).toThrow(TypeError);
  });
  it('passes only the allowlist of the user’s environment', () => {
    const { env } = plan({ policy: { env: { MINE: '1' } } });
    expect(env).toMatchObject({ HOME: '/home/agent', TERM: 'xterm', TZ: 'Europe/Berlin', RUN_CLAUDE: '1', MINE: '1' });
    const hostile = plan({ rest: { userEnvironment: { term: 'a\nb', colorterm: '$(x)', timeZone: '' } } }).env;
    expect(hostile).toMatchObject({ TERM: 'xterm-256color' });
    expect(Object.keys(hostile)).not.toContain('COLORTERM');
  });
  it.each(['xterm-ghostty', 'xterm-kitty', 'wezterm', 'alacritty', undefined])(
    'names a terminal inside that the image knows, for %s',
    (term) => {
      const userEnvironment = { term, colorterm: 'truecolor', timeZone: undefined };
      expect(plan({ rest: { userEnvironment } }).env).toMatchObject({ TERM: 'xterm-256color', COLORTERM: 'truecolor' });
    },
  );
  it.each(['skip', 'ask'] as const)(
    'makes Claude %s permissions, unless its arguments choose a mode',
    (permissions) => {
      const args = (words: string[]): unknown =>
        plan({ policy: { permissions }, rest: { program: { kind: 'claude', args: words, print: false } } }).program;
      const option = permissions === 'skip' ? '--dangerously-skip-permissions' : '--permission-mode=default';
      expect(args(['hi'])).toMatchObject({ args: [option, 'hi'] });
      expect(args(['--', '--permission-mode=plan'])).toMatchObject({ args: [option, '--', '--permission-mode=plan'] });
      for (const words of [
        ['--permission-mode', 'plan'],
        ['--permission-mode=plan'],
        ['--dangerously-skip-permissions'],
      ])
        expect(args(words)).toMatchObject({ args: words });
    },
  );
  it('limits the disk to half of the free space without what is written until it is paused, 20 GB at most', () => {
    expect(plan({ host: { freeDiskMb: 1e6 } }).diskMb).toBe(20_480);
    expect(plan({ host: { freeDiskMb: 10_000 } }).diskMb).toBe(4096);
    expect(plan({ host: { freeDiskMb: 1000 } }).diskMb).toBe(244);
  });
  it('masks the values of --env', () => {
    const secret = plan({ policy: { env: { TOKEN: 'SECRET-VALUE' }, network: 'open' } });
    const shown = [...describePlan(secret, 'none'), JSON.stringify(maskPlan(secret))].join('\n');
    expect(shown).toContain('TOKEN');
    expect(shown).not.toContain('SECRET-VALUE');
    const again = restoreVariables(maskPlan(secret), { TOKEN: 'ANOTHER' });
    expect(again).toMatchObject({
      plan: { env: { TOKEN: 'ANOTHER' }, policy: { env: { TOKEN: 'ANOTHER' } } },
      missing: [],
    });
    const without = restoreVariables(maskPlan(secret), {});
    expect(without.missing).toEqual(['TOKEN']);
    expect(JSON.stringify(without.plan.env)).not.toContain('•••');
    const ofFile = plan({ policy: { env: { A: '1', B: '2' }, envFiles: ['/f'], envFileNames: ['A'] } });
    expect(restoreVariables(maskPlan(ofFile), { A: 'OTHER', B: '3' }, { B: '4' })).toMatchObject({
      plan: { policy: { env: { B: '3' } } },
      missing: [],
      missingOfFiles: ['A'],
    });
    expect(restoreVariables(maskPlan(ofFile), { A: 'OTHER' }, { A: '5' })).toMatchObject({
      plan: { env: { A: '5' }, policy: { env: { A: '5' } } },
      missing: ['B'],
    });
    const older = plan({ policy: { env: { A: '1' }, envFiles: ['f'] } });
    expect(restoreVariables(maskPlan(older), { A: 'OTHER' }).missingOfFiles).toEqual(['A']);
    expect(startScreen(secret, 'ANTHROPIC_API_KEY').join('\n')).toMatch(/weaker +network open/);
  });
});

it('only the agent runs on a custom image: the gateway, which has the credential, runs on run-claude’s own', () => {
  const image = { tag: 'custom:1', ownImage: 'ours:1', claudeVersion: undefined };
  const imagesOf = (made: Plan): readonly (readonly string[])[] => {
    const text = dryRunText(made, {
      dataDir: '/data/run-claude',
      source: undefined,
      words: 'none',
      entering: undefined,
      secrets: [],
      unsearched: [],
      env: {},
      owner: '501:20',
      serviceImages: new Map(),
    });
    const [, gateway = '', agent = ''] = text.split(/^# The (?:gateway|agent)/m);
    return [gateway, agent].map((commands) => commands.match(/(?:custom|ours|run-claude):[01]\b/g) ?? []);
  };
  expect(imagesOf(plan({ found: { image } }))).toEqual([['ours:1'], ['custom:1']]);
  expect(imagesOf(plan())).toEqual([['run-claude:0'], ['run-claude:0']]);
});

it('the start and a dry run say what enters, in either mode', () => {
  const words = '12 files, 3 KB, and .git (25 KB)';
  for (const lines of [startScreen(plan(), 'none', words), describePlan(plan(), 'none', words)])
    expect(lines).toContain(`copied      ${words}`);
  const bound = plan({ policy: { mode: 'bind' } });
  expect(startScreen(bound, 'none')).toContain('mounted     every file of the project, ignored ones too');
  expect(startScreen(bound, 'none', words)).toContain(`mounted     every file of the project: ${words}`);
});

it('the start is one line for each fact, also where the name of the project has a line break', () => {
  const odd = plan();
  const lines = startScreen({ ...odd, project: { ...odd.project, root: '/p\nq' } }, 'none');
  expect(lines[0]).toBe('project     /p\\u{a}q');
});

/** The layers that a pod lacks: the list is tested where it is made. */
const layersWithout = (form: 'oci' | 'pod' | 'pods'): readonly string[] =>
  form === 'oci'
    ? []
    : form === 'pod'
      ? ['no-log']
      : lostLayers('pods', [{ spec: SPECS.agent }]).map(({ name }) => name);

it.each(['oci', 'pod', 'pods'] as const)(
  'a plan as %s names the files with secrets, within what a server takes',
  async (form) => {
    const annotationOf = async (secrets: readonly SecretFile[]): Promise<string> => {
      const dry = {
        dataDir: '/data/run-claude',
        source: undefined,
        words: 'none',
        entering: undefined,
        secrets,
        unsearched: [],
        env: {},
        owner: '501:20',
      };
      const made = form === 'oci' ? plan() : plan({ engine: { local: false } });
      const text = await renderedText(made, dry, { form, without: layersWithout(form) });
      const found = /"run-claude\.secrets": ("(?:[^"\\]|\\.)*")/g;
      const [first = '""', ...others] = [...text.matchAll(found)].map(([, value = '""']) => value);
      // Of the agent alone: the gateway has no file of the project.
      expect(others).toEqual([]);
      return JSON.parse(first) as string;
    };
    const secrets = [{ path: '.env', reason: 'environment file', state: 'masked' }] as const;
    expect(JSON.parse(await annotationOf(secrets))).toEqual(secrets);
    const many = Array.from({ length: 1000 }, (_, number) => ({ ...secrets[0], path: `${'a'.repeat(300)}/${number}` }));
    const list = await annotationOf(many);
    expect(Buffer.byteLength(list)).toBeLessThanOrEqual(128 << 10);
    expect((JSON.parse(list) as unknown[]).length).toBeGreaterThan(300);
  },
);
