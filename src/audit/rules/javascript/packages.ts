import { newLeaves, readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import { onlyLines } from '../../judges/harmless-change.ts';
import { newLinesWith } from '../../judges/judge.ts';
import { ANY_CHANGE, type JudgedText, type Rule } from '../../judges/rule.ts';
import { judgeNpmLock, judgeYarnLock } from '../../locks/lockfiles.ts';
import { otherPackageManager } from '../plain-releases.ts';
import { WORKSPACE_TABLES } from './plain/workspaces.ts';

const MANAGER_GUARDS = oneOf`
  enableScripts enableImmutable\w* enableHardenedMode checksumBehavior npmMinimalAgeGate minimumReleaseAge
  onlyBuiltDependencies neverBuiltDependencies ignoredBuiltDependencies trustPolicy strictDepBuilds
  blockExoticSubdeps verify\w+ ignore-scripts lock install\.(frozen|security|minimum)\w*
`;
const PACKAGE_DATA = oneOf`
  \$schema name version description keywords authors? contributors maintainers licen[cs]es? homepage private
  readme(Filename)? type types typings typesVersions sideEffects cpu os libc engineStrict preferGlobal jest
  (dev|peer|optional)?dependencies peerDependenciesMeta unpkg jsdelivr jsnext:main browserslist packageManager
`;
const LINTERS = oneOf`
  xo eslintConfig stylelint prettier ava nyc c8 standard
`;
/** Settings of package managers that protect: removing one allows more. */
const GUARDS = pattern('i')`^(${MANAGER_GUARDS})\b`;

export const packageRules: readonly Rule[] = [
  {
    id: 'js-package-json',
    family: 'javascript',
    when: 'npm, pnpm, yarn or bun: install, test, start, publish, commit hooks',
    severity: 'suspect',
    files: ['package.json', 'package.json5', 'package.yaml'],
    look: [
      {
        kind: 'keys',
        format: 'auto',
        // Any key that is not known to be data: tools take their settings from a key of their own name.
        danger: pattern('i')`^(?!(${PACKAGE_DATA})(\.|\[|$))`,
        harmless: anyOf(
          /^(repository|bugs|funding)(\.type|\.directory)=/i,
          /^(repository|bugs|funding)(\[\])?(\.url)?=(git\+)?https:\/\/(github|gitlab|opencollective)\.com\//i,
          /^engines\./i,
          /^devEngines\.\w+(\[\])?\.(name=(npm|pnpm|yarn|bun|node|deno)|version=[\w.^~<>=|& *-]*|onFail=(warn|error|ignore))$/i,
          /^(main|module|exports|browser|imports)[^=]*=\.?\/?[\w./*-]+$/i,
          /^volta\.(node|npm|yarn|pnpm)=[\d.]+$|^files\[\]=(?!(\.\/?)?\*{0,2}$)(?!.*(\.\.|\.env|\.npmrc|\.git\b|secret|\.pem|\.key))/i,
          /^size-limit\[\]\.(path|limit|name|gzip|brotli|running)=/i,
          pattern('i')`^(${LINTERS})\.[^=]*=(true|false|off|warn|error|[\d.]+[a-z]{0,2})$`,
          /^msw\.workerDirectory/i,
        ),
      },
      { kind: 'custom', see: browserslistExtends },
      { kind: 'custom', see: movedEntryPoints },
      { kind: 'custom', see: otherPackageManager },
      // npm, and tools that print or tag a version, hand it to a shell.
      { kind: 'keys', format: 'auto', danger: /^version$/, harmless: /^version=[\w.+-]*$/ },
      {
        kind: 'keys',
        format: 'auto',
        danger:
          /^jest\.(?!testTimeout|verbose|coverage(?!Reporters)|collectCoverage|maxWorkers|bail|clearMocks|resetMocks|restoreMocks|roots|testMatch|displayName)/i,
      },
      {
        kind: 'keys',
        format: 'auto',
        danger: /^(dev|peer|optional)?dependencies\./i,
        harmless: /^[^=]*=(?!.*(:|\/))[\w.^~<>=|&* +-]*$|^[^=]*=(workspace|catalog):[\w.^~*-]*$/i,
      },
    ],
    why: 'The changed fields run commands, or change where installed code comes from.',
    source: 'npm scripts(7), package-json(5)',
  },
  {
    id: 'js-package-new',
    family: 'javascript',
    when: 'npm install at the root of a workspace',
    severity: 'suspect',
    files: ['binding.gyp', '*.gyp', '*.gypi', 'npm-shrinkwrap.json'],
    look: [{ kind: 'new' }, { kind: 'lines', danger: /<!|<\||action|rule|\bscript|python/i }],
    why: 'Its presence alone makes npm build or install something else.',
    source: 'npm scripts(7); npm-shrinkwrap-json(5)',
  },
  {
    id: 'js-npmrc',
    family: 'javascript',
    when: 'any npm, pnpm or yarn command in this folder',
    severity: 'suspect',
    files: ['.npmrc', '.pnpmrc', '.yarnrc', '.pnpmfile.*', 'pnpmfile.js', '.noderc', 'node.config.json', '.bowerrc'],
    look: [
      ANY_CHANGE,
      {
        kind: 'keys',
        format: 'auto',
        danger: anyOf(
          /script-?shell|node-?options|registr|^\/\/|git$|shell|editor|viewer|node-?gyp|nodedir|python|prefix/i,
          /ca(file)?$|strict-?ssl|proxy|ignore-scripts|init-module|userconfig|globalconfig|cache|allow/i,
          /replace-registry-host|minimum|release-age|yarnPath|yarn-path|plugins|npm\w+|enable\w+|checksum|unsafe/i,
          /http|packageExtensions|inject|pnpIgnore|pnpmfile|Dependencies|overrides|packages|preload|security|loader/i,
          /tasks|tasksRunner|hooks?\b|scripts?\b|commands?\b/i,
        ),
        harmless: /^(save-exact|engine-strict|fund|ignore-scripts)=true$|^fund=false$|^enableTelemetry=/,
      },
    ],
    harmless: [
      'comments',
      // The token goes to npm's own registry, from the variable that is there for it.
      {
        files: ['.npmrc'],
        proves: onlyLines(/^\/\/registry\.npmjs\.org\/:_authToken=\$\{(NPM_TOKEN|NODE_AUTH_TOKEN)\}$/),
      },
    ],
    why: 'Package managers take their shell, registry, plugins and scripts from it.',
    source: 'npm config(7); yarn, pnpm and bun documentation',
  },
  {
    id: 'js-workspace-settings',
    family: 'javascript',
    when: 'any yarn, pnpm, bun or monorepo command in this folder',
    severity: 'suspect',
    files: WORKSPACE_TABLES.flatMap(({ files }) => files),
    look: WORKSPACE_TABLES.map((table) => ({ kind: 'settings', format: 'auto', removed: GUARDS, ...table }) as const),
    why: 'Package managers take their shell, registry, plugins and scripts from it.',
    source: 'npm config(7); yarn, pnpm and bun documentation',
  },
  {
    id: 'js-package-lock',
    family: 'javascript',
    when: 'npm ci, npm install',
    severity: 'suspect',
    files: ['package-lock.json', 'npm-shrinkwrap.json', '.package-lock.json'],
    look: [{ kind: 'custom', see: judgeNpmLock }],
    why: 'A package comes from a new host, or its integrity was removed or changed.',
    source: 'lockfile-lint; lockfile injection (Snyk 2019)',
  },
  {
    id: 'js-other-locks',
    family: 'javascript',
    when: 'yarn, pnpm, bun or deno install',
    severity: 'suspect',
    files: [
      'yarn.lock',
      'pnpm-lock.yaml',
      'bun.lock',
      'deno.lock',
      'shrinkwrap.yaml',
      'import_map.json',
      'importmap.json',
      '*.importmap',
    ],
    look: [
      { kind: 'custom', see: judgeYarnLock },
      { kind: 'custom', see: mappedToFiles },
      // In pnpm's, a dependency of the project that is another package, and patches of installed ones.
      { kind: 'lines', danger: /^version:\s*['"]?@?[a-z][\w.-]*(\/[\w.-]+)?@\d|^path:\s*\S+\.(patch|diff)/ },
    ],
    why: 'A package comes from a new host, or its integrity was removed.',
    source: 'yarn, pnpm and deno documentation',
  },
  {
    id: 'js-binary-lock',
    family: 'javascript',
    when: 'bun install',
    severity: 'suspect',
    files: ['bun.lockb'],
    look: [ANY_CHANGE],
    why: 'A binary lock file cannot be judged.',
    source: 'bun documentation',
  },
  {
    id: 'js-package-manager-code',
    family: 'javascript',
    when: 'any yarn command; installing with patches',
    severity: 'suspect',
    files: ['.yarn/**', '.pnp.*', 'patches/*.patch', 'patches/*.diff', '.pnpm-patches/**', 'wrapper/yarn*'],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'The package manager runs this code or patches it into a dependency.',
    source: 'yarn and patch-package documentation',
  },
  {
    id: 'js-deno',
    family: 'javascript',
    when: 'deno task, deno run',
    severity: 'suspect',
    files: ['deno.json{,c}', 'jsr.json'],
    look: [
      {
        kind: 'settings',
        format: 'jsonc',
        harmless: {
          any: words`$schema description license`,
          switch: words`
            compilerOptions.{strict*,no*,allow*,check*,isolatedDeclarations,useUnknownInCatchVariables,verbatimModuleSyntax}
            fmt.* lint.report lint fmt test bench publish compilerOptions
          `,
          word: words`version {compilerOptions.lib,compilerOptions.jsx,compilerOptions.target} fmt.* lint.rules.{tags,include,exclude}`,
          glob: words`name {,fmt.,lint.,test.,bench.,publish.,compile.}{exclude,include}`,
          matching: /^exports(\.\.[\w./-]*)?=\.\/[\w./-]+$/,
        },
        // Entry points of the package itself; another package that takes it gets other code with them.
        removed: GUARDS,
      },
    ],
    why: 'Its tasks run commands and its imports fetch code.',
    source: 'deno documentation',
  },
];

/** Modules that an import map resolves to a file of the project. */
function mappedToFiles(text: JudgedText): string[] {
  return /import_?map/i.test(text.path) ? newLinesWith(text, /"[^"]+"\s*:\s*"\.{0,2}\//) : [];
}

/** An entry that extends another list of browsers is loaded with require. */
function browserslistExtends(text: JudgedText): string[] {
  return newLinesWith(text, /"extends\s[^"]+"/);
}

/** Output of a build, which is not in the tree that the session can change. */
const BUILT = /^(\.\/)?(dist|build|out|output|esm|cjs|umd|es|bundles?|types|typings)\//;

/**
 * Entry points of a package that another file of the project may already import, and that now mean another file; and the
 * module system of its programs. A new entry point is imported by nobody yet.
 */
function movedEntryPoints({ path, before, after }: JudgedText): string[] {
  if (before === undefined || after === undefined) return [];
  const [old, now] = [before, after].map((text) => readStructure(text, 'auto', path)?.leaves ?? []);
  const had = new Set((old ?? []).map(({ key }) => key));
  return newLeaves(old ?? [], now ?? [])
    .filter(({ key }) => /^(main|module|browser|type|exports|imports)(\.|$)/.test(key))
    .filter(({ key, value }) => !BUILT.test(value) && (had.has(key) || !/^exports\./.test(key)))
    .filter(({ key }) => !/\.types$/.test(key))
    .map(({ key, value }) => `${key}: ${value.slice(0, 120)}`);
}
