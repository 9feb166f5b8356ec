import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { connectForTest } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';
import { inside } from './inside.ts';
import { toolsImage } from './tools-image.ts';

let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = toolsImage(await testImage(engine));
});
afterAll(() => engine.close());

it('capsh, captest, pscap and filecap find no capability and no way to gain one', async () => {
  const { said } = await inside(
    engine,
    image,
    'capsh --print; capsh --has-no-new-privs && echo NNP; captest; echo "pscap:$(pscap -a)"; echo "filecap:$(filecap -a)"',
  );
  expect(said).toMatch(/^Current: =\nBounding set =\nAmbient set =\n/);
  expect(said).toContain('NNP\n');
  expect(said).toContain('Current capabilities: none');
  expect(said).toContain('Attempting direct access to shadow...FAILED');
  expect(said).toMatch(/pscap:\nfilecap:\n/);
});

/** Stressors that attack: what they try is refused or fails, and the container goes on. */
const STRESSORS = [
  ...['chroot', 'unshare', 'ptrace', 'key', 'userfaultfd', 'vm-splice', 'io-uring', 'rawsock', 'rawpkt', 'personality'],
  ...['sysinval', 'sysbadaddr', 'enosys', 'procfs', 'sysfs', 'bad-ioctl', 'mknod', 'seccomp', 'set', 'kcmp', 'af-alg'],
];

it('stress-ng’s security class and its attacking stressors leave every layer as it was', async () => {
  const run = STRESSORS.map((name) => `timeout -k 5 60 stress-ng --${name} 1 --timeout 2s --quiet || true`).join('\n');
  const script = `stress-ng --class security --seq 1 --timeout 1s || true\ncd /tmp\n${run}\ncd /; /usr/lib/run-claude/probes`;
  const { said } = await inside(engine, image, script);
  expect(said).toContain('apparmor stressor will be skipped, need to be running with CAP_SYS_ADMIN');
  const rows = said.split('\n').filter((line) => /\t(stopped|open|untestable)\t/.test(line));
  expect(rows.length).toBeGreaterThan(300);
  expect(rows.filter((row) => row.includes('\topen\t'))).toEqual([]);
});

it('lynis has one warning: no kernel logger runs', async () => {
  const script =
    'timeout -k 5 900 lynis audit system --quick --no-colors --logfile /tmp/log --report-file /tmp/report >/dev/null 2>&1 || true; grep -c ^suggestion /tmp/report; grep ^warning /tmp/report | grep -v LOGG-2138 || echo none; grep ^hardening_index /tmp/report';
  const { said } = await inside(engine, image, script);
  expect(said).toMatch(/^\d+\nnone\nhardening_index=\d+/);
});

/** The kernel's tests of seccomp that cannot pass under run-claude's filter, and why. */
const FILTERED: Readonly<Record<string, string>> = {
  kcmp: 'kcmp is refused',
  mode_strict_support: 'a process under a filter cannot become strict',
  mode_strict_cannot_call_prctl: 'a process under a filter cannot become strict',
  mode_filter_without_nnp: 'no_new_privs is on before the test begins',
  mode_filter_get_seccomp: 'a filter is on before the test begins',
  negative_ENOSYS: 'an unknown call gets EPERM',
  syscall_restart: 'needs ptrace',
  user_notification_child_pid_ns: 'needs namespaces',
  user_notification_sibling_pid_ns: 'needs namespaces',
  user_notification_fault_recv: 'needs userfaultfd or more',
  user_notification_continue: 'needs kcmp',
  user_notification_filter_empty: 'needs clone3',
  user_notification_filter_empty_threaded: 'needs clone3',
  user_notification_addfd: 'needs kcmp',
  user_notification_wait_killable_pre_notification: 'needs kcmp',
};

it('the kernel’s own tests of seccomp and landlock: programs can still restrict themselves further', async () => {
  // The rest of the first needs ptrace and waits for it for ever.
  const script = `cd /tmp; timeout -k 5 60 /selftests/seccomp >seccomp 2>&1 </dev/null || true; grep -E '^(not )?ok' seccomp
echo ==; timeout -k 5 60 /selftests/landlock >landlock 2>&1 </dev/null || true; grep -E '^(not )?ok' landlock`;
  const { said } = await inside(engine, image, script);
  const [seccomp = '', landlock = ''] = said.split('==');
  const failed = [...seccomp.matchAll(/^not ok \d+ global\.(\w+)/gm)].map(([, name = '']) => name);
  expect(failed.filter((name) => !(name in FILTERED))).toEqual([]);
  expect(seccomp.match(/^ok /gm)?.length).toBeGreaterThanOrEqual(50);
  expect(landlock.match(/^ok /gm)?.length).toBeGreaterThanOrEqual(6);
});
