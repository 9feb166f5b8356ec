import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { type LackedFiles, lackedFiles } from '../../../../src/workspace/view/lacking.ts';

let dir: string;
let project: string;
const put = (name: string): void => {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), name);
};

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-lacked-'));
  project = path.join(dir, 'project');
  mkdirSync(path.join(dir, 'generation'), { recursive: true });
  writeFileSync(path.join(dir, 'generation/manifest'), '');
  for (const name of ['.gitignore', 'conf/open', 'conf/secret.env', 'src/code.c', 'build/out.o', 'kept.log']) put(name);
  writeFileSync(path.join(project, '.gitignore'), 'build/\n*.log\n');
  execFileSync('git', ['init', '-q'], { cwd: project });
  execFileSync('git', ['add', '-f', '.gitignore', 'kept.log', 'src'], { cwd: project });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function lacked(policy: object, more: object = {}): LackedFiles {
  const rules = { exclude: ['*.env'], include: [], mask: [] };
  const record = { version: 1, strategy: 'layers', generation: path.join(dir, 'generation'), entries: 1, rules };
  return lackedFiles({ project: { root: project }, policy } as unknown as Plan, { ...record, ...more });
}

it('counts what the rules and the record name, there or not', () => {
  const files = lacked({}, { leftOut: ['run/socket'] });
  for (const one of ['conf/secret.env', 'new/other.env', 'run/socket']) expect(files.lacks(one)).toBe(true);
  for (const one of ['conf/open', 'build/out.o', 'kept.log']) expect(files.lacks(one)).toBe(false);
});

it('counts ignored files that the project has, where the session left them out', () => {
  put('other.log');
  const files = lacked({ copyIgnored: false });
  expect(files.lacks('build/out.o')).toBe(true);
  expect(files.lacks('other.log')).toBe(true);
  // Tracked, and new output of the session.
  expect(files.lacks('kept.log')).toBe(false);
  expect(files.lacks('build/new.o')).toBe(false);
  expect(lacked({ copyIgnored: true }).lacks('build/out.o')).toBe(false);
});

it('finds a folder of the project that hides what the copy lacked, and follows no link', () => {
  const files = lacked({ copyIgnored: false });
  for (const one of ['conf', 'build']) expect(files.hidesLacking(one)).toBe(true);
  symlinkSync('conf', path.join(project, 'link'));
  for (const one of ['src', 'link', 'conf/open', 'none', 'conf/open/below'])
    expect(files.hidesLacking(one)).toBe(false);
});

it('lacks what is masked in bind mode', () => {
  const policy = { mode: 'bind', mask: ['*.env'], exclude: ['conf/'] };
  const bound = lackedFiles({ project: { root: project }, policy } as unknown as Plan, undefined);
  expect(['conf/secret.env', 'conf/open'].map((one) => bound.lacks(one))).toEqual([true, false]);
});

it('lacks nothing without a record, and reads a record of an earlier release', () => {
  const bound = lackedFiles({ project: { root: project }, policy: {} } as unknown as Plan, undefined);
  expect([bound.lacks('conf/secret.env'), bound.hidesLacking('conf')]).toEqual([false, false]);
  expect(lacked({}).lacks('conf/secret.env')).toBe(true);
  expect(() => lacked({}, { leftOut: [1] })).toThrow('does not name what was left out');
});
