import { expect, it } from 'vitest';
import { warmUp } from '../../../src/audit/warm-up.ts';
import { auditFiles } from './plant.ts';

const BASE = { Makefile: 'a:\n\tsh tools/x.sh\n', 'src/a.ts': 'x\n' };

it('reads the references of the base once, in pieces, without changing findings', () => {
  const files = { 'tools/x.sh': ['x\n', 'y\n'], 'package.json': '{"scripts":{"a":"b"}}' } as const;
  const before = auditFiles(files, BASE);
  const read: string[] = [];
  const base = {
    paths: Object.keys(BASE),
    read: (path: string) => {
      read.push(path);
      return Buffer.from(BASE[path as keyof typeof BASE]);
    },
  };
  let pieces = 0;
  for (const _ of warmUp(base)) pieces += 1;
  expect(pieces).toBeGreaterThan(100);
  expect(read).toEqual(['Makefile']);
  for (const _ of warmUp(base)) pieces += 1;
  expect(read).toEqual(['Makefile']);
  expect(before.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
    'js-package-json package.json',
    'reached tools/x.sh',
  ]);
  expect(auditFiles(files, BASE)).toEqual(before);
});
