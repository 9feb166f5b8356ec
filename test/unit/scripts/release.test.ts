import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { changesOf, fillRepository } from '../../../scripts/release.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

it('the version is the same in the package, its lock file and the README', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  expect([lock.version, lock.packages['']?.version]).toEqual([version, version]);
  expect(read('README.md')).toContain(`\nVersion ${version} · `);
});

describe('the changes of a version', () => {
  const log = '# Changelog\n\n## 1.2.0 (2026-01-31)\n\n### Added\n\n- It.\n\n## 1.1.0\n\nOld.\n';

  it('are its section, up to the one before', () => {
    expect(changesOf(log, '1.2.0')).toBe('### Added\n\n- It.');
    expect(changesOf('## 1.0.0 (2026-01-31)\n\nThe first.\n', '1.0.0')).toBe('The first.');
  });

  it.each([
    ['another version', log, '1.3.0', "begins with '1.2.0 (2026-01-31)', and 1.3.0"],
    ['no date', '## 1.2.0\n\nx\n', '1.2.0', "begins with '1.2.0', and 1.2.0 with its date"],
    [
      'unreleased changes above',
      '## Unreleased\n\n- x\n\n## 1.2.0 (2026-01-31)\n\nx\n',
      '1.2.0',
      "begins with 'Unreleased'",
    ],
    ['no text', '## 1.2.0 (2026-01-31)\n\n## 1.1.0\n\nx\n', '1.2.0', 'has no changes of 1.2.0'],
  ])('are refused with %s', (_, text, of, message) => {
    expect(() => changesOf(text, of)).toThrow(message);
  });
});

describe('the fields of package.json that name the repository', () => {
  it('are placeholders, or those of a release', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({
      homepage: expect.stringMatching(/^https:\/\/github\.com\/[\w-]+\/[\w.-]+#readme$/),
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:\/\/github\.com\/[\w-]+\/[\w.-]+\.git$/) },
      bugs: { url: expect.stringMatching(/^https:\/\/github\.com\/[\w-]+\/[\w.-]+\/issues$/) },
    });
  });

  it('are filled all, by a name of GitHub only', () => {
    const manifest =
      '{"homepage":"https://github.com/OWNER/run-claude#readme","bugs":"https://github.com/OWNER/run-claude/issues"}';
    expect(fillRepository(manifest, 'a/b')).toBe(
      '{"homepage":"https://github.com/a/b#readme","bugs":"https://github.com/a/b/issues"}',
    );
    expect(() => fillRepository(manifest, 'a/b"; x')).toThrow('is not OWNER/NAME');
    expect(() => fillRepository('{}', 'a/b')).toThrow('no fields that name OWNER');
  });
});
