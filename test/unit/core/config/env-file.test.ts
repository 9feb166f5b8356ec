import { expect, it } from 'vitest';
import { readEnvFile } from '../../../../src/core/config/env-file.ts';

it('reads assignments, with quotes and export, and expands nothing', () => {
  const text = "# comment\n\nA=1\r\n export B='x y'\nC=\"a#b\"\nD=$A # kept\nE=\nF=it's\n";
  expect(readEnvFile(text, 'f')).toEqual(['A=1', 'B=x y', 'C=a#b', 'D=$A # kept', 'E=', "F=it's"]);
});

it.each(['TOPSECRET', '=TOPSECRET', '1A=TOPSECRET', 'A B=TOPSECRET'])(
  'names the line of %j and not its text',
  (line) => {
    expect(() => readEnvFile(`A=1\n${line}`, 'f.env')).toThrow(/^f\.env, line 2: not NAME=VALUE$/);
  },
);
