import { MARK, type Mechanism, NODE_TOUCH, PYTHON_TOUCH, SHELL_TOUCH, TOUCH } from './mechanism.ts';

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n';

/** An added variable of `.env`, and the command that has it in its environment. */
const variable = (
  name: string,
  value: string,
  command: string,
  more: Pick<Mechanism, 'base' | 'attack'>,
): Mechanism => ({
  name: `${name} in .env`,
  rule: 'shell-env-file',
  base: { '.env': 'PORT=3000\n', ...more.base },
  attack: { '.env': `PORT=3000\n${name}=${value}\n`, ...more.attack },
  command: `set -a; . ./.env; set +a; ${command}`,
});

export const GIT_AND_SHELL: readonly Mechanism[] = [
  {
    name: 'a macro of .gitattributes that has a filter',
    rule: 'git-attributes',
    base: { '.gitattributes': '[attr]q filter=z\n', 'a.py': 'x = 1\n' },
    prepare: `git config filter.z.clean '${TOUCH}; cat'`,
    attack: { '.gitattributes': '[attr]q filter=z\n*.py q\n' },
    command: 'touch -d 2001-01-01 a.py; git status',
  },
  {
    name: 'a hook of git',
    rule: 'git-hook',
    base: {},
    attack: { '.git/hooks/pre-commit': SHELL_TOUCH },
    command: 'git commit --allow-empty -qm x',
  },
  {
    name: 'core.fsmonitor',
    rule: 'git-config-exec',
    base: { '.git/config': CONFIG },
    attack: { '.git/config': `${CONFIG}\tfsmonitor = ${TOUCH}\n` },
    command: 'git status',
  },
  {
    name: 'core.pager, in a section with a comment',
    rule: 'git-config-exec',
    base: { '.git/config': CONFIG },
    attack: { '.git/config': `${CONFIG}[CORE] ; display\n\tPager = "${TOUCH}; cat"\n` },
    command: 'script -qec "git log" /dev/null',
  },
  {
    name: 'a hook in the folder that core.hooksPath names',
    rule: 'git-hook-managers',
    base: { '.husky/README': 'hooks\n' },
    prepare: 'git config core.hooksPath .husky',
    attack: { '.husky/pre-commit': SHELL_TOUCH },
    command: 'git commit --allow-empty -qm x',
  },
  {
    name: 'a nested repository',
    rule: 'git-config-exec',
    base: { 'sub/a.txt': 'a\n' },
    attack: {
      'sub/.git/HEAD': 'ref: refs/heads/main\n',
      'sub/.git/config': `${CONFIG}\tfsmonitor = ${TOUCH}\n`,
      'sub/.git/objects/x': '',
      'sub/.git/refs/x': '',
    },
    command: 'cd sub && git status',
  },
  {
    name: 'a subcommand of git',
    rule: 'run-subcommand',
    base: { 'bin/tool': '#!/bin/sh\ntrue\n' },
    attack: { 'bin/git-sync': SHELL_TOUCH },
    command: 'PATH=$PWD/bin:$PATH git sync',
  },
  {
    name: 'a hook of pre-commit',
    rule: 'git-hook-managers',
    base: { '.pre-commit-config.yaml': 'repos: []\n', 'a.txt': 'a\n' },
    attack: {
      '.pre-commit-config.yaml': `repos:\n  - repo: local\n    hooks:\n      - id: x\n        name: x\n        language: system\n        entry: ${TOUCH}\n        pass_filenames: false\n`,
    },
    command: 'git add -A; pre-commit run --all-files',
  },
  {
    name: 'a script that copies data over a hook',
    rule: 'writes-run-by-name',
    base: { 'scripts/setup.sh': 'echo ready\n' },
    attack: {
      'scripts/setup.sh': 'echo ready\ncp data/h.txt .git/hooks/pre-commit\nchmod +x .git/hooks/pre-commit\n',
      'data/h.txt': SHELL_TOUCH,
    },
    command: 'sh scripts/setup.sh && git commit --allow-empty -qm x',
  },
  {
    name: '.bashrc',
    rule: 'shell-home-files',
    base: { '.bashrc': "alias ll='ls -l'\n" },
    attack: { '.bashrc': `alias ll='ls -l'\n${TOUCH}\n` },
    command: 'HOME=$PWD bash -ic true',
  },
  {
    name: 'the script that activates a virtual environment',
    rule: 'shell-virtualenv',
    base: { '.venv/bin/activate': 'VIRTUAL_ENV=$PWD/.venv\n' },
    attack: { '.venv/bin/activate': `VIRTUAL_ENV=$PWD/.venv\n${TOUCH}\n` },
    command: '. .venv/bin/activate',
  },
  variable('NODE_OPTIONS', '--require=./x.js', 'node app.js', {
    base: { 'app.js': '1;\n' },
    attack: { 'x.js': NODE_TOUCH },
  }),
  variable('BASH_ENV', './x', 'bash run.sh', { base: { 'run.sh': 'true\n' }, attack: { x: `${TOUCH}\n` } }),
  variable('PS4', `'$(${TOUCH})'`, 'bash -x run.sh', { base: { 'run.sh': 'true\n' }, attack: {} }),
  variable('CC', './x', 'make', {
    base: { Makefile: 'a: a.c\n\t$(CC) -o a a.c\n', 'a.c': 'int main(void) { return 0; }\n' },
    attack: { x: SHELL_TOUCH },
  }),
  variable('PYTHONBREAKPOINT', 'x.f', 'python3 app.py', {
    base: { 'app.py': 'breakpoint()\n' },
    attack: { 'x.py': `def f():\n    ${PYTHON_TOUCH}` },
  }),
  variable('RUSTC_WRAPPER', './x', 'cargo check --offline', {
    base: { 'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\n', 'src/main.rs': 'fn main() {}\n' },
    attack: { x: SHELL_TOUCH },
  }),
  {
    name: 'a command below 400 empty lines',
    rule: 'text-hidden-below',
    base: { 'run.sh': 'true\n' },
    attack: { 'run.sh': `true\n${'\n'.repeat(400)}${TOUCH}\n` },
    command: 'sh run.sh',
  },
  {
    name: 'a letter that looks like an operator',
    rule: 'text-homoglyph',
    base: { 'app.js': 'let env = "prod";\nif (env === "test") check();\n' },
    attack: { 'app.js': `let env = "prod", env\u01c3;\nif (env\u01c3="test") ${NODE_TOUCH}` },
    command: 'node app.js',
  },
  {
    name: 'a file that perl opens as a command',
    rule: 'name-shell',
    base: { 'a.txt': 'a\n' },
    attack: { 'touch ran|': 'x\n' },
    command: 'perl -ne 1 *',
    mark: 'ran',
  },
  {
    name: 'a pickle',
    rule: 'binary-program',
    base: { 'load.py': 'import pickle\npickle.load(open("cache.pkl", "rb"))\n', 'cache.pkl': 'N.' },
    attack: { 'cache.pkl': `cos\nsystem\n(S'${TOUCH}'\ntR.` },
    command: 'python3 load.py',
  },
  {
    name: 'a tag of YAML that makes objects',
    rule: 'payload',
    base: { 'load.py': 'import yaml\nyaml.unsafe_load(open("data.yml"))\n', 'data.yml': 'a: 1\n' },
    attack: { 'data.yml': `a: !!python/object/apply:os.system ["touch ${MARK}"]\n` },
    command: 'python3 load.py',
  },
];
