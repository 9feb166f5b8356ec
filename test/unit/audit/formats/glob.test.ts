import fc from 'fast-check';
import { expect, it } from 'vitest';
import { indexFiles, matcherOf, userGlobs } from '../../../../src/audit/formats/glob.ts';
import { Automaton } from '../../../../src/core/text/patterns/automaton.ts';
import { globItems } from '../../../../src/core/text/patterns/glob.ts';

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

it('matches stars in a name as the automaton of globs does', () => {
  const text = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 8 });
  fc.assert(
    fc.property(text('ab.*'), text('ab.'), (glob, name) => {
      fc.pre(glob !== '' && name !== '' && !glob.includes('**'));
      expect(userGlobs([glob])(`x/${name}`)).toBe(new Automaton(globItems(glob)).matches(name));
    }),
    { numRuns: 3000 },
  );
});
