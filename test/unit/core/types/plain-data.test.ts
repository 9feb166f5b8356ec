import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const TYPES = path.join(import.meta.dirname, '../../../../src/core/types');

// A table that is data, and the type of its keys, are written once.
const TABLES =
  /^export const (STRATEGIES = \{|STRATEGY_NAMES = Object\.keys\(STRATEGIES\) as|(?:AGENT|CACHE)_NAMES = \[|SEVERITY_RANK = \{[^}]*\} as const)/gm;

const FILES = readdirSync(TYPES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

it.each(FILES)('%s declares plain data only: behaviour belongs to the room that has it', (name) => {
  const source = readFileSync(path.join(TYPES, name), 'utf8').replaceAll(TABLES, '');
  expect(source.match(/^(export )?(const|let|var|function|class|enum|async) .*$/gm)).toBeNull();
  expect(source.match(/^import (?!type ).*$/gm)).toBeNull();
});
