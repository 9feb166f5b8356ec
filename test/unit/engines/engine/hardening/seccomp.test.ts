import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSeccompProfile } from '../../../../../src/engines/engine/hardening/seccomp.ts';

interface Condition {
  index: number;
  value: number;
  valueTwo?: number;
  op: string;
}
interface Rule {
  names: string[];
  action: string;
  errnoRet?: number;
  args?: Condition[];
}
const profile = JSON.parse(readFileSync(new URL('../../../../../seccomp/profile.json', import.meta.url), 'utf8')) as {
  archMap: { architecture: string; subArchitectures: string[] }[];
  syscalls: Rule[];
};

/** What the filter answers, computed as the kernel does: 64-bit arguments, any one rule suffices. */
function allowed(name: string, ...args: bigint[]): boolean {
  return profile.syscalls
    .filter((rule) => rule.names.includes(name) && rule.action === 'SCMP_ACT_ALLOW')
    .some((rule) =>
      (rule.args ?? []).every(({ index, value, valueTwo, op }) => {
        const given = args[index] ?? 0n;
        if (op === 'SCMP_CMP_EQ') return given === BigInt(value);
        return (given & BigInt(value)) === BigInt(valueTwo ?? 0);
      }),
    );
}

describe('the seccomp profile', () => {
  it('equals its source', () => {
    const script = fileURLToPath(new URL('../../../../../seccomp/generate.mjs', import.meta.url));
    expect(execFileSync(process.execPath, [script, '--check'], { encoding: 'utf8' })).toBe('');
  });

  it('lists no 32-bit architecture', () => {
    expect(profile.archMap.map((one) => one.architecture)).toEqual(['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64']);
    expect(profile.archMap.flatMap((one) => one.subArchitectures)).toEqual([]);
  });

  it('has no rule on an argument that is a pointer', () => {
    const scalars: Record<string, number[]> = {
      clone: [0],
      personality: [0],
      socket: [0, 1, 2],
      socketpair: [0, 1, 2],
      ioctl: [0, 1],
      prctl: [0, 1],
      mknod: [1, 2],
      mknodat: [0, 2, 3],
      setrlimit: [0],
      // The third is a pointer: asked is only whether there is one.
      prlimit64: [1, 2],
    };
    const ruled = profile.syscalls.filter((rule) => rule.args !== undefined);
    expect(ruled.length).toBeGreaterThan(50);
    for (const rule of ruled) {
      for (const { index } of rule.args ?? []) expect(scalars[rule.names[0] ?? '']).toContain(index);
    }
  });

  it.each([0x5412, 0x541c, 0x541d, 0x5423])(
    'refuses ioctl %i whatever the upper half of the argument holds',
    (request) => {
      fc.assert(fc.property(fc.nat(), (high) => !allowed('ioctl', 0n, (BigInt(high) << 32n) | BigInt(request))));
    },
  );

  it('refuses to set the limit on core dumps, whatever the upper half of the argument holds, and allows reading it', () => {
    const core = 4n;
    const high = fc.nat().map((bits) => BigInt(bits) << 32n);
    fc.assert(fc.property(high, (bits) => !allowed('setrlimit', bits | core, 1n)));
    fc.assert(fc.property(high, (bits) => !allowed('prlimit64', 0n, bits | core, 1n)));
    fc.assert(fc.property(high, (bits) => allowed('prlimit64', 0n, bits | core, 0n)));
    const other = fc.integer({ min: 0, max: 15 }).filter((resource) => resource !== 4);
    fc.assert(fc.property(other, (resource) => allowed('setrlimit', BigInt(resource), 1n)));
    fc.assert(fc.property(other, (resource) => allowed('prlimit64', 0n, BigInt(resource), 1n)));
  });

  it('allows every other ioctl, whatever the upper half of the argument holds', () => {
    const refused = new Set([0x5412, 0x541c, 0x541d, 0x5423]);
    const near = fc.oneof(fc.integer({ min: 0x5400, max: 0x54ff }), fc.integer({ min: 0, max: 0xffffffff }));
    fc.assert(
      fc.property(near, fc.nat(), (request, high) => {
        fc.pre(!refused.has(request));
        return allowed('ioctl', 0n, (BigInt(high) << 32n) | BigInt(request));
      }),
    );
  });

  it('allows a process to make itself undumpable, and never dumpable again', () => {
    expect(allowed('prctl', 4n, 0n)).toBe(true);
    expect(allowed('prctl', 4n, 1n)).toBe(false);
    expect(allowed('prctl', (1n << 32n) | 4n, 1n)).toBe(false);
    expect(allowed('prctl', 4n, 1n << 32n)).toBe(false);
    expect(allowed('prctl', 15n, 1n)).toBe(true);
  });

  it('allows new threads and processes, and refuses new namespaces', () => {
    const thread = 0x3d0f00n;
    expect(allowed('clone', thread)).toBe(true);
    expect(allowed('clone', 0x1200011n)).toBe(true);
    for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n, 0x80n]) {
      expect(allowed('clone', thread | flag)).toBe(false);
    }
  });

  it('opens sockets of the named families, types and protocols only', () => {
    const pass = [
      [1n, 1n, 0n],
      [1n, 5n, 0n],
      [2n, 0x80801n, 6n],
      [10n, 0x80002n, 17n],
      [16n, 3n, 0n],
    ];
    for (const args of pass) expect(allowed('socket', ...args)).toBe(true);
    const stopped = [
      [40n, 1n, 0n],
      [(1n << 32n) + 40n, 1n, 0n],
      [38n, 5n, 0n],
      [17n, 3n, 0x300n],
      [16n, 3n, 12n],
      [2n, 2n, 1n],
      [2n, 1n, 262n],
      [2n, 2n, 136n],
      [2n, 5n, 0n],
      [2n, 3n, 0n],
      [2n, 6n, 0n],
    ];
    for (const args of stopped) expect(allowed('socket', ...args)).toBe(false);
  });

  it('refuses to create device nodes, even 0:0', () => {
    expect(allowed('mknod', 0n, 0o010666n)).toBe(true);
    expect(allowed('mknod', 0n, 0o020666n)).toBe(false);
    expect(allowed('mknod', 0n, 0o060666n)).toBe(false);
    expect(allowed('mknodat', 0n, 0n, (1n << 16n) | 0o020666n)).toBe(false);
  });

  it('is refused if its file is missing or allows by default', async () => {
    await expect(readSeccompProfile(new URL('file:///nowhere.json'))).rejects.toMatchObject({
      code: 'SECCOMP_MISSING',
    });
    const dir = mkdtempSync(join(tmpdir(), 'run-claude-seccomp-'));
    const open = pathToFileURL(join(dir, 'open.json'));
    writeFileSync(open, '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[1]}');
    await expect(readSeccompProfile(open)).rejects.toThrow('not an allowlist');
    rmSync(dir, { recursive: true });
  });
});
