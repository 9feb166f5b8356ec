import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROWS } from './attack-rows.ts';

/** Rows of the catalogue's section on collecting, reviewing and applying, by number. */
const CATALOGUE = `1 4 5 6 8 9 10 12 14 15 17 18 19 20 21 24 25 27 28 29 30 32 33 35 36 37 38 39 40 41 43 45 46 47 49 50 51 53
  54 56 57 58 59 60 61 62 65 66 67 70 72 75 76 77 78 79 80 81 82 83 84 85 88 90 92 93 94 95 96 98 99 100 101
  103 105 106 107 108 109 111 114 115 116 117 119 121 123 124 125 128 129 130 131 132 133 134 135 136 137 138
  139 140 141 144 145 146 147 148 150 151 154 155 156 157 158 160 162 163 165 166 167 168 170 171 172 173 174
  177 178 179`;

it('has a test or a reason for each row', () => {
  const ids = CATALOGUE.split(/\s+/).map((id) => `D-${id.padStart(3, '0')}`);
  expect([...ROWS.keys()].sort()).toEqual(ids.sort());
  for (const [id, where] of ROWS) {
    if (where.startsWith('reason: ')) continue;
    const [file = '', words = ''] = where.split('#');
    expect(readFileSync(file, 'utf8').includes(words), `${id}: ${where}`).toBe(true);
  }
});
