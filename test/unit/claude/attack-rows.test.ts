import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROWS } from './attack-rows.ts';

/** Rows of the catalogue's section on Claude's data, by number. */
const CATALOGUE = `1 2 3 4 5 7 8 10 11 12 14 15 17 18 19 20 21 22 23 26 27 28 29 30 31 32 34 35 37 38 39 40 41 42 43 44
  46 47 50 51 52 54 55 56 58 59 60 61 62 64 65 66 67 68 71 73 75 76 78 79 82 83 84 85 86 87 88 89 90 95 96 97 98 99 100
  101 102 105 106 108 109 110 111 112 115 117 118 120 121 122 123 125 126`;

it('has a test or a reason for each row', () => {
  const ids = CATALOGUE.split(/\s+/).map((id) => `F-${id.padStart(3, '0')}`);
  expect([...ROWS.keys()].sort()).toEqual(ids.sort());
  for (const [id, where] of ROWS) {
    if (where.startsWith('reason: ')) continue;
    const [file = '', words = ''] = where.split('#');
    expect(readFileSync(file, 'utf8').includes(words), `${id}: ${where}`).toBe(true);
  }
});
