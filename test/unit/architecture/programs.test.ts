import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { expect, it } from 'vitest';

const src = path.resolve(import.meta.dirname, '../../../src');

/** The door, and what runs in a container, where every program is the agent's to choose. */
const MAY_START = [
  'core/host/programs/start-program.ts',
  'session/kept/inside/run-program.ts',
  'session/kept/inside/search.ts',
];

it('only one file starts programs of the host: it takes them from where no agent can write', () => {
  const starting = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => {
      const { module } = parseSync(file, readFileSync(path.join(src, file), 'utf8'));
      return module.staticImports.some(
        ({ moduleRequest, entries }) =>
          moduleRequest.value === 'node:child_process' && entries.some(({ isType }) => !isType),
      );
    });
  expect(starting.toSorted()).toEqual(MAY_START);
});
