import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const TYPES = path.join(import.meta.dirname, '../../../src/types');

it.each(readdirSync(TYPES))('%s declares types only: behaviour belongs to the room that has it', (name) => {
  const source = readFileSync(path.join(TYPES, name), 'utf8');
  expect(source.match(/^(export )?(const|let|var|function|class|enum|async) .*$/gm)).toBeNull();
  expect(source.match(/^import (?!type ).*$/gm)).toBeNull();
});
