import { expect, it } from 'vitest';
import { explainChange } from '../../../src/audit/explain.ts';
import { explanationLines } from '../../../src/audit/explanation-lines.ts';
import type { Change } from '../../../src/core/types/entry.ts';

/** The explanation of a file that is new, or that had other text before. */
function explain(path: string, after: string, before?: string) {
  const contents = new Map([
    ['after', Buffer.from(after)],
    ['before', Buffer.from(before ?? '')],
  ]);
  const entry = (digest: string) => ({
    kind: 'file',
    mode: 0o644,
    size: contents.get(digest)?.length ?? 0,
    mtimeNs: '0',
    digest,
  });
  const change = {
    path,
    kind: before === undefined ? 'created' : 'modified',
    ...(before === undefined ? {} : { before: entry('before') }),
    after: entry('after'),
  } as Change;
  return explainChange({ changes: [change], content: (digest) => contents.get(digest) }, change);
}

it('has what counts for a finding, and nothing that the finding does not have', () => {
  const { findings, rules } = explain('.npmrc', 'fund=true\nscript-shell=./x\n', 'fund=false\n');
  const [rule] = rules.filter((one) => one.rule === 'js-npmrc');
  const counts = rule?.judges.flatMap((one) => one.counts) ?? [];
  expect(counts).toContain('script-shell: ./x');
  expect(rule?.judges.flatMap((one) => one.plain.map(({ what }) => what))).toContain('fund: true');
  expect(findings.find((one) => one.rule === 'js-npmrc')?.detail).toContain('script-shell: ./x');
});

it('names the keys of a request that changed, those of the request first', () => {
  const detail = (path: string, after: string, before: string) =>
    explain(path, after, before)
      .findings.map((one) => one.detail ?? '')
      .join('\n');
  const before = 'exclude = ["a"]\nlimit = 1\n[environment]\nsetup = "npm ci"\nfiles = ["f"]\n';
  const after = 'exclude = ["b"]\nmask = ["c"]\n[environment]\nsetup = "npm ci; x"\n';
  expect(detail('.run-claude.toml', after, before)).toBe(
    'environment.setup: npm ci; x; environment.files[] was removed; exclude[]: b; and 2 more',
  );
  const service = '[[service]]\nname = "db"\ncommand = "x"\nport = 1\n';
  const own = 'exclude = ["a", "b", "c", "d"]\n';
  // A folder of the project can be the project of the next session.
  for (const file of ['.run-claude.toml', 'packages/app/.run-claude.toml'])
    expect(detail(file, `${own}${service.replace('"x"', '"evil"')}`, service)).toMatch(/^service\S*\.command: evil; /);
  expect(detail('.run-claudeignore', 'a\n', 'a\nsecret\n')).toBe('removed: secret');
  const named = detail('.devcontainer.json', '{"name": "a", "forwardPorts": [3000]}', '{"name": "a"}');
  expect(named).toBe('forwardPorts[]: 3000');
});

it('has no part that was there before', () => {
  const { rules } = explain('.npmrc', 'fund=false\naudit=false\n', 'fund=false\n');
  const all = rules.flatMap(({ judges }) =>
    judges.flatMap(({ counts, plain }) => [...counts, ...plain.map(({ what }) => what)]),
  );
  expect(all.some((part) => part.startsWith('fund'))).toBe(false);
});

it('says of a plain line which pattern it does not match', () => {
  const { rules } = explain('.gitattributes', '*.png binary\n');
  const plain = rules.flatMap(({ judges }) => judges.flatMap((one) => one.plain));
  for (const { why } of plain) expect(why).toMatch(/match/);
});

it('cleans every text', () => {
  const lines = explanationLines(explain('.npmrc', 'fund=\u202e\u001b[2J\n'));
  expect(lines.join('\n')).not.toMatch(/[\u202e\u001b]/);
});

it('counts what it does not list', () => {
  const many = Array.from({ length: 100 }, (_, n) => `key${n}=1\n`).join('');
  const lines = explanationLines(explain('.npmrc', many));
  expect(lines.length).toBeLessThan(60);
  expect(lines.join('\n')).toMatch(/and \d+ more lines \(--json has all\)/);
});

it('says that no rule is for an ordinary name', () => {
  const lines = explanationLines(explain('src/a.c', 'int a;\n'));
  expect(lines[0]).toBe('src/a.c: created, no finding');
  expect(lines).toContain('No rule is for files of this name.');
});

it('says that a change is plain data, where a rule reports any other', () => {
  const { findings, rules } = explain('.bazelversion', '7.1.1\n', '7.1.0\n');
  expect(findings).toEqual([]);
  expect(rules.flatMap(({ judges }) => judges.flatMap(({ plain }) => plain.map(({ what }) => what)))).toEqual([
    'the whole change',
  ]);
});

it('shows the chain of files that lead to the file, and ends where files name each other', () => {
  const files: Record<string, string> = {
    '.github/workflows/ci.yml': 'on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: sh tools/first.sh\n',
    'tools/first.sh': 'sh tools/second.sh\n',
    'tools/second.sh': '. tools/last.txt\nsh tools/first.sh\n',
    'tools/last.txt': 'true\n',
  };
  const contents = new Map(Object.entries({ ...files, new: 'false\n' }).map(([key, text]) => [key, Buffer.from(text)]));
  const entry = (digest: string) => ({ kind: 'file', mode: 0o644, size: 9, mtimeNs: '0', digest });
  const change = {
    path: 'tools/last.txt',
    kind: 'modified',
    before: entry('tools/last.txt'),
    after: entry('new'),
  } as Change;
  const { reach, ...rest } = explainChange(
    {
      changes: [change],
      content: (digest) => contents.get(digest),
      base: { paths: Object.keys(files), read: (name) => contents.get(name) },
    },
    change,
  );
  expect(reach.slice(0, 2)).toEqual(['tools/second.sh', 'tools/first.sh']);
  expect(new Set(reach).size).toBe(reach.length);
  expect(explanationLines({ reach, ...rest })).toContain(`Named by: ${reach.join(', which is named by ')}`);
  expect(explain('src/a.c', 'int a;\n').reach).toEqual([]);
});
