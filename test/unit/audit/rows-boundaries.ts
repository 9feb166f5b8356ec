import { type Row, row } from './rows.ts';

const PROGRAM = { bytes: '#!/bin/sh\n', mode: 0o755 };

/** One row for each rule on names as boundaries; pairs/ has their variants. */
export const BOUNDARY_ROWS: readonly Row[] = [
  row('near', 'name-shadows', { 'x/__init__.py': 'a' }, { 'y/__init__.py': 'a' }, { 'x.py': 'a' }),
  row('near', 'name-whiteout', { '.wh.a': '' }, { 'wh.a': '' }),
  row('near', 'run-subcommand', { 'bin/git-x': PROGRAM }, { 'bin/git-x.md': 'x' }),
  row('near', 'shell-completion', { 'completions/_x': 'x' }, { 'completions/x.md': 'x' }),
  row(
    'near',
    'text-hidden-below',
    { 'a.py': `a = 1\n${'\n'.repeat(200)}f()\n` },
    { 'a.py': `a = 1\n${'\n'.repeat(20)}f()\n` },
  ),
];
