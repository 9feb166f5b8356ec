import { expect, it } from 'vitest';
import { indexFiles, matcherOf, userGlobs } from '../../../../src/audit/formats/glob.ts';

it('takes the last glob that matches, as .gitignore does', () => {
  const withoutEnding = ['*', '!*.*', '*.{md,txt}', '!docs/**'];
  for (const matcher of [matcherOf(withoutEnding), userGlobs(withoutEnding)]) {
    const taken = ['Makefile', 'a/LICENSE', 'a.md', 'b/c.TXT', 'a.js', 'docs/a.md', 'a/docs/b/LICENSE'].filter(matcher);
    expect(taken).toEqual(['Makefile', 'a/LICENSE', 'a.md', 'b/c.TXT']);
  }
});

it('says which lists name a path, and which of them do not leave it out', () => {
  const listsOf = indexFiles([['a*'], ['a*', '!ab'], ['b'], ['!*', 'ab']]);
  expect([...listsOf('ab').named]).toEqual([0, 1, 3]);
  expect([...listsOf('ab').fitting]).toEqual([0, 3]);
  expect([...listsOf('c').named]).toEqual([]);
});
