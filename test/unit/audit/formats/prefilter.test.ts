import { expect, it } from 'vitest';
import { signalLooks } from '../../../../src/audit/content/signal-rules.ts';
import { literalsOf, prefilterOf } from '../../../../src/audit/formats/prefilter.ts';
import { ATTACKS } from '../attacks.ts';

it.each([
  [/\bgit\s+config\b/, ['config']],
  [/(?:curl|wget)\b.{0,9}\|/, ['curl', 'wget']],
  [/a(?=bcd)ef/, ['ef']],
  [/(?<!xyz)abc?d/, ['ab']],
  [/x{0,2}yz+q/, ['yz']],
  [/[cC]opy|[ab]cde/, ['copy', 'cde']],
  [/"Key"\s*:/i, ['"key"']],
  [/\.git[/\\]hooks/, ['hooks']],
  [/(abc|)de/, ['de']],
  [/\u0041bc|x/, undefined],
  [/a|bcd/, undefined],
  [/.{3}/, undefined],
] as const)('derives the literals of %s', (regex, literals) => {
  expect(literalsOf(regex)).toEqual(literals);
});

it('finds overlapping literals, in any letter case and next to other characters', () => {
  const { candidates } = prefilterOf([/she/, /hers/, /his/, /[a-z]/, /éàab/]);
  expect([...candidates('uSHErs')]).toEqual([1, 1, 0, 1, 0]);
  expect([...candidates('éhisé')]).toEqual([0, 0, 1, 1, 0]);
  expect([...candidates('h\u00e9is ab')]).toEqual([0, 0, 0, 1, 1]);
});

it('never leaves out an expression that matches a text of any attack', () => {
  const filter = prefilterOf(signalLooks().map(({ danger }) => danger));
  const wrong: string[] = [];
  let matches = 0;
  for (const { files } of ATTACKS)
    for (const planted of Object.values(files)) {
      const text: string = typeof planted === 'string' ? planted : Array.isArray(planted) ? (planted[1] ?? '') : '';
      if (text.length > 10_000) continue;
      const candidates = filter.candidates(text);
      for (const [number, { rule, danger }] of signalLooks().entries()) {
        if (!text.split('\n').some((line) => danger.test(line.trim()))) continue;
        matches += 1;
        if (candidates[number] === 0) wrong.push(`${rule.id}: ${text.slice(0, 80)}`);
      }
    }
  expect(wrong).toEqual([]);
  expect(matches).toBeGreaterThan(150);
  // Most of them are left out for an ordinary text: otherwise the search is of no use.
  const ordinary = filter.candidates("export const value1 = compute(1, 'text 1', { option: true });\n");
  expect(ordinary.filter((one) => one === 1).length).toBeLessThan(signalLooks().length / 3);
});
