import { oneOf, pattern, words } from '../../../formats/words.ts';
import type { HarmlessTable } from '../../../judges/harmless-keys.ts';

/** Options of a rule by which a linter loads a module or reads other settings. */
const RULE_LOADS = words`
  ***rules.***.{plugin*,parser*,extends,config*,customSyntax,processor*,resolver*,module*,file,path,require*,transform*,presets}
  ***rules.***.{plugin*,parser*,extends,config*,customSyntax,processor*,resolver*,module*,require*,transform*,presets}.**
`;
const BUILTIN_OXLINT = oneOf`
  eslint typescript unicorn react oxc import jsdoc jest vitest jsx-a11y nextjs react-perf promise node vue
`;
const PRETTIER_PARSERS = oneOf`
  babel babel-flow babel-ts flow typescript espree meriyah acorn css less scss json json5 jsonc json-stringify graphql
  markdown mdx vue yaml html angular lwc glimmer
`;

/** Linters, formatters and spell checkers. */
export const LINTER_TABLES: readonly HarmlessTable[] = [
  {
    files: ['.eslintrc*'],
    harmless: {
      switch: words`
        {,overrides.}{env,globals}.* {,overrides.}rules.*** root noInlineConfig reportUnusedDisableDirectives
        {,overrides.}parserOptions.{ecmaVersion,sourceType,requireConfigFile,ecmaFeatures.*}
      `,
      word: words`
        {,overrides.}globals.* {,overrides.}parserOptions.sourceType settings.react.{version,pragma} {,overrides.}rules.***
      `,
      words: words`{,overrides.}rules.***`,
      text: words`{,overrides.}rules.***`,
      glob: words`ignorePatterns overrides.{files,excludedFiles} {,overrides.}parserOptions.project`,
      never: RULE_LOADS,
    },
  },
  {
    files: ['.prettierrc', '.prettierrc.{json,yml,yaml,toml,json5}', '.prettierrc.*.{json,yml,yaml}'],
    harmless: {
      any: words`$schema`,
      switch: words`
        {,overrides.options.}{printWidth,tabWidth,useTabs,semi,singleQuote,jsxSingleQuote,bracketSpacing,bracketSameLine}
        {,overrides.options.}{jsxBracketSameLine,requirePragma,insertPragma,vueIndentScriptAndStyle,trailingComma}
        {,overrides.options.}{singleAttributePerLine,experimentalTernaries,rangeStart,rangeEnd,checkIgnorePragma}
        {,overrides.options.}{embeddedLanguageFormatting,endOfLine,proseWrap}
      `,
      word: words`
        {,overrides.options.}{quoteProps,trailingComma,arrowParens,proseWrap,htmlWhitespaceSensitivity,endOfLine}
        {,overrides.options.}{objectWrap,experimentalOperatorPosition}
      `,
      glob: words`overrides.{files,excludeFiles}`,
      matching: pattern()`^(overrides\[\]\.options\.)?parser=(${PRETTIER_PARSERS})$`,
    },
    // A parser of another name is a file of the project.
  },
  {
    files: ['.stylelintrc', '.stylelintrc.{json,yml,yaml}', '.stylelintrc.*.{json,yml,yaml}'],
    harmless: {
      switch: words`{,overrides.}rules.*** allowEmptyInput cache fix quiet reportNeedlessDisables`,
      word: words`{,overrides.}rules.*** defaultSeverity`,
      words: words`{,overrides.}rules.***`,
      text: words`{,overrides.}rules.***`,
      glob: words`ignoreFiles overrides.files`,
      never: RULE_LOADS,
    },
  },
  {
    files: ['.markdownlint-cli2.*'],
    harmless: {
      any: words`$schema frontMatter`,
      switch: words`config.*** fix gitignore noBanner noInlineConfig noProgress showFound`,
      word: words`config.***`,
      text: words`config.***`,
      glob: words`globs ignores`,
      never: words`config.extends`,
    },
  },
  {
    files: ['.remarkrc', '.remarkrc.{json,yml}', '.textlintrc', '.textlintrc.{json,yml}'],
    // A rule of textlint is a package of that name.
    harmless: { switch: words`settings.*`, word: words`settings.*` },
  },
  { files: ['.ls-lint.yml'], harmless: { any: words`ls.***`, glob: words`ignore` } },
  {
    files: ['.oxlintrc.json', '.oxlintrc*.json', 'oxlint*.json'],
    harmless: {
      any: words`$schema`,
      switch: words`{,overrides.}{rules.***,env.*,globals.*,categories.*} options.*`,
      word: words`{,overrides.}{rules.***,globals.*,categories.*}`,
      text: words`{,overrides.}rules.***`,
      glob: words`ignorePatterns overrides.{files,excludeFiles}`,
      never: RULE_LOADS,
      matching: pattern()`^(overrides\[\]\.)?plugins\[\]=(${BUILTIN_OXLINT})$`,
    },
  },
  {
    files: ['{.,}biome.json{,c}', '{.,}biome.*.json{,c}', 'rome.json'],
    harmless: {
      any: words`$schema`,
      switch: words`
        root {,overrides.}{linter,formatter,assist,organizeImports,javascript,json,css,html,graphql,grit}.*** vcs.* files.*
      `,
      word: words`
        {,overrides.}{linter,formatter,assist,javascript,json,css,html,graphql,grit}.*** vcs.{clientKind,defaultBranch}
      `,
      text: words`{,overrides.}linter.rules.***`,
      glob: words`
        files.{include*,ignore*,experimentalScannerIgnores} overrides.include* {,overrides.}{linter,formatter,assist}.{include*,ignore*}
        overrides.ignore
      `,
      never: words`***plugins.*** ***plugins ***extends`,
    },
  },
  {
    files: ['.jshintrc', '.jscsrc'],
    harmless: { switch: words`**`, word: words`esversion quotmark predef globals.*`, glob: words`excludeFiles` },
  },
  {
    files: ['{.,}cspell{,.config,-*}.{json,jsonc,yaml,yml}'],
    harmless: {
      any: words`
        $schema {,overrides.,languageSettings.}{words,ignoreWords,flagWords,ignoreRegExpList,includeRegExpList,suggestWords}
        {,overrides.,languageSettings.}patterns.{name,pattern,description}
        {name,description,id,usePnP}
      `,
      switch: words`
        {,overrides.,languageSettings.}{enabled,caseSensitive,allowCompoundWords} useGitignore minWordLength maxNumberOfProblems
        maxDuplicateProblems numSuggestions version suggestionsTimeout enableGlobDot languageSettings.*
        dictionaryDefinitions.addWords validateDirectives noConfigSearch readonly
      `,
      words: words`
        {,overrides.,languageSettings.}{language,locale,dictionaries,noSuggestDictionaries,languageId} version enabledLanguageIds
        enableFiletypes enabledFileTypes.* dictionaryDefinitions.{name,type} allowedURLs
      `,
      glob: words`ignorePaths files {overrides.,languageSettings.}{filename,ignorePaths}`,
      matching: /^dictionaryDefinitions\[\]\.path=(?!.*\.\.)[\w./ -]+\.(txt|dic|trie)(\.gz)?$/,
    },
  },
  {
    files: ['.dependency-cruiser.json'],
    harmless: {
      any: words`{forbidden,allowed,required}.*** options.{doNotFollow,exclude,includeOnly,focus,reporterOptions}.*** allowedSeverity`,
      switch: words`options.*`,
    },
  },
];
