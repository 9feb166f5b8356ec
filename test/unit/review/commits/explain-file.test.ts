import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { auditCommand } from '../../../../src/cli/commands/review/audit.ts';
import { GitScene } from '../../../support/review/git-scene.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());
const { root, repo } = scene;
const git = (...args: string[]): string => scene.git(...args);
const put = (name: string, text: string): void => scene.put(name, text);
put('package.json', '{"name":"x","version":"1.0.0"}\n');
put('.npmrc', 'fund=false\n');
put('src/a.js', 'a\n');
put('Makefile', 'all:\n\tsh tools/x\n');
put('tools/x', 'true\n');
git('add', '-A');
git('commit', '-qm', 'first');

async function explain(
  file: string,
  options: Record<string, string | undefined> = {},
): Promise<{ status: number; out: string }> {
  const context = scene.context();
  const entries = Object.entries({ explain: file, ...options });
  const line = {
    command: 'audit',
    words: [],
    rest: undefined,
    options: new Map(entries.map(([key, value]) => [key, value === undefined ? [true] : [value]])),
  };
  return { status: await auditCommand(line as never, context), out: context.out() };
}

it('names the rule, what counts and what is plain, each with the reason', async () => {
  put('.npmrc', 'fund=true\nscript-shell=./x\n');
  const { status, out } = await explain('.npmrc');
  expect(status).toBe(0);
  expect(out).toMatch(/^\.npmrc: modified, suspect\n/);
  expect(out).toMatch(/suspect {2}js-npmrc: Suspect file modified \(/);
  expect(out).toContain('counts  script-shell: ./x');
  expect(out).toMatch(/plain {3}fund: true\n +\S/);
});

it('judges the file alone, with what the commit runs by name', async () => {
  put('tools/x', 'false\n');
  expect((await explain('tools/x')).out).toMatch(/suspect {2}reached: .*Makefile/);
  put('tools/x', 'true\n');
});

it('has the same as JSON', async () => {
  put('package.json', '{"name":"x","version":"1.0.1","scripts":{"pretest":"x\\u202e"}}\n');
  const { out } = await explain('package.json', { json: undefined, base: 'HEAD' });
  const { path: name, kind, findings, rules } = JSON.parse(out);
  expect([name, kind]).toEqual(['package.json', 'modified']);
  expect(findings[0]).toMatchObject({ severity: 'suspect' });
  expect(rules.map(({ rule }: { rule: string }) => rule)).toContain('js-package-json');
});

it('says when nothing changed, and that no rule is for an ordinary name', async () => {
  expect((await explain('src/a.js')).out).toBe(`${path.join(repo, 'src/a.js')} is as HEAD has it.\n`);
  put('src/a.js', 'b\n');
  expect((await explain('src/a.js')).out).toContain('src/a.js: modified, no finding\n');
});

it('never follows a link, and cleans what it prints', async () => {
  symlinkSync('/etc/passwd', path.join(repo, 'link'));
  expect((await explain('link')).out).toMatch(/^link: created, blocked\n/);
  put('a\u202eb.sh', 'x\n');
  expect((await explain('a\u202eb.sh')).out).not.toContain('\u202e');
});

it.each([
  ['../outside', /is not a file of/],
  ['missing', /neither in the work tree nor in HEAD/],
  ['src', /is not a file/],
])('refuses %s', async (file, message) => {
  writeFileSync(path.join(root, 'outside'), '');
  await expect(explain(file)).rejects.toThrow(message);
});
