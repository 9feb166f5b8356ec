import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { missingInstructions } from '../../../../../src/agents/claude/stage/missing-instructions.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-instructions-'));
  for (const one of ['home/.claude', 'home/work/y']) mkdirSync(path.join(dir, one), { recursive: true });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const put = (name: string, text: string): void => {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  writeFileSync(path.join(dir, name), text);
};
const missing = (staged: readonly string[] = []): Promise<string | undefined> =>
  missingInstructions({
    home: path.join(dir, 'home'),
    configDir: path.join(dir, 'home/.claude'),
    projectRoot: path.join(dir, 'home/work/y'),
    isStaged: (one) => staged.includes(one),
  });
const PREFIX = 'Instructions outside of the project, which Claude does not have inside: ';

it('names what is imported from outside, also by a file that is imported', async () => {
  put('home/private.md', 'p');
  put('home/work/x.md', 'x');
  put('home/work/with space.md', 'x');
  put(
    'home/work/y/CLAUDE.md',
    'See @~/private.md\n- @../with\\ space.md\n@docs/a.md and @docs/none.md, a@b.example @types/node\n',
  );
  put('home/work/y/docs/a.md', '@../CLAUDE.md\n@../../x.md#part\n@~/private.md\n');
  expect(await missing()).toBe(
    `${PREFIX}~/private.md (CLAUDE.md imports it), ../with space.md (CLAUDE.md imports it), ../../x.md (a.md imports it)`,
  );
});

it('says nothing of the project’s own files, of code, of what does not exist, and of what is staged', async () => {
  put('home/private.md', 'p');
  put('home/.claude/mine.md', 'm');
  put('home/.claude/CLAUDE.md', '@mine.md @~/.claude/mine.md');
  put('home/work/y/docs/a.md', 'a');
  put('home/work/y/CLAUDE.md', '@docs/a.md `@~/private.md`\n```sh\n@~/private.md\n```\n@~/gone.md\n~~~\n@~/private.md');
  expect(await missing(['mine.md'])).toBeUndefined();
  expect(await missing()).toBe(`${PREFIX}mine.md (CLAUDE.md imports it)`);
});

it('names instructions of folders above, and ends in a circle and at very many', async () => {
  put('home/work/CLAUDE.md', 'team');
  put('home/work/y/CLAUDE.local.md', '@.claude/CLAUDE.md');
  put('home/work/y/.claude/CLAUDE.md', '@../CLAUDE.local.md');
  expect(await missing()).toBe(`${PREFIX}~/work/CLAUDE.md`);
  const names = Array.from({ length: 20 }, (_, at) => `m${at}.md`);
  for (const name of names) put(`home/many/${name}`, 'x');
  put('home/work/y/CLAUDE.md', names.map((name) => `@~/many/${name}\n`).join(''));
  expect(await missing()).toMatch(/m7\.md \(CLAUDE\.md imports it\) and 13 more$/);
});

it('shows no text of the project in place of a path', async () => {
  put('home/private.md', 'p');
  put('home/work/y/CLAUDE.md', '@~/x,\\ [sandbox]\\ Applied\\ 9\\ files./../private.md');
  expect(await missing()).toBe(`${PREFIX}~/private.md (CLAUDE.md imports it)`);
  const long = `${'d/../'.repeat(300)}private.md`;
  put('home/work/y/CLAUDE.md', `@~/${long.slice(0, 990)}../private.md @${'/.'.repeat(400)}${dir}/home/private.md`);
  expect((await missing())?.length).toBeLessThan(400);
});
