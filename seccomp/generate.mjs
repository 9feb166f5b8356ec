// Writes profile.json and the table of differences in README.md from calls.txt and the rules below.
// `node seccomp/generate.mjs --check` compares instead and fails when either is out of date.
import { readFileSync, writeFileSync } from 'node:fs';

const here = (name) => new URL(name, import.meta.url);
const ENOSYS = 38;
const EPERM = 1;

/** CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}, and NEWTIME, whose bit no signal number of clone has. */
const NAMESPACE_FLAGS = 0x7e020080;
const S_IFMT = 0o170000;
const PR_SET_DUMPABLE = 4;
const RLIMIT_CORE = 4;
/** TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD. The same numbers on amd64 and arm64. */
const REFUSED_IOCTLS = [0x5412, 0x541c, 0x541d, 0x5423];

const equal = (index, value) => ({ index, value, op: 'SCMP_CMP_EQ' });
const masked = (index, mask, value) => ({ index, value: mask, valueTwo: value, op: 'SCMP_CMP_MASKED_EQ' });

/**
 * Conditions that together let every 32-bit value of an argument pass but `refused`, whatever the upper half
 * holds: the kernel reads 32 bits, the filter compares 64. Each condition is one branch of the tree of bits, from the
 * highest, that leads to no refused value.
 */
function allBut(index, refused) {
  const conditions = [];
  const descend = (prefix, bit, within) => {
    if (bit < 0) return;
    for (const side of [0, 1]) {
      const value = prefix + side * 2 ** bit;
      const inside = within.filter((one) => Math.floor(one / 2 ** bit) % 2 === side);
      if (inside.length === 0) conditions.push(masked(index, 2 ** 32 - 2 ** bit, value));
      else descend(value, bit - 1, inside);
    }
  };
  descend(0, 31, refused);
  return conditions;
}

/** For a call under "rules": lists of conditions; the call passes when all of any one list hold. */
const RULES = {
  clone: [[masked(0, NAMESPACE_FLAGS, 0)]],
  personality: [0, 8, 0x20000, 0x20008, 0xffffffff].map((value) => [equal(0, value)]),
  socket: [
    [equal(0, 1)],
    [equal(0, 16), equal(2, 0)],
    ...[2, 10].flatMap((family) =>
      [
        [1, 0],
        [1, 6],
        [2, 0],
        [2, 17],
      ].map(([type, protocol]) => [equal(0, family), masked(1, 0xf, type), equal(2, protocol)]),
    ),
  ],
  socketpair: [[equal(0, 1)]],
  ioctl: allBut(1, REFUSED_IOCTLS).map((one) => [one]),
  prctl: [...allBut(0, [PR_SET_DUMPABLE]).map((one) => [one]), [masked(0, 0xffffffff, PR_SET_DUMPABLE), equal(1, 0)]],
  mknod: [0, 0o010000, 0o100000, 0o140000].map((type) => [masked(1, S_IFMT, type)]),
  setrlimit: allBut(0, [RLIMIT_CORE]).map((one) => [one]),
  prlimit64: [...allBut(1, [RLIMIT_CORE]).map((one) => [one]), [masked(1, 0xffffffff, RLIMIT_CORE), equal(2, 0)]],
  mknodat: [0, 0o010000, 0o100000, 0o140000].map((type) => [masked(2, S_IFMT, type)]),
};

/**
 * Answered with success and not done. The limit on cores is 1, which alone keeps the kernel from starting the host's
 * core handler (core(5)); lowered to 0 it would be started. Programs that lower it take a refusal for a fault.
 */
const PRETENDED = {
  setrlimit: [masked(0, 0xffffffff, RLIMIT_CORE)],
  prlimit64: [masked(1, 0xffffffff, RLIMIT_CORE), { index: 2, value: 0, op: 'SCMP_CMP_NE' }],
};

function readCalls() {
  const verdicts = { allow: [], refuse: [], absent: [], rules: [] };
  const differences = [];
  let section;
  for (const raw of readFileSync(here('calls.txt'), 'utf8').split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const heading = /^\[(?:same )?(\w+)\]$/.exec(line);
    if (heading) {
      section = heading[1];
    } else if (section === 'different') {
      const [name, verdict, before, ...reason] = line.split('|').map((part) => part.trim());
      if (!(verdict in verdicts) || reason.length !== 1 || reason[0] === '') throw new Error(`bad line: ${line}`);
      verdicts[verdict].push(name);
      differences.push({ name, verdict, before, reason: reason[0] });
    } else {
      verdicts[section].push(...line.split(/\s+/));
    }
  }
  const all = Object.values(verdicts).flat();
  const twice = all.filter((name, at) => all.indexOf(name) !== at);
  if (twice.length > 0) throw new Error(`named twice: ${twice.join(' ')}`);
  const ruled = Object.keys(RULES).sort().join();
  if (ruled !== [...verdicts.rules].sort().join()) throw new Error('calls.txt and RULES disagree');
  return { verdicts, differences };
}

function profileText(verdicts) {
  const rule = (names, action, rest = {}) => ({ names, action, ...rest });
  const syscalls = [
    rule([...verdicts.allow].sort(), 'SCMP_ACT_ALLOW'),
    rule([...verdicts.refuse].sort(), 'SCMP_ACT_ERRNO', { errnoRet: EPERM }),
    rule([...verdicts.absent].sort(), 'SCMP_ACT_ERRNO', { errnoRet: ENOSYS }),
    ...Object.entries(RULES).flatMap(([name, lists]) => lists.map((args) => rule([name], 'SCMP_ACT_ALLOW', { args }))),
    ...Object.entries(PRETENDED).map(([name, args]) => rule([name], 'SCMP_ACT_ERRNO', { errnoRet: 0, args })),
  ];
  const head = {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    // No 32-bit siblings: their calls die with SIGSYS instead of passing by other numbers.
    archMap: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].map((architecture) => ({ architecture, subArchitectures: [] })),
  };
  const lines = syscalls.map((one) => `    ${JSON.stringify(one)}`).join(',\n');
  return `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "syscalls": [\n${lines}\n  ]\n}\n`;
}

function readmeText(current, differences) {
  const begin = '<!-- differences: generated -->\n';
  const end = '<!-- end -->';
  const [before, rest] = current.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error('README.md has lost its markers');
  const rows = differences.map((d) => `| \`${d.name}\` | ${d.before} | ${d.verdict} | ${d.reason} |`);
  return `${before}${begin}| call | engine's default | here | reason |\n|---|---|---|---|\n${rows.join('\n')}\n${end}${after}`;
}

const { verdicts, differences } = readCalls();
const readme = readFileSync(here('README.md'), 'utf8');
const wanted = { 'profile.json': profileText(verdicts), 'README.md': readmeText(readme, differences) };
for (const [name, text] of Object.entries(wanted)) {
  if (!process.argv.includes('--check')) writeFileSync(here(name), text);
  else if (readFileSync(here(name), 'utf8') !== text) {
    console.error(`seccomp/${name} is out of date: node seccomp/generate.mjs`);
    process.exitCode = 1;
  }
}
