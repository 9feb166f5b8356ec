import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLACES } from './places.ts';

const folder = new URL('../../../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(new URL(file, folder), 'utf8'))
  .join('\n');

/** Directories of run-claude as the source names them. `configDir` is Claude's in places: its names are not compared. */
const DIRS = {
  stateDir: '~/.local/state/run-claude',
  sessionDir: '~/.local/state/run-claude/sessions/ID',
  cacheDir: '~/.cache/run-claude',
  dataDir: '~/.local/share/run-claude',
} as const;

/** The first names below a directory that the source joins to it. */
function namesInSource(dir: string): string[] {
  const before = String.raw`(?:join\((?:[\w#]+\.)*${dir}, '|\$\{(?:[\w#]+\.)*${dir}\}/)`;
  const joined = sources.matchAll(new RegExp(`${before}([a-z][\\w.-]*)`, 'g'));
  return [...new Set([...joined].map(([, name = '']) => name))].sort();
}

it.each(Object.entries(DIRS))('on-disk.md has every name that the source joins to %s', (dir, top) => {
  const documented = PLACES.filter((one) => one.dir === top)
    .flatMap(({ places }) => places.flatMap(({ names }) => names))
    .map((name) => name.split(/\/|…/)[0] ?? '');
  const found = namesInSource(dir);
  expect(found.length).toBeGreaterThan(1);
  expect(found.filter((name) => !documented.includes(name))).toEqual([]);
});
