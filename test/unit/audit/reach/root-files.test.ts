import { expect, it } from 'vitest';
import { namesOf } from '../../../../src/audit/reach/referrers.ts';

const CHARS = 200_000;
const MAX_CPU_MS = 4000;
const SHAPES = [
  '\n',
  ' ',
  '"',
  'a/',
  'a-',
  "'./",
  'plugins ',
  'hooks: ["a/b.sh", "c/d.sh"]\n',
  'const a = path.join(__dirname, "a")\n',
  '- a/b:/c/init.d\n',
];

/** What a file at the top names, `kind text`. */
const namedBy = (path: string, text: string): string[] =>
  (namesOf(path, Buffer.from(text))?.names ?? []).map((name) => `${name.kind} ${name.text}`);

it.each(['.tool', 'tool.yaml', 'plopfile.js', 'BUILD.gn', 'tool.json'])('reads any text in linear time: %s', (path) => {
  const before = process.cpuUsage();
  for (const shape of SHAPES) namesOf(path, Buffer.from(shape.repeat(CHARS / shape.length)));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(MAX_CPU_MS);
});

it('takes values for what their key says', () => {
  const text =
    'hooks:\n  before: dev/a\n  exclude: dev/b.sh\nmain: src/c.js\nplugins:\n  - src/d.js\nrules_path: dev/rules\n';
  expect(namedBy('tool.yml', text)).toEqual(expect.arrayContaining(['file dev/a', 'file src/d.js', 'tree dev/rules']));
  expect(namedBy('tool.yml', text).join('\n')).not.toMatch(/dev\/b|src\/c/);
});

it('reads any other text by its strings', () => {
  expect(namedBy('.tool', 'include "dev/a.x"\n# include "dev/b.x"\n')).toEqual(
    expect.arrayContaining(['file dev/a.x']),
  );
  expect(namedBy('.tool', '# include "dev/b.x"\n').join('\n')).not.toContain('dev/b.x');
});

it('takes no document, lock file or source of an application for settings', () => {
  for (const path of ['README', 'main.py', 'a.lock', '.gitignore', 'data.csv', 'openapi.yaml', 'a/tool.yml'])
    expect(namedBy(path, 'hooks: dev/a.sh\n'), path).toEqual([]);
});
