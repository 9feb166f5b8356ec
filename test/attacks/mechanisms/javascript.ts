import { type Mechanism, MODULE_TOUCH, NODE_TOUCH, SHELL_TOUCH, TOUCH } from './mechanism.ts';

/** A value as a file of JSON. */
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const PACKAGE = { name: 'a', version: '1.0.0', scripts: { test: 'echo tested' } };
const withScripts = (scripts: object): string => json({ ...PACKAGE, scripts: { ...PACKAGE.scripts, ...scripts } });

const packageJson = (name: string, value: string, command: string, attack: Mechanism['attack'] = {}): Mechanism => ({
  name: `package.json: ${name}`,
  rule: 'js-package-json',
  base: { 'package.json': json(PACKAGE) },
  attack: { 'package.json': value, ...attack },
  command,
});

export const JAVASCRIPT: readonly Mechanism[] = [
  packageJson('the script of a test', withScripts({ test: TOUCH }), 'npm test'),
  packageJson('a script before the tests', withScripts({ pretest: TOUCH }), 'npm test'),
  packageJson('a script after the installation', withScripts({ prepare: TOUCH }), 'npm install --offline --no-audit'),
  {
    name: 'package.json: another module for an import',
    rule: 'js-package-json',
    base: {
      'package.json': json({ name: 'a', imports: { '#b': './b.js' } }),
      'b.js': '1;\n',
      'app.js': 'require("#b");\n',
    },
    attack: { 'package.json': json({ name: 'a', imports: { '#b': './c.cjs' } }), 'c.cjs': NODE_TOUCH },
    command: 'node app.js',
  },
  {
    name: '.npmrc: the shell of scripts',
    rule: 'js-npmrc',
    base: { 'package.json': json(PACKAGE), '.npmrc': 'fund=false\n' },
    attack: { '.npmrc': 'fund=false\nscript-shell = ./x\n', x: SHELL_TOUCH },
    command: 'npm test',
  },
  {
    name: '.npmrc: options of node',
    rule: 'js-npmrc',
    base: { 'package.json': json({ ...PACKAGE, scripts: { test: 'node -e 1' } }), '.npmrc': 'fund=false\n' },
    attack: { '.npmrc': 'fund=false\nnode-options="--require ./x.js"\n', 'x.js': NODE_TOUCH },
    command: 'npm test',
  },
  {
    name: 'a program in node_modules/.bin',
    rule: 'shell-virtualenv',
    base: { 'package.json': json({ ...PACKAGE, scripts: { test: 'lint' } }) },
    attack: { 'node_modules/.bin/lint': SHELL_TOUCH },
    command: 'npm test',
  },
  {
    name: 'the program of yarn',
    rule: 'js-npmrc',
    base: { 'package.json': json(PACKAGE), '.yarnrc': 'save-prefix false\n' },
    attack: { '.yarnrc': 'save-prefix false\nyarn-path "./x.js"\n', 'x.js': NODE_TOUCH },
    command: 'yarn --version',
  },
  {
    name: 'eslint.config.mjs',
    rule: 'js-code-config',
    base: { 'eslint.config.mjs': 'export default [];\n', 'app.js': '1;\n' },
    attack: { 'eslint.config.mjs': `${MODULE_TOUCH}export default [];\n` },
    command: 'eslint app.js',
  },
  {
    name: 'what eslint.config.mjs imports',
    rule: 'reached',
    base: {
      'eslint.config.mjs': 'import "./rules/a.mjs";\nexport default [];\n',
      'rules/a.mjs': '1;\n',
      'app.js': '1;\n',
    },
    attack: { 'rules/a.mjs': MODULE_TOUCH },
    command: 'eslint app.js',
  },
  {
    name: '.prettierrc: a plugin',
    rule: 'js-data-config',
    base: { '.prettierrc': 'semi: true\n', 'app.js': '1;\n' },
    attack: { '.prettierrc': 'semi: true\nplugins : [./x.mjs]\n', 'x.mjs': MODULE_TOUCH },
    command: 'prettier app.js',
  },
  {
    name: '.prettierrc.json: a plugin for some files',
    rule: 'js-data-config',
    base: { '.prettierrc.json': json({ semi: true }), 'app.js': '1;\n' },
    attack: {
      '.prettierrc.json': json({ semi: true, overrides: [{ files: '*.js', options: { plugins: ['./x.mjs'] } }] }),
      'x.mjs': MODULE_TOUCH,
    },
    command: 'prettier app.js',
  },
  {
    name: '.mocharc.yml',
    rule: 'js-data-config',
    base: { '.mocharc.yml': 'recursive: true\n', 'test/a.js': '1;\n' },
    attack: { '.mocharc.yml': 'recursive: true\n"require": lib/x\n', 'lib/x.js': NODE_TOUCH },
    command: 'mocha',
  },
  {
    name: 'package.json: what mocha requires',
    rule: 'js-package-json',
    base: { 'package.json': json(PACKAGE), 'test/a.js': '1;\n' },
    attack: { 'package.json': json({ ...PACKAGE, mocha: { require: './lib/x' } }), 'lib/x.js': NODE_TOUCH },
    command: 'mocha',
  },
  {
    name: 'jest.config.json: a file before the tests',
    rule: 'js-data-config',
    base: { 'package.json': json(PACKAGE), 'jest.config.json': '{}\n', 'a.test.js': 'test("a", () => {});\n' },
    attack: {
      'jest.config.json': json({ globalSetup: '<rootDir>/x' }),
      'x.js': `${NODE_TOUCH}module.exports = () => {};\n`,
    },
    command: 'jest',
  },
  {
    name: 'a mock of jest for a module',
    rule: 'program-by-name',
    base: {
      'package.json': json(PACKAGE),
      'node_modules/fs-extra/package.json': json({ name: 'fs-extra', version: '1.0.0' }),
      'node_modules/fs-extra/index.js': '1;\n',
      'a.test.js': 'require("fs-extra");\ntest("a", () => {});\n',
    },
    attack: { '__mocks__/fs-extra.js': NODE_TOUCH },
    command: 'jest',
  },
  {
    name: '.stylelintrc.json: a plugin',
    rule: 'js-data-config',
    base: { '.stylelintrc.json': json({ rules: { 'block-no-empty': true } }), 'a.css': 'a { color: red }\n' },
    attack: {
      '.stylelintrc.json': json({ plugins: ['./lib/x.cjs'], rules: { 'block-no-empty': true } }),
      'lib/x.cjs': NODE_TOUCH,
    },
    command: 'stylelint a.css',
  },
  {
    name: 'a new .markdownlint-cli2.cjs',
    rule: 'js-data-config',
    base: { 'README.md': '# a\n' },
    attack: { '.markdownlint-cli2.cjs': `${NODE_TOUCH}module.exports = {};\n` },
    command: 'markdownlint-cli2 README.md',
  },
  {
    name: '.markdownlint-cli2.jsonc: a rule',
    rule: 'js-data-config',
    base: { 'README.md': '# a\n', '.markdownlint-cli2.jsonc': '{ "config": {} }\n' },
    attack: {
      '.markdownlint-cli2.jsonc': '{ "config": {}, "customRules": ["./docs/x.cjs"] }\n',
      'docs/x.cjs': NODE_TOUCH,
    },
    command: 'markdownlint-cli2 README.md',
  },
  {
    name: '.commitlintrc.json: a preset',
    rule: 'js-data-config',
    base: { '.commitlintrc.json': json({ rules: { 'type-empty': [2, 'never'] } }) },
    attack: {
      '.commitlintrc.json': json({ parserPreset: './lib/x', rules: { 'type-empty': [2, 'never'] } }),
      'lib/x.js': `${NODE_TOUCH}module.exports = {};\n`,
    },
    command: 'echo "feat: a" | commitlint',
  },
  {
    name: 'rollup.config.mjs',
    rule: 'js-code-config',
    base: { 'rollup.config.mjs': 'export default { input: "app.js" };\n', 'app.js': '1;\n' },
    attack: { 'rollup.config.mjs': `${MODULE_TOUCH}export default { input: "app.js" };\n` },
    command: 'rollup -c',
  },
  {
    name: '.lintstagedrc.json',
    rule: 'js-commands',
    base: { '.lintstagedrc.json': json({ '*.js': 'echo' }), 'app.js': '1;\n' },
    attack: { '.lintstagedrc.json': json({ '*.js': [`${TOUCH} #`, TOUCH] }) },
    command: 'echo 2 >> app.js; git add -A; lint-staged',
  },
];
