import { type Row, row } from './rows.ts';

const PROGRAM = { bytes: '#!/bin/sh\n', mode: 0o755 };

/** One row for each rule on names as boundaries; pairs/ has their variants. */
export const BOUNDARY_ROWS: readonly Row[] = [
  row('near', 'name-shadows', { 'x/__init__.py': 'a' }, { 'y/__init__.py': 'a' }, { 'x.py': 'a' }),
  row('near', 'name-too-long', { [`${'d/'.repeat(2000)}x`]: 'x' }, { [`${'d/'.repeat(20)}x`]: 'x' }),
  row('near', 'name-whiteout', { '.wh.a': '' }, { 'wh.a': '' }),
  row('near', 'run-subcommand', { 'bin/git-x': PROGRAM }, { 'bin/git-x.md': 'x' }),
  row('near', 'shell-completion', { 'completions/_x': 'x' }, { 'completions/x.md': 'x' }),
  row(
    'near',
    'text-hidden-below',
    { 'a.py': `a = 1\n${'\n'.repeat(200)}f()\n` },
    { 'a.py': `a = 1\n${'\n'.repeat(20)}f()\n` },
  ),
  row('near', 'agent-plugin', { 'hooks/x.sh': 'x' }, { 'src/x.sh': 'x' }, { '.claude-plugin/plugin.json': '{}' }),
  row('near', 'binary-outside', { 'a.zip': { bytes: zipOf('../evil') } }, { 'a.zip': { bytes: zipOf('in/side') } }),
  row('near', 'writes-run-by-name', { 'a.py': 'copy(x, ".git/hooks/pre-push")\n' }, { 'a.py': 'copy(x, "y")\n' }),
  row('near', 'payload', { 'a.yml': 'a: !!python/name:os.x\n' }, { 'a.yml': 'a: python\n' }),
  row('near', 'editor-http-client', { 'a.http': '< {%\n' }, { 'a.http': 'GET https://x.example\n' }),
  row('near', 'editor-emacs-code', { 'a.org': '#+CALL: f()\n' }, { 'a.org': '* Notes\n' }),
  row('near', 'infra-terraform-auto', { 'x.auto.tfvars': 'a = 1\n' }, { 'x.md': 'a = 1\n' }),
  row('near', 'shell-tasks', { 'mise-tasks/x': 'x' }),
  row(
    'near',
    'build-tool-settings',
    { 'ty.toml': '[environment]\npython = "./x"\n' },
    { 'ty.toml': '[rules]\na = "warn"\n' },
  ),
  row('near', 'build-machine-file', { 'native.ini': '[binaries]\n' }, { 'native.ini': '[host_machine]\n' }),
  row('near', 'roc-platform', { 'a.roc': 'platform "x"\n' }, { 'a.roc': 'x = 1\n' }),
];

/** A zip with one empty member, as far as its directory. */
function zipOf(name: string): string {
  const size = String.fromCharCode(name.length);
  const local = `PK\u0003\u0004${'\0'.repeat(22)}${size}\0\0\0${name}`;
  return `${local}PK\u0001\u0002${'\0'.repeat(24)}${size}\0${'\0'.repeat(16)}${name}`;
}
