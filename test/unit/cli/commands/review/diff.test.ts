import { expect, it } from 'vitest';
import { diffCommand } from '../../../../../src/cli/commands/review/diff.ts';
import type { CommandContext } from '../../../../../src/cli/context/context.ts';
import { recordSessions } from '../../../../support/session-fixture.ts';

const ID = '261121-142900-222';

/** `diff ID --json -- PATH…` of a session that made two files: the warnings, and the files that are shown. */
async function diff(...rest: string[]) {
  const stateDir = recordSessions([
    { id: ID, stage: 'pending', started: '2026-11-21T14:29:00.000Z', files: { 'src/a': 'clean', b: 'clean' } },
  ]);
  const warnings: string[] = [];
  const out: string[] = [];
  const context = {
    cwd: '/',
    env: {},
    places: { home: '/h', stateDir, cacheDir: '/c', dataDir: '/d', configDir: '/e' },
    tell: ({ level, text }: { level?: string; text?: string }) =>
      void (level === 'warning' && warnings.push(`${text}`)),
    write: (text: string) => void out.push(text),
    interruption: { signal: new AbortController().signal },
  } as unknown as CommandContext;
  const line = { kind: 'command', name: 'diff', options: new Map([['json', []]]), words: [ID], rest } as const;
  expect(await diffCommand(line, context)).toBe(0);
  return { warnings, paths: JSON.parse(out.join('')).map(({ change }: { change: { path: string } }) => change.path) };
}

it('names each path behind -- that no changed file matches', async () => {
  expect(await diff('nope\x1b', 'src')).toEqual({
    warnings: ['No changed file matches nope\\x1b'],
    paths: ['src/a'],
  });
  expect(await diff()).toEqual({ warnings: [], paths: ['src/a', 'b'] });
});
