import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';
import { BUILD_TABLES } from './plain/builds.ts';
import { LINTER_TABLES } from './plain/linters.ts';
import { RELEASE_TABLES } from './plain/releases.ts';
import { TEST_TABLES } from './plain/tests.ts';

const KEYS_THAT_LOAD = oneOf`
  plugins? presets? extends require requires import imports loader loaders parser processors? customSyntax
  transform\w* reporters? runner resolver preprocessor setup\w* globalSetup globalTeardown testEnvironment
  moduleNameMapper exec\w* execMap script\w* command\w* cmd \w*hooks? download\w* docker\w* frontend:\w+
  predeploy postdeploy build\w* builder node-?option\w* file ui config module\w* path\w* formatters? helpers?
  generators? provider jsc\.experimental app run prepare before\w* after\w* watch\w* events? tasks?
  (plugins|support|globals)_?(file|path) subscribers entities migrations \w*_?command processor exe launchers
  interpreter
`;

const TABLES = [...LINTER_TABLES, ...TEST_TABLES, ...BUILD_TABLES, ...RELEASE_TABLES];

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

export const javascriptRules: readonly Rule[] = [
  {
    id: 'js-code-config',
    family: 'javascript',
    when: 'lint, format, test, build or dev server, often by the editor on save',
    severity: 'suspect',
    files: [
      ...CODE_CONFIG.map((name) => `${name}.{js,cjs,mjs,ts,cts,mts,jsx,tsx,coffee,babel.js}`),
      '*.config.{js,cjs,mjs,ts,cts,mts}',
      // Hardly a program is hidden that no tool loads by its name.
      '.*.{js,cjs,mjs,ts,cts,mts}',
      '.sequelizerc',
      'project.inlang/settings.json',
      '/{,packages/*/,apps/*/}knip.{js,cjs,mjs,ts,cts,mts}',
      'hvigorfile.{js,ts}',
      '.config/**',
      'gatsby-*.{js,ts}',
      'package-scripts.{js,cjs,ts}',
      'ember-cli-build.js',
      '.storybook/**',
      '.vitepress/config.*',
      '.vuepress/config.*',
      '.eleventy.*',
      'Jakefile*',
      'Cakefile',
      '.hygen/**',
      '_templates/**',
      '.lighthouserc.*',
      '.size-limit.*',
      '/{,src/,apps/*/,apps/*/src/}middleware.{js,ts}',
      '/{,packages/*/,apps/*/}{codegen,esbuild}.{js,cjs,mjs,ts}',
      'instrumentation{,-client}.{js,ts}',
      'hooks.server.{js,ts}',
      'server/plugins/*',
      'entry.server.{js,ts,jsx,tsx}',
      '*.workspace.{js,ts}',
      'wallaby.{js,conf.js}',
      'karma.conf.cjs',
      '{vite,vitest,webpack,rollup,rolldown,rspack,esbuild,tsup,jest,playwright}.*.{js,cjs,mjs,ts,cts,mts}',
      '*.{run,projects}.{js,cjs,mjs,ts,cts,mts}',
      '/_config.{js,cjs,mjs,ts,cts,mts}',
      'vercel.{js,mjs,cjs,ts,mts}',
      'turbo/generators/**',
      '!src/app/*.config{,.server}.ts',
      '!src/config.ts',
      '!.config/mise/**',
      '!.config/fish/**',
      '!.config/git/**',
      '!.config/dotnet-tools.json',
      '!{vite,vitest,webpack,rollup,rolldown,rspack,esbuild,tsup,jest,playwright}.{d,test,spec}.{js,cjs,mjs,ts,cts,mts}',
    ],
    look: [
      { kind: 'code' },
      { kind: 'lines', files: ['.sequelizerc'], danger: /./ },
      { kind: 'keys', format: 'auto', danger: LOADS, value: /^\.{1,2}\/|^[a-z]+:\/\// },
      { kind: 'settings', format: 'auto', files: ['.config/**/*.{json,jsonc,json5,y{,a}ml,toml,ini}'], harmless: {} },
    ],
    why: 'The file is a program, or names one, that the tool loads.',
    source: 'documentation of the tools; cosmiconfig',
  },
  {
    id: 'js-data-config',
    family: 'javascript',
    when: 'lint, format, test, build, release or deploy',
    severity: 'suspect',
    files: [
      'mocha.opts',
      ...TABLES.flatMap(({ files }) => files),
      '!.eslintrc.{js,cjs,mjs,ts,cts,mts}',
      '!.*rc.{js,cjs,mjs,ts,cts,mts}',
    ],
    look: [
      ...TABLES.map((table) => ({ kind: 'settings', format: 'auto', ...table }) as const),
      {
        kind: 'custom',
        see: ({ path, added }) => (/(^|\/)mocha\.opts$/.test(path) ? added().map(({ text }) => text) : []),
      },
    ],
    why: 'It names plugins, presets, commands or paths that the tool loads.',
    source: 'documentation of the tools',
  },
  {
    id: 'js-commands',
    family: 'javascript',
    when: 'the next commit, where a hook of git starts lint-staged',
    severity: 'suspect',
    files: ['.lintstagedrc{,.json,.yaml,.yml}'],
    look: [{ kind: 'keys', format: 'auto', danger: /^/ }],
    why: 'Every value in it is a command.',
    source: 'lint-staged documentation',
  },
  {
    id: 'js-tsconfig',
    family: 'javascript',
    when: 'building, or opening a TypeScript file in an editor',
    severity: 'suspect',
    files: ['tsconfig*.json', 'jsconfig*.json', '*.tsconfig.json'],
    look: [
      {
        kind: 'settings',
        format: 'jsonc',
        harmless: {
          any: words`$schema display _version docs`,
          switch: words`compilerOptions.* angularCompilerOptions.* compileOnSave vueCompilerOptions.*`,
          word: words`
            compilerOptions.{target,module,moduleResolution,lib,jsx,newLine,moduleDetection,importsNotUsedAsValues,customConditions}
            compilerOptions.{jsxFactory,jsxFragmentFactory,charset,reactNamespace,ignoreDeprecations,moduleSuffixes}
          `,
          glob: words`
            files include exclude compilerOptions.{outDir,rootDir,rootDirs,declarationDir,tsBuildInfoFile,types,outFile}
            compilerOptions.{sourceRoot,mapRoot}
          `,
          matching: anyOf(
            /^compilerOptions\.baseUrl=\.?\/?(src|app|lib)?\/?$/i,
            /^compilerOptions\.paths\.(@|~|#)[^=]*=\.?\/?(src|app|lib|packages|test|tests)\b(?!.*\.\.)[^=]*$/i,
            // What is compiled and checked may be above the folder.
            /^(include|files|exclude|references\[\]\.path|compilerOptions\.(types|rootDirs?))(\[\])?=(?!\/)[\w@.*/ -]+$/i,
          ),
        },
      },
    ],
    why: 'It loads plugins and other configuration, or writes outside the project.',
    source: 'TypeScript documentation',
  },
  {
    id: 'js-project-hooks',
    family: 'javascript',
    when: 'building the application, sending a request, listing browsers',
    severity: 'suspect',
    files: ['config.xml', 'plugin.xml', '*.bru', '.browserslistrc'],
    look: [
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
    when: 'running the tests',
    severity: 'suspect',
    files: ['__snapshots__/*.snap', '*.snap'],
    look: [
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
