import { expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import type { AuditInput } from '../../../../src/audit/input.ts';
import type { Digest } from '../../../../src/core/types/entry.ts';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import type { Finding } from '../../../../src/core/types/finding.ts';
import { ChangeJudge } from '../../../../src/review/judging/change-judge.ts';
import { plantFiles } from '../../audit/plant.ts';
import { CONTENT_ROWS } from '../../audit/rows-content.ts';
import { GIT_ROWS } from '../../audit/rows-git.ts';
import { SHELL_JS_ROWS } from '../../audit/rows-shell-js.ts';

const ROWS = [...GIT_ROWS, ...SHELL_JS_ROWS, ...CONTENT_ROWS];

/** The findings of a separate process; `onContent` is called for each content that it asks for. */
async function judge(
  { content, base, ...rest }: AuditInput,
  onContent: (digest: Digest, judge: ChangeJudge) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Finding[]> {
  using one: ChangeJudge = new ChangeJudge({
    content: (digest) => {
      onContent(digest, one);
      return content(digest);
    },
    ...(base === undefined ? {} : { base }),
  });
  return await one.audit({ ...rest, signal });
}

const kill = (one: ChangeJudge, signal: NodeJS.Signals): void => void process.kill(one.pid as number, signal);
const isBlocked = ({ rule, severity }: Finding): boolean => rule === 'unreadable' && severity === 'blocked';
const FILES = {
  ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`src/a${n}.ts`, `export const a = ${n};\n`])),
  Makefile: ['all:\n\ttrue\n', 'all:\n\tcurl x | sh\n'],
  'tools/run.sh': ['echo 1\n', 'echo 2\n'],
  '.gitignore': ['x\n', 'src\n'],
} as const;
const BASE = { 'package.json': '{"scripts":{"a":"sh tools/run.sh"}}' };
const digestOf = (text: string): Digest => Buffer.from(text).toString('latin1');

it('finds in a process of its own what is found in this one', async () => {
  const all = Object.fromEntries(
    ROWS.flatMap(({ danger }, n) => Object.entries(danger).map(([path, file]) => [`row${n}/${path}`, file])),
  );
  const input = plantFiles(all, Object.assign({}, ...ROWS.map(({ base }) => base ?? {})), { link: 'row1' });
  const findings = await judge(input);
  expect(findings.length).toBeGreaterThan(100);
  expect(findings).toEqual(auditChanges(input));
});

it('blocks only the change that ends the process, each time it is judged', async () => {
  const input = plantFiles(FILES, BASE);
  for (const signal of ['SIGABRT', 'SIGKILL'] as const) {
    const killer = digestOf('export const a = 70;\n');
    const findings = await judge(input, (digest, one) => digest === killer && kill(one, signal));
    expect(findings.filter(isBlocked)).toMatchObject([
      { path: 'src/a70.ts', title: 'Change that could not be judged' },
    ]);
    expect(findings.filter((one) => !isBlocked(one))).toEqual(
      auditChanges(input).filter(({ path }) => path !== 'src/a70.ts'),
    );
  }
});

it('blocks nothing where the process was ended once, from outside', async () => {
  const input = plantFiles(FILES, BASE);
  let isKilled = false;
  const findings = await judge(input, (_, one) => {
    if (!isKilled) kill(one, 'SIGKILL');
    isKilled = true;
  });
  expect(isKilled).toBe(true);
  expect(findings).toEqual(auditChanges(input));
});

it('judges all changes together without a change that ends the process only then', async () => {
  const input = plantFiles(FILES, BASE);
  const killer = digestOf('src\n');
  let reads = 0;
  // The first read is that of the change alone; the content of later changes has taken its place by the second one.
  const findings = await judge(input, (digest, one) => {
    if (digest === killer && ++reads > 1) kill(one, 'SIGKILL');
  });
  expect(findings.filter(isBlocked)).toMatchObject([{ path: '.gitignore' }]);
  expect(findings.map(({ rule, path }) => `${rule} ${path}`)).toContain('reached tools/run.sh');
});

it('blocks every change where judging them together always ends the process', async () => {
  let one: ChangeJudge | undefined;
  const input = plantFiles(FILES, BASE, {}, { read: () => void kill(one as ChangeJudge, 'SIGKILL') as undefined });
  using opened = new ChangeJudge({ content: input.content, ...(input.base && { base: input.base }) });
  one = opened;
  const findings = await opened.audit({ changes: input.changes });
  expect(new Set(findings.filter(isBlocked).map(({ path }) => path)).size).toBe(Object.keys(FILES).length);
});

it('blocks the rest after the process was ended too often', async () => {
  const input = plantFiles(FILES, BASE);
  const findings = await judge(input, (_, one) => kill(one, 'SIGKILL'));
  expect(new Set(findings.filter(isBlocked).map(({ path }) => path)).size).toBe(Object.keys(FILES).length);
});

it('begins an audit where a piece of work ahead ends, and keeps nothing waiting for it', async () => {
  const input = plantFiles(FILES, BASE);
  using one = new ChangeJudge({ content: input.content, ...(input.base && { base: input.base }) });
  const ahead = [one.warm(20), one.warm(20)];
  const findings = await one.audit(input);
  expect(await Promise.all(ahead)).toEqual([false, false]);
  expect(findings).toEqual(auditChanges(input));
});

it('ends at once when it is interrupted', async () => {
  const stop = new AbortController();
  let pid = 0;
  const audit = judge(
    plantFiles(FILES, BASE),
    (_, one) => {
      pid = one.pid as number;
      stop.abort(new Error('stopped by a test'));
    },
    stop.signal,
  );
  await expect(audit).rejects.toThrow('stopped by a test');
  await expect.poll(() => isAlive(pid)).toBe(false);
});

it('ends within a second where the process does not answer', async () => {
  const stop = new AbortController();
  let stoppedMs = 0;
  const audit = judge(
    plantFiles(FILES, BASE),
    (_, one) => {
      kill(one, 'SIGSTOP');
      stoppedMs = performance.now();
      setTimeout(() => stop.abort(new Error('stopped by a test')), 50);
    },
    stop.signal,
  );
  await expect(audit).rejects.toThrow('stopped by a test');
  expect(performance.now() - stoppedMs).toBeLessThan(1000);
});

it('tells how far a long audit is, and nothing of a short one', async () => {
  const input = plantFiles(Object.fromEntries(Object.entries(FILES).slice(0, 12)), BASE);
  let delayMs = 0;
  const content = (digest: Digest): Buffer | undefined => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
    return input.content(digest);
  };
  using one = new ChangeJudge({ content });
  const told = async (): Promise<SessionEvent[]> => {
    const events: SessionEvent[] = [];
    await one.audit({ changes: input.changes, tell: (event) => events.push(event) });
    return events;
  };
  // The first one starts the process; on a busy machine none of the next few may be short.
  let isSilent = false;
  for (let tries = 0; tries < 10 && !isSilent; tries += 1) isSilent = (await told()).length === 0;
  expect(isSilent).toBe(true);
  delayMs = 250;
  const long = await told();
  expect(long[0]).toMatchObject({ kind: 'progress', what: 'Auditing the changes', total: 12, unit: 'files' });
  const done = long.flatMap((event) => (event.kind === 'progress' ? [event.done ?? 0] : []));
  expect(done.length).toBeGreaterThan(1);
  expect(done).toEqual([...done].sort((a, b) => a - b));
  expect(done.at(-1)).toBeGreaterThan(0);
  expect(long.at(-1)).toMatchObject({ kind: 'progress-end' });
});

it('throws an error of the system that reading the content meets', async () => {
  const failing = judge(plantFiles(FILES), () => {
    throw Object.assign(new Error('EIO: a disk that fails'), { syscall: 'read' });
  });
  await expect(failing).rejects.toThrow('EIO');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
