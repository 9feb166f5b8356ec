import type { FileRule } from '../../formats/rule.ts';
import { oneOf, pattern, words } from '../../formats/words.ts';

const KEYS_THAT_LOAD = oneOf`
  plugins? presets? extends require requires import imports loader loaders parser processors? customSyntax
  transform\w* reporters? runner resolver preprocessor setup\w* globalSetup globalTeardown testEnvironment
  moduleNameMapper exec\w* execMap script\w* command\w* cmd \w*hooks? download\w* docker\w* frontend:\w+
  predeploy postdeploy build\w* builder node-?option\w* file ui config module\w* path\w* formatters? helpers?
  generators? provider jsc\.experimental app run prepare before\w* after\w* watch\w* events? tasks?
  (plugins|support|globals)_?(file|path) subscribers entities migrations \w*_?command processor exe launchers
  interpreter
`;

const CODE_CONFIG = words`
  eslint.config prettier.config babel.config jest.config vitest.config vitest.workspace vite.config
  webpack.config rollup.config rspack.config rsbuild.config tsup.config tsdown.config tailwind.config
  postcss.config next.config nuxt.config svelte.config astro.config remix.config quasar.config
  docusaurus.config metro.config app.config react-native.config capacitor.config forge.config
  commitlint.config stylelint.config playwright.config cypress.config wdio.conf nightwatch.conf
  codecept.conf protractor.conf ava.config karma.conf release.config ecosystem.config knip.config
  cspell.config graphql.config orval.config drizzle.config sanity.config payload.config gulpfile gruntfile
  plopfile knexfile ormconfig lint-staged.config build.config unbuild uno.config windi.config panda.config
`;
const LOADS = pattern('i')`(^|\.|\])(${KEYS_THAT_LOAD})(\.|\[|$)`;

export const javascriptRules: readonly FileRule[] = [
  {
    id: 'js-code-config',
    family: 'javascript',
    trigger: 'lint, format, test, build or dev server, often by the editor on save',
    severity: 'suspect',
    paths: [
      ...CODE_CONFIG.map((name) => `${name}.{js,cjs,mjs,ts,cts,mts,jsx,tsx,coffee,babel.js}`),
      '*.config.{js,cjs,mjs,ts,cts,mts}',
      '.*rc.{js,cjs,mjs,ts,cts,mts}',
      '.config/**',
      'gatsby-*.{js,ts}',
      'package-scripts.{js,cjs,ts}',
      'ember-cli-build.js',
      '.storybook/**',
      '.vitepress/config.*',
      '.vuepress/config.*',
      '.eleventy.*',
      '.cz-config.js',
      'Jakefile*',
      'Cakefile',
      '.hygen/**',
      '_templates/**',
      '.hygen.js',
      '.lighthouserc.*',
      '.size-limit.*',
      '.pnp.js',
      '/{,src/,apps/*/,apps/*/src/}middleware.{js,ts}',
      '/{,packages/*/,apps/*/}{codegen,esbuild}.{js,cjs,mjs,ts}',
      'instrumentation{,-client}.{js,ts}',
      'hooks.server.{js,ts}',
      'server/plugins/*',
      'entry.server.{js,ts,jsx,tsx}',
      '*.workspace.{js,ts}',
      'wallaby.{js,conf.js}',
      'karma.conf.cjs',
    ],
    except: ['src/app/*.config{,.server}.ts', 'src/config.ts', '.config/mise/**', '.config/fish/**', '.config/git/**'],
    judges: [{ kind: 'code' }, { kind: 'keys', format: 'auto', danger: LOADS, value: /^\.{1,2}\/|^[a-z]+:\/\// }],
    why: 'The file is a program, or names one, that the tool loads.',
    source: 'documentation of the tools; cosmiconfig',
  },
  {
    id: 'js-data-config',
    family: 'javascript',
    trigger: 'lint, format, test, build, release or deploy',
    severity: 'suspect',
    paths: [
      'babel.config.json',
      '.eslintrc{,.json,.yml,.yaml}',
      '.prettierrc{,.json,.yml,.yaml,.toml,.json5}',
      '.babelrc{,.json}',
      '.stylelintrc{,.json,.yml,.yaml}',
      '.postcssrc{,.json,.yml,.yaml}',
      '.mocharc.{json,jsonc,yml,yaml}',
      'mocha.opts',
      '.testcaferc*',
      '.commitlintrc{,.json,.yml,.yaml}',
      '.czrc',
      '.cz.{toml,json,yaml}',
      '.swcrc',
      'nodemon.json',
      '.nodemonrc',
      'nest-cli.json',
      '.release-it.{json,yml,yaml,toml}',
      '.releaserc{,.json,.yml,.yaml}',
      '.changeset/config.json',
      '.versionrc{,.json}',
      '.yo-rc.json',
      '.bundlewatch*',
      '.markdownlint-cli2.*',
      '.remarkrc{,.json,.yml}',
      '.textlintrc{,.json,.yml}',
      '.ls-lint.yml',
      'angular.json',
      'project.json',
      'workspace.json',
      'jasmine.json',
      '.graphqlrc{,.json,.yml,.yaml}',
      'wrangler.{toml,json,jsonc}',
      'netlify.toml',
      'vercel.json',
      'amplify.yml',
      'app.json',
      'typedoc.json',
      '.nycrc{,.json}',
      '.c8rc{,.json}',
      '.simple-git-hooks.json',
      'jest-*.json',
      '.oxlintrc.json',
      'biome.json{,c}',
      '.taprc',
      '.lighthouserc{,.json}',
      '.jshintrc',
      '.jscsrc',
      'electron-builder.{json,yml,yaml,toml}',
      'tap.yml',
      'renovate.json5',
      '.foreverignore',
      'openapitools.json',
      'wails.json',
      'book.json',
      '{ios,android}/sentry.properties',
      'cypress.json',
      'testem.json',
      'nightwatch.json',
      'artillery*.y{,a}ml',
      '{.,}cspell{,.config}.{json,jsonc,yaml,yml}',
      'relay.config.json',
      'ormconfig.{json,yml,yaml}',
      '{process,pm2,ecosystem}.{json,yml,yaml}',
      '{.,}jsdoc{,.conf,.config}.json',
      'bruno.json',
      'ionic.config.json',
      'asv.conf.json',
      '.dependency-cruiser.json',
    ],
    judges: [
      {
        kind: 'keys',
        format: 'auto',
        danger: LOADS,
        value: /^\.{1,2}\/\S*\.[cm]?[jt]s$|^(npx|node|sh|bash)\s/,
        safe: /^\$schema=/,
      },
      {
        kind: 'custom',
        see: ({ path, after = '' }) =>
          /prettierrc$/.test(path) && /^\s*["']?[@\w./-]+["']?\s*$/.test(after) ? ['names a module'] : [],
      },
    ],
    why: 'It names plugins, presets, commands or paths that the tool loads.',
    source: 'documentation of the tools',
  },
  {
    id: 'js-commands',
    family: 'javascript',
    trigger: 'the next commit, where a hook of git starts lint-staged',
    severity: 'suspect',
    paths: ['.lintstagedrc{,.json,.yaml,.yml}'],
    judges: [{ kind: 'keys', format: 'auto', danger: /^/ }],
    why: 'Every value in it is a command.',
    source: 'lint-staged documentation',
  },
  {
    id: 'js-tsconfig',
    family: 'javascript',
    trigger: 'building, or opening a TypeScript file in an editor',
    severity: 'suspect',
    paths: ['tsconfig*.json', 'jsconfig*.json', '*.tsconfig.json'],
    judges: [
      {
        kind: 'keys',
        format: 'jsonc',
        danger:
          /(plugins|extends|typeRoots|baseUrl|jsxImportSource|ts-node|paths|references\[\]\.path|tsc-alias)(\.|\[|$)/i,
        safe: /^compilerOptions\.baseUrl=\.?\/?(src|app|lib)?\/?$|^compilerOptions\.paths\.(@|~|#)[^=]*=\.?\/?(src|app|lib|packages|test|tests)\b[^=]*$/i,
      },
      {
        kind: 'keys',
        format: 'jsonc',
        value: /^(\.\.\/.*|\/.*)$/,
        safe: /^(references|include|files|exclude|extends)/,
      },
    ],
    why: 'It loads plugins and other configuration, or writes outside the project.',
    source: 'TypeScript documentation',
  },
  {
    id: 'js-project-hooks',
    family: 'javascript',
    trigger: 'building the application, sending a request, listing browsers',
    severity: 'suspect',
    paths: ['config.xml', 'plugin.xml', '*.bru', '.browserslistrc'],
    judges: [
      {
        kind: 'lines',
        danger: /<hook\b|<(source-file|framework|js-module)\b|^script:|^tests\s*\{|\brequire\(|^extends\s/i,
      },
    ],
    why: 'It names a script or a package that the tool loads.',
    source: 'Cordova, Bruno and Browserslist documentation',
  },
  {
    id: 'js-snapshot',
    family: 'javascript',
    trigger: 'running the tests',
    severity: 'suspect',
    paths: ['__snapshots__/*.snap', '*.snap'],
    judges: [
      {
        kind: 'lines',
        danger:
          /(^|[^\\])\$\{|^(?!exports\[`)[^`]{0,200}\b(require|process|import|eval|Function|getBuiltinModule)\b\s*[(.]/,
      },
    ],
    why: 'Jest and Vitest evaluate snapshot files as JavaScript.',
    source: 'jest-snapshot',
  },
];
