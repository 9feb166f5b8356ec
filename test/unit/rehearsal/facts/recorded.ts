import { type Observed, readRecords } from '../../../../src/rehearsal/facts/records.ts';

type Json = Readonly<Record<string, unknown>>;

/** Lines as images/observer writes them. */
export const lines = (...rows: readonly Json[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** One command that ended, in which this happened. */
export function observed(rows: readonly Json[], end: Json = { k: 'end', status: 0, ms: 5, tail: '' }): Observed {
  const [scene] = readRecords(lines({ k: 'scene', name: 'npm test' }, ...rows, end, { k: 'done' }), [
    'npm test',
  ]).scenes;
  if (scene === undefined) throw new Error('no scene was read');
  return scene;
}

/** A process that starts a program. */
export const starts = (pid: number, parent: number, path: string, argv: readonly string[] = [], rest: Json = {}) => [
  { k: 'exec', pid, parent, path, script: 0, cwd: '/workspace', argv: [path, ...argv], ...rest },
  { k: 'runs', pid, parent, program: rest['program'] ?? path },
];

/** What `npm test` records in a small project. */
export const NPM_TEST: readonly Json[] = [
  ...starts(9, 7, '/opt/npm/package/bin/npm-cli.js', ['test'], { script: 1, program: '/opt/node/package/bin/node' }),
  { k: 'read', pid: 9, parent: 7, path: '/workspace/package.json', old: 1 },
  { k: 'write', pid: 9, parent: 7, path: '/home/agent/.npm/_logs/2026-11-29T02_39_01_118Z-debug-0.log', old: 0 },
  ...starts(20, 9, '/usr/bin/dash', ['-c', 'node --test']),
  ...starts(20, 9, '/opt/node/package/bin/node', ['--test']),
  ...starts(27, 20, '/opt/node/package/bin/node', ['test/a.test.js']),
  { k: 'read', pid: 27, parent: 20, path: '/workspace/test/a.test.js', old: 1 },
  { k: 'read', pid: 27, parent: 20, path: '/workspace/lib/error.js', old: 1 },
];
