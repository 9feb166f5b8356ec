import { expect, it } from 'vitest';
import { checkLines, fault, ok, warning } from '../../../../src/cli/doctor/check.ts';
import { gitCheck, hostChecks, wayOutChecks } from '../../../../src/cli/doctor/host-checks.ts';
import { probeLines } from '../../../../src/cli/doctor/probe.ts';
import type { ProbeRow } from '../../../../src/engines/engine/hardening/probes.ts';

const places = { home: '/', stateDir: '/state', cacheDir: '/cache', dataDir: '/data', configDir: '/config' };

it('names the full disk: the one of the sessions or the one of the copies', () => {
  for (const [full, name] of [
    ['/state', 'disk'],
    ['/cache', 'cache-disk'],
  ] as const) {
    const checks = hostChecks({ places }, (dir) => (dir === full ? 0 : 100_000));
    expect(checks.filter(({ name: own }) => own.endsWith('disk'))).toEqual(
      (['disk', 'cache-disk'] as const).map((own) =>
        own === name
          ? fault(
              own,
              `0 MB free in ${full}, and a session needs 768 MB`,
              'Free some space: run-claude gc removes what no session needs, run-claude discard ID a session.',
            )
          : expect.objectContaining({ name: own, result: 'ok' }),
      ),
    );
  }
});

it('shows the proxy that sessions use, without its password, and refuses one that they cannot use', () => {
  expect(wayOutChecks({})).toEqual([]);
  expect(wayOutChecks({ HTTPS_PROXY: 'http://me:secret@proxy.example:3128' })).toEqual([
    ok('way-out', 'proxy proxy.example:3128'),
  ]);
  expect(wayOutChecks({ ALL_PROXY: 'socks5://proxy.example' })).toMatchObject([
    { result: 'fault', text: 'ALL_PROXY is not an http:// or https:// address' },
  ]);
});

it.each([
  ['git version 2.55.0\n', 'version 2.55.0'],
  ['git version 2.20.1\n', 'version 2.20.1 is older than 2.30'],
  ['', 'git --version prints no version'],
])('a git that prints %j: %s', async (printed, text) => {
  expect(await gitCheck(async () => printed)).toMatchObject({ text });
});

it('prints title, state and remedy of each check, and ends with a verdict', () => {
  const [good, bad, worse] = [
    ok('git', 'version 2.39.5'),
    warning('home', 'odd', 'Move.'),
    fault('engine', 'no', 'Go.'),
  ];
  expect(checkLines([good, bad])).toEqual([
    'ok       Git               version 2.39.5',
    'warning  Home directory    odd',
    '                           → Move.',
    '',
    'Ready, with 1 warning: sessions can run here.',
  ]);
  expect(checkLines([good]).at(-1)).toBe('Ready: sessions can run here.');
  expect(checkLines([good, bad, worse, worse]).at(-1)).toBe(
    'Not ready: 2 faults, 1 warning. No session starts before each fault is fixed.',
  );
});

it('ends its lines at the last column of a terminal, and continues a text below its beginning', () => {
  const long = fault('engine', 'version 20.10.24 at unix:///var/run/docker.sock', 'Start Docker, or set DOCKER_HOST.');
  expect(checkLines([long], 56)).toEqual([
    'fault    Container engine  version 20.10.24 at',
    '                           unix:///var/run/docker.sock',
    '                           → Start Docker, or set',
    '                             DOCKER_HOST.',
    '',
    'Not ready: 1 fault. No session starts before each fault',
    'is fixed.',
  ]);
});

const row = (name: string, layer: string, result: ProbeRow['result']): ProbeRow => ({
  name,
  layer,
  result,
  why: 'EPERM',
});

it('prints the attacks that succeeded and a verdict, and every attack with --verbose', () => {
  const held = [row('a', 'seccomp', 'stopped'), row('b', 'masks', 'stopped'), row('c', 'masks', 'untestable')];
  expect(probeLines(held, false)).toEqual([
    '3 attacks: 2 stopped, 1 not testable here.',
    'PASS: every attack that can be tested here was stopped.',
    'run-claude doctor --probe --verbose lists every attack.',
  ]);
  const broken = [...held, row('d', 'masks', 'open')];
  expect(probeLines(broken, false)).toEqual([
    'masks',
    '  FAIL          d                                  EPERM',
    '',
    '4 attacks: 2 stopped, 1 not testable here, 1 got through.',
    'FAIL: attacks got through masks. Run no agent on this engine before that is fixed.',
    'run-claude doctor --probe --verbose lists every attack.',
  ]);
  expect(probeLines([row('e', 'init', 'untestable')], false)).toContain(
    'No attack on these layers can be tested here: init.',
  );
  expect(probeLines([...held, row('d', 'masks', 'accepted')], false).slice(0, 2)).toEqual([
    '4 attacks: 2 stopped, 1 not testable here, 1 got through for want of a layer that you do without.',
    'PASS: every other attack that can be tested here was stopped.',
  ]);
  const all = probeLines(broken, true);
  for (const { name } of broken) expect(all.filter((line) => line.trim().split(/ +/).includes(name))).toHaveLength(1);
  expect(all).toContain(
    'FAIL          masks                                1 stopped, 1 not testable here, 1 got through',
  );
  expect(all.at(-1)).toMatch(/^FAIL: /);
});
