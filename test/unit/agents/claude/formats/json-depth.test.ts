import { expect, it } from 'vitest';
import { nestingOf } from '../../../../../src/agents/claude/formats/json-depth.ts';

it.each([
  ['', 0],
  ['7', 0],
  ['[]', 1],
  ['[[],{"a":[]}]', 3],
  ['[[],[],[]]', 2],
  ['"[[["', 0],
  ['["a\\"[[", "\\\\", []]', 2],
  ['['.repeat(1_000_000), 1_000_000],
])('measures nesting, and ignores brackets in strings', (text, depth) => expect(nestingOf(text)).toBe(depth));
