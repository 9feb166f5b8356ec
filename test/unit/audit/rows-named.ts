import { edit, type Row, row } from './rows.ts';

const PROJECT = '<Project>\n</Project>\n';
const mavenExtension = (version: string): string =>
  `<extensions>\n<extension>\n<artifactId>a</artifactId>\n<version>${version}</version>\n</extension>\n</extensions>\n`;

/** Rules that came from trying, not from the catalogue: programs and settings by name, packages, engines, homes. */
export const NAMED_ROWS: readonly Row[] = [
  row('tried', 'engine-lines', { 'x.gd': '@tool\nextends Node\n' }, { 'x.gd': 'extends Node\nvar tool = 1\n' }),
  row(
    'tried',
    'ci-owners',
    { CODEOWNERS: edit('* @a\n/src/ @b\n', '* @a\n/src/ @b\n/src/x @c\n') },
    { CODEOWNERS: edit('* @a\n/src/ @b\n', '* @a\n/src/ @b @d\n/docs/ @c\n') },
  ),
  row('tried', 'go-mage', { 'x.go': '//go:build mage\n\npackage main\n' }, { 'x.go': '//go:build linux\n' }),
  row('tried', 'engine-script', { 'openocd.cfg': 'x' }, { 'src/openocd.c': 'x' }),
  row('tried', 'repl-start', { 'maxima-init.mac': 'x' }, { 'src/maxima.mac': 'x' }),
  row(
    'tried',
    'infra-ansible',
    { 'playbooks/a.yml': edit('a: 1\n', 'a: 1\n- local_action: command x\n') },
    { 'playbooks/a.yml': edit('a: 1\n', 'a: 2\n') },
  ),
  row(
    'tried',
    'infra-ansible-config',
    { 'ansible.cfg': edit('[defaults]\n', '[defaults]\ninterpreter_python = ./x\n') },
    { 'ansible.cfg': edit('[defaults]\n', '[defaults]\nforks = 20\n') },
  ),
  row(
    'tried',
    'js-project-hooks',
    { 'config.xml': edit('<widget>\n', '<widget>\n<hook type="after_prepare" src="x.js"/>\n') },
    { 'config.xml': edit('<widget>\n', '<widget>\n<name>a</name>\n') },
  ),
  row(
    'tried',
    'dotnet-build',
    { 'x.pubxml': edit(PROJECT, '<Project>\n<Target Name="a"/>\n</Project>\n') },
    { 'x.pubxml': edit(PROJECT, '<Project>\n<PropertyGroup>\n</PropertyGroup>\n</Project>\n') },
  ),
  row(
    'tried',
    'dotnet-tools',
    { 'a.psd1': edit('@{\n}\n', "@{\nScriptsToProcess = 'x.ps1'\n}\n") },
    { 'a.psd1': edit('@{\n}\n', "@{\nModuleVersion = '2'\n}\n") },
  ),
  row(
    'tried',
    'locks-deleted',
    { 'yarn.lock': ['a@1:\n  version "1"\n', null] },
    { 'docs/yarn.lock.md': ['a\n', null] },
  ),
  row(
    'tried',
    'new-dependency',
    { 'package.json': edit('{"dependencies":{"a":"1"}}', '{"dependencies":{"a":"1","loadsh":"1"}}') },
    { 'package.json': edit('{"dependencies":{"a":"1"}}', '{"dependencies":{"a":"2"}}') },
  ),
  row(
    'tried',
    'extension-release',
    { '.mvn/extensions.xml': edit(mavenExtension('1.0'), mavenExtension('1.1')) },
    { 'data/extensions.xml': edit(mavenExtension('1.0'), mavenExtension('1.1')) },
  ),
  row(
    'tried',
    'ci-action-pin',
    {
      '.github/workflows/a.yml': edit(
        `jobs: {}\non: push\nruns:\n  steps:\n    - uses: a/b@${'1'.repeat(40)} # v1\n`,
        `jobs: {}\non: push\nruns:\n  steps:\n    - uses: a/b@${'2'.repeat(40)} # v2\n`,
      ),
    },
    { '.github/workflows/a.yml': edit('on: push\nname: a\n', 'on: push\nname: b\n') },
  ),
  row(
    'tried',
    'js-commands',
    { '.lintstagedrc': edit('{"*.js":"a"}', '{"*.js":"b"}') },
    { '.lintstagedrc': edit('{"*.js":"a"}', '{ "*.js": "a" }') },
  ),
  row('tried', 'program-by-name', { 'ext/a/extconf.rb': 'x' }, { 'lib/a/extension.rb': 'x' }),
  row(
    'tried',
    'package-manifest',
    { 'library.json': edit('{}', '{"build":{"extraScript":"x.py"}}') },
    { 'library.json': edit('{}', '{"name":"a"}') },
  ),
  row('tried', 'package-recipe', { 'debian/rules': 'x' }, { 'debian/copyright': 'x', 'a.test.spec': 'x' }),
  row('tried', 'system-files', { 'etc/cron.daily/x': 'x' }, { 'docs/cron.md': 'x' }),
  row(
    'tried',
    'data-config',
    { 'conf/a.yaml': edit('a: 1\n', '_target_: os.system\n') },
    { 'conf/a.yaml': edit('a: 1\n', 'a: 2\n') },
  ),
  row('tried', 'encryption-recipients', { 'secrets/.gpg-id': 'x@example.org\n' }, { 'docs/gpg-id.md': 'x' }),
  row('tried', 'shell-env-sample', { '.env.example': 'A=$(id)\n' }, { '.env.example': 'A=secret\n# PATH=x\n' }),
  row(
    'tried',
    'setting-runs',
    { 'conf/app.toml': edit('name = "a"\n', 'name = "a"\non_start_callback = "dev.tasks:run"\n') },
    { 'conf/app.toml': edit('name = "a"\n', 'name = "b"\non_start_callback = "https://a.example/done"\n') },
    { 'dev/tasks.py': 'def run(): pass\n' },
  ),
  row(
    'tried',
    'page-program',
    { 'docs/a.md': edit('# A\n', '<script setup>\nimport { execSync } from "node:child_process"\n</script>\n# A\n') },
    {
      'docs/a.md': edit(
        '# A\n',
        '<script setup>\nimport A from "./A.vue"\n</script>\n# A\n```js\nprocess.exit()\n```\n',
      ),
    },
  ),
  row('tried', 'shell-home-plain', { 'zsh/zshrc': 'x' }, { 'src/zshrc.ts': 'x', 'nvim/README': 'x' }),
];

/** Nothing of the kinds above by the names that the lists have: what is left to the shape of a name or a change. */
export const UNLISTED_SIBLINGS: readonly Row['danger'][] = [
  { '.brandnew/theme/a.sh': 'x' },
  { '.dumi/brandnew.mjs': 'x' },
  { '.snapshots/TestA': '#!/bin/sh\n' },
  { '.github/brandnew/run.py': 'x' },
  { 'brandnew.toml': 'initialization_commands = ["x"]\n' },
  { 'brandnew.hcl': 'data "x" "y" {\n  program = ["x"]\n}\n' },
  { 'pyproject.toml': edit('[project]\n', '[project]\n[tool.brandnew]\nx = "y"\n') },
];
