import { expect, it } from 'vitest';
import { keyPatterns } from '../../../src/core/git/keys.ts';

it('the preload guard knows the keys that the audit knows (vitest -u writes its header)', async () => {
  const keys = [...keyPatterns('exec')].map((pattern) => pattern.replace(/<[^>]*>/g, '<')).sort();
  expect(keys.length).toBeGreaterThan(80);
  const header = [
    '/* Generated from the exec keys of src/core/git/key-table.ts by test/unit/images/git-keys.test.ts. */',
    'static const char *const git_exec_keys[] = {',
    ...[...new Set(keys)].map((key) => `\t"${key}",`),
    '};',
    '',
  ].join('\n');
  await expect(header).toMatchFileSnapshot('../../../images/guard/git-keys.h');
});
